from __future__ import annotations

import re
from datetime import date, timedelta

import pytest

from groupreplay.page.drawing.charts import LEAST_COLUMNS, bar, cost_columns
from groupreplay.page.model.fleet import CostDay

FIRST = date(2026, 11, 1)


@pytest.mark.parametrize("nights", [1, 2, LEAST_COLUMNS, 30])
def test_the_label_of_the_last_day_ends_where_the_chart_does(nights: int) -> None:
    """What stands right of the chart would be drawn over one that goes on."""
    days = [
        CostDay(
            day=str(FIRST + timedelta(each)),
            partitions_ms=86_400_000,
            low_ms=1_000,
            moved=1,
            returned=0,
        )
        for each in range(nights)
    ]
    drawn = str(cost_columns(days))
    labels = re.findall(r'<text x="([\d.]+)%" y="\d+" text-anchor="(\w+)" class="tick[^>]*>', drawn)
    assert labels[0] == ("100", "end")
    assert all(float(x) < 100 for x, _ in labels[1:])


@pytest.mark.parametrize(("value", "width"), [(0, []), (1, ["0.5"]), (500, ["50"])])
def test_what_is_nothing_has_no_bar(value: int, width: list[str]) -> None:
    """What is little has one that can be seen."""
    drawn = str(bar(value, 1_000, "x"))
    assert re.findall(r'width="([\d.]+)%" y=', drawn) == width
