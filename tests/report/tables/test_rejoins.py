"""Who came late to a rebalance, and who waited for it."""

from __future__ import annotations

from groupreplay.evidence.evidence_facts import Rebalance, Rejoin
from groupreplay.report.tables.rebalances import rebalances
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


def test_who_came_last_of_a_rebalance(stage: Stage, prove: Prove) -> None:
    """Of the member that came last the others wait; another life's generation 4 is none of it."""
    came = {"answered_at": AT + 9_010, "new_generation": 4, "generation": 3}
    lines = prove(
        evidence(Rebalance, generation=3, started_at=AT, joined_at=AT + 9_010),
        evidence(Rebalance, generation=7, started_at=AT, position=8),
        evidence(Rejoin, member_id="quick", **came, joined_at=AT + 1),
        evidence(Rejoin, member_id="slow", **came, joined_at=AT + 9_000),
        evidence(Rejoin, member_id="later", **came, joined_at=AT + 99_000),
        evidence(Rejoin, member_id="gone", **came | {"new_generation": None, "told_at": AT}),
    )
    rows = {row.generation: row for row in rebalances(inputs_of(stage(), lines)).collect()}
    times = {
        number: [
            None if at is None else round(at.timestamp() * 1000) - AT
            for at in (row.first_joined_at, row.last_joined_at)
        ]
        for number, row in rows.items()
    }
    assert times == {3: [1, 9_000], 7: [None, None]}
    assert {number: row.last_joined_member_id for number, row in rows.items()} == {
        3: "slow",
        7: None,
    }
