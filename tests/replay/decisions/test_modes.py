"""How a group rebalances. Source: docs/decisions.md, departure_waves."""

from __future__ import annotations

import pytest

from groupreplay.replay.decisions.modes import rebalance_mode
from groupreplay.replay.life import CLASSIC, CONSUMER, Life


@pytest.mark.parametrize(
    ("protocol", "name", "cooperative", "classic_members", "mode"),
    [
        (CONSUMER, None, None, 0, "CONSUMER"),
        (CONSUMER, None, None, 1, "MIXED"),
        (CLASSIC, "range", None, 2, "EAGER"),
        (CLASSIC, "cooperative-sticky", None, 2, "COOPERATIVE"),
        (CLASSIC, "cooperative-sticky", False, 2, "EAGER"),
        (CLASSIC, "range", True, 2, "COOPERATIVE"),
        (CLASSIC, "stream", True, 2, "STREAMS"),
    ],
)
def test_what_members_list_as_owned_goes_before_the_assignors_name(
    protocol: str, name: str | None, cooperative: bool | None, classic_members: int, mode: str
) -> None:
    life = Life("g", 0, 0, protocol, protocol_name=name, cooperative=cooperative)
    life.classic_members = classic_members
    assert rebalance_mode(life) == mode
