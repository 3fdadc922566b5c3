"""Which rules rows of absences follow, by what brokers printed of their config."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simulator.expected import absences
from tests.simulator.written import BORN, history_of, line

CLIFF = {
    "membership": "STATIC",
    "member_protocol": "classic",
    "outcome": "ABSORBED",
    "left_shown_by": "COMMIT",
    "gap_high_ms": 91_000,
    "gap_low_ms": 88_000,
    "is_cliff": False,
    **dict.fromkeys(("gap_ms", "blind_ms", "blind_extra_ms", "absorbed_own")),
    **dict.fromkeys(("absorbed_45s", "absorbed_60s", "left_at", "returned_at")),
    "offsets_partition": 3,
}
"""Of a member that was gone for longer than a minute."""


@pytest.mark.parametrize(
    ("printed", "is_cliff"),
    [(None, True), ("120000", False), ("60000", True)],
    ids=["nothing", "longer than the absence", "shorter"],
)
def test_a_cliff_is_longer_than_the_longest_session_that_brokers_print(
    printed: str | None, is_cliff: bool, tmp_path: Path
) -> None:
    history = history_of(tmp_path, line(10, "join", s={"g": BORN}))
    config = {"group.consumer.max.session.timeout.ms": printed or "120000"}
    if printed is not None:
        config["group.min.session.timeout.ms"] = "6000"
    history.truth.broker_config = config
    (row,) = absences.CHECK.gathered(history, [CLIFF])
    _, known = row["is_cliff"]
    rule = absences.Follows(absences._is_cliff)
    assert [told for told in (True, False) if rule.admits((told, known))] == [is_cliff]
