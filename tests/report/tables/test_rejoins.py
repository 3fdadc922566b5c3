"""Who came late to a rebalance, and who waited for it."""

from __future__ import annotations

from groupreplay.evidence.evidence_facts import (
    Rejoin,
)
from groupreplay.report.tables.rejoins import rejoins
from tests.report.conftest import Prove, Stage
from tests.report.evidence_by_hand import evidence
from tests.report.facts_by_hand import AT
from tests.support.table_inputs import inputs_of


def test_who_was_slow_and_who_waited(stage: Stage, prove: Prove) -> None:
    told = {"generation": 3, "told_at": AT, "is_final": True}
    came = {"joined_at": AT + 9_000, "answered_at": AT + 9_010, "new_generation": 4}
    lines = prove(
        evidence(Rejoin, **told, **came, synced_at=AT + 9_020),
        evidence(Rejoin, member_id="n", **came | {"joined_at": AT + 1}),
        evidence(Rejoin, member_id="o", **told | {"told_at": AT + 9_001, "is_final": False}),
        evidence(Rejoin, member_id="p", **told, **came | {"joined_at": AT - 1}),
    )
    found = rejoins(inputs_of(stage(), lines)).collect()
    rows = {
        row.member_id: (row.generation, row.new_generation, row.rejoin_ms, row.wait_ms)
        for row in found
    }
    assert rows == {
        "m": (3, 4, 9_000, 10),
        "n": (None, 4, None, 9_009),
        "o": (3, None, None, None),
        "p": (3, 4, 0, 9_011),
    }, "times of two lines may differ by a millisecond"
    assert {row.member_id for row in found if not row.is_final} == {"n", "o"}
