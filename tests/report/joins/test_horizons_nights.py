"""Waves and absences of recorded groups over three nights, cut at every operation: a row that one
night leaves open a later one ends, once, and what a night wrote for good no later one writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from groupreplay.config.model import WavesConfig
from groupreplay.records.entries import Entry
from groupreplay.records.offsets import OffsetCommit
from groupreplay.replay.decision_facts import Absence, Churn
from groupreplay.replay.facts import Fact
from groupreplay.replay.group_replay import GroupReplay
from groupreplay.report.context import ReportContext
from groupreplay.report.joins.horizons import SETTLE_MS
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.tables.departure_waves import departure_waves
from groupreplay.report.tables.static_accounting import static_accounting
from tests.report.conftest import NIGHT, Stage
from tests.support.group_days import stretched
from tests.support.recordings import group
from tests.support.replaying import boundaries, carried
from tests.support.table_inputs import inputs_of

STORIES: Final = (
    ("consumer-4.3", "static-bounce"),
    ("consumer-4.3", "fence-loop"),
    ("classic-3.9", "classic-static"),
    ("migration-4.3", "static-upgrade"),
    ("consumer-4.3", "deleted"),
)

TIMES: Final = 400
"""So slow that chains end and rows settle between two nights: 9 s of a story are an hour then."""

GAP_MS: Final = 11_000 * TIMES
NIGHTS: Final = (NIGHT, NIGHT + timedelta(days=1), NIGHT + timedelta(days=2))

Table = Callable[[TableInputs], DataFrame]
Key = tuple[str, ...]
"""Cut, and what else is the key of a row."""


class Cut(NamedTuple):
    """One story in a group and a partition of its own.

    facts: of each night. read_ms: how far the first two nights read the partition; the third reads
        nothing.
    """

    name: str
    partition: int
    facts: list[list[Fact]]
    read_ms: tuple[int, int]


def cuts_of(recording: str, group_id: str, partition: int) -> Iterator[Cut]:
    """The story whole, and cut on both sides of every operation. The first night reads up to the
    record before the cut, or, by records of other groups, to the time of the one behind it.
    """
    recorded = group(recording, group_id)
    entries = stretched(recorded.entries, TIMES)
    last_ms = entries[-1].ts_ms + 2 * SETTLE_MS
    places = [(len(entries), last_ms)]
    for cut in boundaries(entries):
        around = entries[cut - 1 : cut + 1]
        if not all(isinstance(each.record, OffsetCommit) for each in around):
            places += [(cut, each.ts_ms) for each in around]
    for number, (cut, read_ms) in enumerate(places, partition):
        name = f"{recording} {group_id} {number}"
        parts = (entries[:cut], entries[cut:], ())
        facts = [*replayed_by_night(parts, name, number, recorded.names)]
        yield Cut(name, number, facts, (read_ms, last_ms))


def replayed_by_night(
    parts: Iterable[Sequence[Entry]], name: str, partition: int, names: dict[str, str]
) -> Iterator[list[Fact]]:
    machine = GroupReplay(name, partition, names)
    for part in parts:
        for entry in part:
            machine.replay(entry)
        machine.flush()
        facts = [*machine.take_facts(), *machine.open_facts()]
        yield [each for each in facts if isinstance(each, (Churn, Absence))]
        machine = carried(machine, name, partition, names)


@pytest.fixture(scope="module")
def cuts() -> list[Cut]:
    """Of each story the whole one first."""
    found: list[Cut] = []
    for story in STORIES:
        found += cuts_of(*story, len(found))
    return found


@pytest.fixture
def nights(
    spark: SparkSession, stage: Stage, context: ReportContext, cuts: list[Cut]
) -> list[TableInputs]:
    """What each night gives to its tables."""
    read = [
        (f"__consumer_offsets-{cut.partition}", datetime.fromtimestamp(at / 1000, UTC), night)
        for cut in cuts
        for night, at in zip(NIGHTS, cut.read_ms, strict=False)
    ]
    coverage = spark.createDataFrame(read, "input STRING, last_at TIMESTAMP, logical_date DATE")
    own = replace(context, waves=WavesConfig(gap_ms=GAP_MS))
    return [
        inputs_of(
            stage(*(fact for cut in cuts for fact in cut.facts[number])),
            replace(own, logical_date=night),
            tables={"coverage": coverage.where(coverage.logical_date <= night)},
        )
        for number, night in enumerate(NIGHTS)
    ]


def key_of(row: Row) -> Key:
    names = ("group_id", "incarnation", "identity", "from_offset")
    return tuple(str(row[name]) for name in names if name in row)


def story_of(name: str) -> str:
    return name.rpartition(" ")[0]


NOT_TOLD: Final = {"group_id", "offsets_partition", "logical_date", "is_final"}


def told(row: Row) -> str:
    """What a row says, whichever night says it of whichever cut."""
    return repr({n: v for n, v in row.asDict(recursive=True).items() if n not in NOT_TOLD})


def left(rows: list[list[Row]]) -> list[Row]:
    """What the table has after all nights: each replaces what is not final."""
    kept: list[Row] = []
    for night in rows:
        kept = [row for row in kept if row.is_final] + night
    return kept


@pytest.mark.long
@pytest.mark.parametrize("table", [departure_waves, static_accounting])
def test_open_rows_end_once_wherever_the_log_is_cut(
    table: Table, nights: list[TableInputs], cuts: list[Cut]
) -> None:
    rows = [table(inputs).collect() for inputs in nights]
    by_cut: dict[str, list[str]] = {cut.name: [] for cut in cuts}
    for row in left(rows):
        by_cut[row.group_id].append(told(row))
    whole = {story_of(cut.name): sorted(by_cut[cut.name]) for cut in reversed(cuts)}
    assert any(whole.values())
    for name, found in by_cut.items():
        assert sorted(found) == whole[story_of(name)], name
    first, second, third = ({key_of(row): row for row in night} for night in rows)
    assert [len(night) for night in (first, second, third)] == [*map(len, rows)], "no key is twice"
    open_rows = {key for key, row in first.items() if not row.is_final}
    ended = first.keys() - open_rows
    assert open_rows <= second.keys(), "none is lost"
    assert not ended & second.keys(), "none is written again"
    assert {key for key, row in second.items() if not row.is_final} == third.keys()
    assert len(open_rows) > 100, "nights leave rows open"
    assert len(ended) > 100, "and end others"
