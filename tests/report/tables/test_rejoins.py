"""Who came late to a rebalance, and who waited for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from groupreplay.evidence.evidence_facts import Departure, EvidenceFact, Rebalance, Rejoin
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


def test_whom_the_others_waited_for_was_let_in_when_the_phase_ended(
    stage: Stage, prove: Prove
) -> None:
    """A coordinator moves: what the new one begins has the generation of what was cut off. The
    member was told by the one, and answered by the other. Who comes again, or late, is answered at
    once. Late by 86 ms came a static member in classic-24, troubled 4.2.1 seed 993000108.
    """
    told = {"generation": 3, "told_at": AT, "new_generation": 4, "broker": 1}
    lines = prove(
        evidence(Rebalance, generation=3, started_at=AT, broker=1, ended_at=AT + 500),
        evidence(Rebalance, generation=3, started_at=AT + 600, joined_at=AT + 900, broker=2),
        evidence(Rebalance, generation=3, started_at=AT + 950, joined_at=AT + 1_900, broker=1),
        evidence(Rejoin, **told, joined_at=AT + 700, answered_at=AT + 901, answered_by=2),
        evidence(
            Rejoin,
            **told | {"member_id": "again"},
            joined_at=AT + 960,
            answered_at=AT + 1_901,
            answered_by=1,
        ),
        evidence(
            Rejoin,
            **told | {"member_id": "late"},
            joined_at=AT + 1_986,
            answered_at=AT + 2_046,
            answered_by=1,
        ),
    )
    rows = rebalances(inputs_of(stage(), lines)).collect()
    assert sorted((row.started_at, row.last_joined_member_id) for row in rows) == [
        (instant(0), None),
        (instant(600), "m"),
        (instant(950), "again"),
    ]


def instant(after_ms: int) -> datetime:
    return datetime.fromtimestamp((AT + after_ms) / 1000)


def removed(at: int, member_id: str = "m", **given: Any) -> EvidenceFact:
    """Its session ended."""
    who = {"client_id": "app", "client_host": "/10.0.0.1"} | given
    end = {"outcome": "FENCED", "end_detail": "SESSION_EXPIRED"}
    made: EvidenceFact = evidence(
        Departure, **end, member_id=member_id, ended_at=AT + at, **who, position=AT + at
    )
    return made


def joined(at: int, member_id: str = "n", **given: Any) -> EvidenceFact:
    """It was let into generation 4, under an id that is new."""
    came = {"joined_at": AT + at, "answered_at": AT + 9_010, "new_generation": 4, "is_new": True}
    made: EvidenceFact = evidence(Rejoin, **came | {"member_id": member_id} | given)
    return made


SLOW: Final = {"client_id": "slow"}
OTHER: Final = joined(1, "o", client_id="other", is_new=False)
BACK: Final[dict[str, tuple[list[EvidenceFact], list[str] | None]]] = {
    "in time": ([removed(5_000, **SLOW), joined(8_000, **SLOW), OTHER], ["m"]),
    "not back": ([removed(5_000, **SLOW), OTHER], []),
    "nobody removed": ([OTHER], []),
    "what began it": ([removed(-1, "cause", **SLOW), joined(8_000, **SLOW)], ["cause"]),
    "removed before": ([removed(-1, **SLOW), joined(8_000, **SLOW)], []),
    "too late": ([removed(5_000, **SLOW), joined(20_000, **SLOW), OTHER], []),
    "by its instance": (
        [removed(5_000, instance_id="i"), joined(8_000, instance_id="i", client_host="/other")],
        ["m"],
    ),
    "on another host": ([removed(5_000, **SLOW), joined(8_000, **SLOW, client_host="/b")], []),
    "one of two alike": (
        [removed(5_000, **SLOW), joined(8_000, **SLOW), joined(1, "o", **SLOW, is_new=False)],
        None,
    ),
    "one alike that lives": ([removed(5_000, **SLOW), joined(1, **SLOW, is_new=False)], []),
    "two of one client": (
        [removed(5_000, **SLOW), removed(5_001, "k", **SLOW), joined(8_000, **SLOW)],
        None,
    ),
    "without requests of it": ([removed(5_000, client_id=None), OTHER], None),
    "without a request log": ([removed(5_000, client_id=None)], None),
    "by another broker": ([removed(5_000, **SLOW, broker=2), joined(8_000, **SLOW)], []),
}
"""Lines of a group -> whose session ended in the join phase of generation 4 and who is in it."""


def test_whose_session_ended_and_who_is_back_in_time(stage: Stage, prove: Prove) -> None:
    _check_members_back(stage, prove, BACK, cause="FENCED", cause_member_id="cause")


def _check_members_back(
    stage: Stage,
    prove: Prove,
    cases: Mapping[str, tuple[list[EvidenceFact], list[str] | None]],
    **cause: str,
) -> None:
    """cause: of the rebalance that each group has beside its lines."""
    lines = [
        replace(each, group_id=name)
        for name, (lines, _) in cases.items()
        for each in (
            evidence(
                Rebalance,
                generation=3,
                started_at=AT,
                joined_at=AT + 9_010,
                synced_at=AT + 9_020,
                outcome="COMPLETED",
                **cause,
            ),
            *lines,
        )
    ]
    rows = rebalances(inputs_of(stage(), prove(*lines))).collect()
    assert {row.group_id: row.members_back for row in rows} == {
        name: back for name, (_, back) in cases.items()
    }


def left(at: int, member_id: str) -> EvidenceFact:
    end = {"outcome": "LEFT", "end_detail": "LEAVE_HEARTBEAT", "member_id": member_id}
    made: EvidenceFact = evidence(Departure, **end, ended_at=AT + at, position=AT + at)
    return made


LAST_OF_CONSUMER: Final[dict[str, tuple[list[EvidenceFact], list[str]]]] = {
    "some ms before": ([removed(-3, **SLOW), joined(8_000, **SLOW), OTHER], ["m"]),
    "in the same ms": ([removed(0, **SLOW), joined(8_000, **SLOW), OTHER], ["m"]),
    "another one left": (
        [removed(-3_000, **SLOW), left(-3, "l"), joined(8_000, **SLOW), OTHER],
        [],
    ),
    "another one before it": (
        [
            *(removed(-3_000, "k", client_id="k"), joined(8_000, "k2", client_id="k")),
            *(removed(-3, **SLOW), joined(8_000, **SLOW), OTHER),
        ],
        ["m"],
    ),
    "long before": ([removed(-6_000, **SLOW), joined(8_000, **SLOW), OTHER], []),
}
"""Lines of a group -> whose end made it a classic group again and who is in generation 4."""


def test_whose_end_made_a_group_classic_again_may_be_back(stage: Stage, prove: Prove) -> None:
    """`Preparing to rebalance` comes some ms after the line of the removal, as in migration-4.3 of
    `upgrade-crash`, and names nobody."""
    _check_members_back(stage, prove, LAST_OF_CONSUMER, cause="DOWNGRADE")
