"""Rules of readiness that lines decide: what is told otherwise than it was is noticed. And which
requests one process sent under one member id."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.simulator.answers import Answer
from tests.simulator.compare import Between
from tests.simulator.expected.contacts import contacts_of, errors_of
from tests.simulator.expected.line_rules import Number, OfLines
from tests.simulator.expected.ready_rules import CHECK, INFO, Fired
from tests.simulator.truth import CONSUMER, Operation

CLIENT: Final = {"member_id": "m", "client_id": "c", "software": "sarama 1.43.0"}
LINE: Final = {"source": "request_log", "input": "file", "position": 70}
TOLD: Final[dict[str, Any]] = {
    "rule": "R13",
    "severity": CHECK,
    "value": 900.0,
    "limit": 1_000.0,
    "members": [CLIENT],
    "members_count": 1,
    "evidence_offset": 5,
    "evidence": LINE,
}
FIRED: Final = Fired("R13", CHECK, Number(880, 920), 1_000, ["m"], Between(4, 6))
RULE: Final = OfLines([(FIRED, LINE)], {"m": CLIENT})


def test_a_rule_that_fires_as_it_must_is_right() -> None:
    assert RULE.admits(TOLD)


WRONG: Final[tuple[dict[str, Any], ...]] = (
    *({"severity": INFO}, {"value": 921.0}, {"value": None}, {"limit": 999.0}),
    *({"members": []}, {"members": [CLIENT | {"software": None}]}, {"members_count": 2}),
    *({"evidence_offset": 7}, {"evidence": None}, {"evidence": LINE | {"position": 71}}),
)


@pytest.mark.parametrize("wrong", WRONG)
def test_a_rule_that_says_something_else_is_noticed(wrong: dict[str, Any]) -> None:
    assert not RULE.admits(TOLD | wrong)


def test_a_rule_that_does_not_fire_is_noticed() -> None:
    assert not RULE.admits(None)
    assert OfLines([], {}).admits(None)
    assert not OfLines([], {}).admits(TOLD)


HEARTBEAT: Final = "CONSUMER_GROUP_HEARTBEAT"


def answer(came_s: int, epoch: int, code: int = 0, api: str = HEARTBEAT) -> Answer:
    at = came_s * 1_000 + 5
    place = at, 1, came_s * 1_000, code, "heartbeat", "m"
    return Answer(*place, api, true_at=at, epoch=epoch)


def removed(at_s: int) -> Operation:
    at = at_s * 1_000
    asked = "internal", None, "", (), ()
    return Operation(at, at, 1, 9, 9, *asked, "g", CONSUMER, 2, 2, None, None, {})


def test_requests_under_one_id_are_of_the_life_in_which_they_came() -> None:
    """What is refused, and a commit right before the end that is answered after it, are of the life
    before; who was never let in has none."""
    said = [
        answer(0, 0, code=25),
        answer(1, 0),
        answer(4, 3, api="OFFSET_COMMIT"),
        answer(6, 3, code=25),
        answer(7, 0),
        answer(8, 1),
    ]
    first, second = contacts_of(said, [removed(5)])
    assert [each.received_at for each in first.said] == [1_000, 4_000, 6_000]
    assert [each.received_at for each in second.said] == [7_000, 8_000]
    assert [len(each.granted) for each in (first, second)] == [2, 2]


@pytest.mark.parametrize(("heard_s", "least"), [(60, 2), (61, 1)])
def test_who_is_unknown_after_a_long_silence_may_be_gone_for_good(heard_s: int, least: int) -> None:
    """A classic member's session ran out in it, and no record says when."""
    said = [answer(0, 0), answer(1, 0, code=27), answer(1 + heard_s, 0, code=25)]
    (only,) = contacts_of(said, [])
    assert errors_of(only).least == least
