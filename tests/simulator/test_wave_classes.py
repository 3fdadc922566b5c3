"""What a class of a wave is held to: ends that its departures can have had, and what follows."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.simulator.expected.wave_classes import Class, Told

ANY = frozenset[str]()
LEFT, EXPIRED = frozenset({"LEAVE_GROUP"}), frozenset({"SESSION_EXPIRED"})
OLD_HOSTS, NEW_HOSTS = frozenset({False}), frozenset({True})
UNSURE = frozenset({"SESSION_EXPIRED", "JOIN_TIMEOUT"})


def _class(
    events: str,
    *departures: frozenset[str],
    before: int = 4,
    after: tuple[int, ...] = (4,),
    flaps: frozenset[bool] = frozenset({False}),
    new_hosts: frozenset[bool] = OLD_HOSTS,
) -> Class:
    return Class(departures, flaps, Counter(events), before, after, new_hosts)


@pytest.mark.parametrize(
    ("must", "told"),
    [
        (_class("RR"), Told("BOUNCE", {})),
        (_class("AA"), Told("AWAY", {})),
        (_class("JJJ", before=0, after=(1, 2, 3)), Told("START", {})),
        (_class("GJ", LEFT), Told("RESTART", {"LEAVE_GROUP": 1})),
        (_class("GJ", LEFT, new_hosts=NEW_HOSTS), Told("HOST_SWAP", {"LEAVE_GROUP": 1})),
        (
            _class("GJJ", LEFT, after=(3, 4, 5), new_hosts=NEW_HOSTS),
            Told("SCALE_UP", {"LEAVE_GROUP": 1}),
        ),
        (
            _class("GJ", LEFT, new_hosts=OLD_HOSTS | NEW_HOSTS),
            Told("HOST_SWAP", {"LEAVE_GROUP": 1}),
        ),
        (_class("GJ", LEFT, new_hosts=OLD_HOSTS | NEW_HOSTS), Told("RESTART", {"LEAVE_GROUP": 1})),
        (_class("GJ", LEFT, flaps=frozenset({True, False})), Told("FLAPPING", {"LEAVE_GROUP": 1})),
        (_class("GG", LEFT, EXPIRED), Told("CRASH", {"LEAVE_GROUP": 1, "SESSION_EXPIRED": 1})),
        (_class("GG", UNSURE, UNSURE), Told("POLL_TIMEOUT", {"JOIN_TIMEOUT": 2})),
        (_class("GG", ANY, LEFT), Told("SCALE_DOWN", {"LEAVE_GROUP": 1, "UNKNOWN": 1})),
        (_class("GGJ", LEFT, LEFT, after=(3, 2, 3)), Told("ROLLOUT", {"LEAVE_GROUP": 2})),
        (_class("GJJ", LEFT, after=(3, 4, 5)), Told("SCALE_UP", {"LEAVE_GROUP": 1})),
        (
            _class("GGJ", LEFT, LEFT, before=2, after=(1, 0, 1)),
            Told("RECREATE", {"LEAVE_GROUP": 2}),
        ),
        (_class("G", LEFT, before=1, after=(0,)), Told("STOP", {"LEAVE_GROUP": 1})),
    ],
)
def test_what_is_so_is_admitted(must: Class, told: Told) -> None:
    assert must.admits(told)


@pytest.mark.parametrize(
    ("must", "told"),
    [
        (_class("RR"), Told("RESTART", {})),
        (_class("GJ", LEFT), Told("HOST_SWAP", {"LEAVE_GROUP": 1})),
        (_class("GJ", LEFT, new_hosts=NEW_HOSTS), Told("RESTART", {"LEAVE_GROUP": 1})),
        (_class("GJ", LEFT), Told("CRASH", {"LEAVE_GROUP": 1})),
        (_class("GJ", LEFT), Told("CRASH", {"SESSION_EXPIRED": 1})),
        (_class("GJ", LEFT), Told("FLAPPING", {"LEAVE_GROUP": 1})),
        (_class("GJ", LEFT), Told("RESTART", {})),
        (_class("GJ", LEFT), Told("RESTART", {"LEAVE_GROUP": 2})),
        (_class("GG", LEFT, UNSURE), Told("CRASH", {"SESSION_EXPIRED": 1, "JOIN_TIMEOUT": 1})),
        (_class("JJJ", before=0, after=(1, 2, 3)), Told("SCALE_UP", {})),
        (
            _class("GGJ", LEFT, LEFT, before=2, after=(1, 1, 1)),
            Told("RECREATE", {"LEAVE_GROUP": 2}),
        ),
    ],
)
def test_what_is_not_so_is_noticed(must: Class, told: Told) -> None:
    assert not must.admits(told)


def test_a_wave_of_many_is_judged_at_once() -> None:
    """Trying each end for each departure would take years."""
    ends = {"LEAVE_GROUP": 30, "SESSION_EXPIRED": 29, "JOIN_TIMEOUT": 1}
    of_many = _class("G" * 60, *[LEFT] * 31, *[UNSURE] * 29, before=60, after=(0,))
    assert not of_many.admits(Told("STOP", ends))
    assert of_many.admits(Told("STOP", {"LEAVE_GROUP": 31, "JOIN_TIMEOUT": 29}))
