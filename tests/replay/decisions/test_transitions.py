"""Transitions: of each kind what it costs, by recordings and in logs that are written by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from groupreplay.records.entries import Entry
from groupreplay.replay.decisions.bounds import SETTLE_MS
from groupreplay.replay.decisions.transitions import Listener
from groupreplay.replay.group_replay import GroupReplay
from groupreplay.replay.kept.transition import Transition
from tests.support.building import NAMES, Log
from tests.support.recordings import group

pytestmark = pytest.mark.interpreted


class Heard(Listener):
    """Keeps what it is told, and charges each transition to its release."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Transition]] = []

    def released(self, transition: Transition) -> None:
        transition.charged_to = transition.released_offset
        self.told.append(("released", transition))

    def dropped(self, transition: Transition) -> None:
        self.told.append(("dropped", transition))

    def granted(self, transition: Transition) -> None:
        self.told.append(("granted", transition))

    def closed(self, transition: Transition) -> None:
        self.told.append(("closed", transition))

    def of(self, what: str) -> list[Transition]:
        return [transition for told, transition in self.told if told == what]


def heard(
    entries: Sequence[Entry],
    names: dict[str, str] = NAMES,
    cut: int = -1,
    group_id: str = "g",
    partition: int = 0,
) -> Heard:
    """What a listener hears of a log of one life. cut: after so many entries the state goes to
    bytes and back.
    """
    listener, machine = Heard(), GroupReplay(group_id, partition, names)
    is_heard = False
    for index, entry in enumerate(entries):
        if index == cut:
            machine.flush()
            machine = GroupReplay.restore(group_id, partition, names, machine.state() or b"")
            is_heard = False
        if not is_heard and machine._machine is not None:
            machine._machine.membership.transitions.listen(listener)
            is_heard = True
        machine.replay(entry)
    machine.flush()
    return listener


def of_recording(recording: str, group_id: str, cut: int = -1) -> Heard:
    found = group(recording, group_id)
    return heard(found.entries, found.names, cut, group_id, found.offsets_partition)


@pytest.mark.parametrize(
    ("recording", "group_id", "wanted"),
    [
        ("consumer-4.3", "scale-up", {"ASKED": (5, 1546, 6729), "REMOVED": (2, 3324, 5582)}),
        ("consumer-4.3", "crash", {"REMOVED": (2, 996, 26190)}),
        ("consumer-4.3", "slow-revoker", {"ASKED": (2, 3182, 17370)}),
        ("consumer-4.3", "static-bounce", {"AWAY": (4, 32432, 34805)}),
        ("classic-3.9", "classic-eager", {"REMOVED": (4, 28, 34647), "STOP": (14, 62, 23636)}),
        ("classic-3.9", "classic-coop", {"GAP": (4, 43, 24377), "REMOVED": (1, 0, 2805)}),
        (
            "classic-3.9",
            "classic-static",
            {"REPLACED": (6, 0, 21452), "STOP": (4, 4, 3715), "REMOVED": (2, 2, 27830)},
        ),
        (
            "migration-4.3",
            "upgrade-old-client",
            {
                "STOP": (4, 32, 4152),
                "REMOVED": (6, 3433, 11451),
                "UNASKED": (3, 4473, 7533),
                "ASKED": (3, 366, 3065),
            },
        ),
    ],
)
def test_kinds_and_their_costs(
    recording: str, group_id: str, wanted: dict[str, tuple[int, int, int]]
) -> None:
    closed = of_recording(recording, group_id).of("closed")
    assert Counter(each.kind for each in closed) == {k: n for k, (n, _, _) in wanted.items()}
    for kind, (_, low, high) in wanted.items():
        of_kind = [each for each in closed if each.kind == kind]
        assert sum(each.low_ms or 0 for each in of_kind) == low, kind
        assert sum(each.high_ms or 0 for each in of_kind) == high, kind
        assert all((each.est_ms is None) == (kind == "STOP") for each in of_kind)
        assert all((each.low_ms or 0) <= (each.est_ms or 0) for each in of_kind if kind != "STOP")


@pytest.mark.parametrize("group_id", ["scale-up", "fence-loop", "wave", "static-bounce"])
def test_every_release_is_followed_to_its_end(group_id: str) -> None:
    """Each is granted or dropped, and closed if it was granted; a night in between changes nothing
    of it, nor of what it was charged to.
    """
    whole = of_recording("consumer-4.3", group_id)
    assert len(whole.of("released")) == len(whole.of("granted")) + len(whole.of("dropped"))
    assert whole.of("granted")
    assert sorted(map(repr, whole.of("granted"))) == sorted(map(repr, whole.of("closed")))
    entries = group("consumer-4.3", group_id).entries
    for cut in range(1, len(entries), 9):
        if entries[cut].offset != entries[cut].batch_base_offset:
            continue
        again = of_recording("consumer-4.3", group_id, cut)
        assert list(map(repr, again.of("closed"))) == list(map(repr, whole.of("closed"))), cut


def log_of(*records: object) -> Log:
    log = Log()
    for each in records:
        if isinstance(each, int):
            log.at(each)
        else:
            log.write(*(each if isinstance(each, list) else [each]))
    return log


START: list[dict[str, Any]] = [
    {"k5": "A"},
    {"k3": 1},
    {"k7": "A", "target": {"foo": [0]}},
    {"k6": 1},
    {"k8": "A", "prev": 0, "assigned": {"foo": [0]}},
]
JOINED = [
    {"k5": "B"},
    {"k3": 2},
    {"k7": "A"},
    {"k7": "B", "target": {"foo": [0]}},
    {"k6": 2},
    {"k8": "B", "epoch": 2, "prev": 0, "state": "UNRELEASED_PARTITIONS"},
]
ASKED = {"k8": "A", "epoch": 1, "prev": 1, "state": "UNREVOKED_PARTITIONS", "pending": {"foo": [0]}}
ACKED = {"k8": "A", "epoch": 2, "prev": 1}
GIVEN = {"k8": "B", "epoch": 2, "prev": 2, "assigned": {"foo": [0]}}


def test_a_hand_over_by_hand() -> None:
    log = log_of(START, 5000, {"k1": "foo-0"}, JOINED, 7000, ASKED, 9000, ACKED, 9500, GIVEN, 9800)
    log.write({"k1": "foo-0"})
    (each,) = heard(log.entries).of("closed")
    assert (each.kind, each.low_ms, each.est_ms, each.idle_ms, each.high_ms) == (
        "ASKED",
        500,
        2500,
        4800,
        4800,
    )
    assert (each.is_move, each.is_return, each.is_high_known) == (True, False, True)


def test_a_commit_after_an_hour_says_nothing() -> None:
    log = log_of(START, 5000, {"k1": "foo-0"}, JOINED, 7000, ASKED, 9000, ACKED, 9500, GIVEN)
    late = log_of(
        START, 5000, {"k1": "foo-0"}, JOINED, 7000, ASKED, 9000, ACKED, 9500, GIVEN,
        9501 + SETTLE_MS, {"k1": "foo-0"},
    )  # fmt: skip
    assert not heard(log.entries).of("closed")
    (each,) = heard(late.entries).of("closed")
    assert (each.idle_ms, each.high_ms, each.is_high_known) == (None, 2500, False)


def test_a_release_behind_a_hole_costs_nothing() -> None:
    log = log_of(START, JOINED, ASKED, ACKED)
    log.skip(2)
    log.write(GIVEN)
    log.write({"k1": "foo-0"})
    (each,) = heard(log.entries).of("closed")
    assert each.is_hidden
    assert (each.low_ms, each.est_ms, each.high_ms) == (None, None, None)


def test_nobody_misses_the_partitions_of_an_empty_group() -> None:
    left = [{"k8x": "A"}, {"k7x": "A"}, {"k5x": "A"}, {"k3": 2}]
    back = [
        {"k5": "B"},
        {"k3": 3},
        {"k7": "B", "target": {"foo": [0]}},
        {"k6": 3},
        {"k8": "B", "epoch": 3, "prev": 0, "assigned": {"foo": [0]}},
    ]
    log = log_of(START, left, 900_000, back, {"k1": "foo-0"})
    (each,) = heard(log.entries).of("closed")
    assert (each.kind, each.is_through_empty, each.low_ms) == ("REMOVED", True, None)
    assert each.is_move


MIXED = [
    {"k5": "U"},
    {"k3": 2},
    {"k7": "A", "target": {}},
    {"k7": "U", "target": {"foo": [0]}},
    {"k6": 2},
    {"k8": "U", "epoch": 2, "prev": 0, "state": "UNRELEASED_PARTITIONS"},
]
DOWNGRADED = [
    *({"k8x": "A"}, {"k8x": "U"}, {"k7x": "A"}, {"k7x": "U"}, {"k6x": True}, {"k5x": "A"}),
    *({"k5x": "U"}, {"k4x": True}, {"k3x": True}, {"k2": 2, "members": {"A": {}}}),
]


@pytest.mark.parametrize(("record", "kind"), [(ACKED, "UNASKED"), (ASKED, "ASKED")])
def test_what_was_lost_or_asked_back_stands_still_over_a_downgrade(
    record: dict[str, Any], kind: str
) -> None:
    """The K2 of a downgrade lists what the members have: what is left is given in the next one. Who
    was asked for a partition stopped then. Simulated: migration-3 p22:50, 4.2.1 seed 990805017.
    """
    classic = [{"k5": "A", "classic": True}, *START[1:]]
    log = log_of(classic, 5000, MIXED, 7000, record, 9000, DOWNGRADED, 12_000)
    log.write({"k2": 3, "members": {"A": {}, "B": {"foo": [0]}}})
    (each,) = heard(log.entries).of("granted")
    assert (each.kind, each.low_ms, each.est_ms) == (kind, 0, 5_000)


@pytest.mark.parametrize(
    ("hole", "low_ms"), [(False, 18_000), (True, 6_000)], ids=["seen", "it may have been back"]
)
def test_who_leaves_for_a_while_twice_is_gone_since_the_first_time(hole: bool, low_ms: int) -> None:
    """A request of its return got lost, and it polls too late again: its K8 says the same. Nobody
    read meanwhile. Simulated: static-3 p28:792, 4.1.2 seed 990840000.
    """
    static = [{"k5": "A", "instance": "i"}, *START[1:]]
    left = {"k8": "A", "epoch": -2, "prev": 1, "assigned": {"foo": [0]}}
    gone = [{"k8x": "A"}, {"k7x": "A"}, {"k5x": "A"}, {"k3": 3}]
    given = [{"k7": "B", "target": {"foo": [0]}}, {"k6": 3}, GIVEN | {"epoch": 3}]
    log = log_of(static, JOINED, 7_000, left)
    log.skip(2, is_hole=hole)
    for at, forms in ((19_000, [left]), (20_000, JOINED[-1:]), (23_000, gone), (25_000, given)):
        log.at(at).write(*forms)
    (each,) = heard(log.entries).of("granted")
    assert (each.kind, each.low_ms, each.est_ms) == ("AWAY", low_ms, low_ms)
    assert each.waited_since == 25_000 - low_ms


@pytest.mark.parametrize(
    ("said", "costs"),
    [
        ({"owned": {"foo": [0]}, "joined_in": 2}, (0, 0)),
        ({"owned": {"foo": [0]}, "joined_in": -1}, (0, 0)),
        ({"owned": {"foo": [0]}, "joined_in": 2, "instance": "i"}, (0, 0)),
        ({"owned": {"foo": [0]}, "joined_in": 1, "instance": "i"}, (13, 225)),
        ({"owned": {"foo": [1]}, "joined_in": 2}, (13, 225)),
    ],
    ids=["never told", "by an old client", "static", "static, did not join", "given up"],
)
def test_who_never_heard_that_a_generation_took_a_partition_read_on(
    said: dict[str, Any], costs: tuple[int, int]
) -> None:
    """Another member joins while a K2 is written that takes what a third one is to have: each
    SyncGroup is answered with REBALANCE_IN_PROGRESS. Simulated: migration-20 p7:18, 4.4.0 seed
    991040004.
    """
    is_static = {each: said[each] for each in ("instance",) if each in said}
    joined = is_static | {"assigned": {"foo": [0, 1]}}
    listed = is_static | {"owned": {"foo": [0, 1]}, "joined_in": 1, "assigned": {"foo": [1]}}
    log = Log()
    for at, generation, member in (
        (5_000, 1, joined),
        (26_328, 2, listed),
        (26_553, 3, said | {"assigned": {"foo": [0, 1]}}),
    ):
        k2 = {"k2": generation, "stamp": at - 13, "protocol": "cooperative-sticky"}
        log.at(at).write(k2 | {"members": {"A": member}})
    (each,) = heard(log.entries).of("granted")
    assert (each.kind, each.low_ms, each.est_ms) == ("GAP", *costs)


@pytest.mark.parametrize(
    ("commits", "stopped_at", "est_ms"),
    [(["foo-0"], 5_000, (55_000, 29_000)), ([], 1_000, (59_000, 29_000))],
    ids=["of another", "none at all"],
)
def test_what_a_holder_before_committed_is_no_sign_of_life(
    commits: list[str], stopped_at: int, est_ms: tuple[int, int]
) -> None:
    """B commits partition 1, which A gets then and never commits. What A committed is of 0."""
    both = {"foo": [0, 1]}
    log = log_of(START, 5_000, *({"k1": each} for each in commits), 6_000, [{"k5": "B"}, {"k3": 2}])
    log.write({"k7": "B", "target": {"foo": [1]}}, {"k6": 2})
    log.write({"k8": "A", "epoch": 2, "prev": 1, "assigned": {"foo": [0]}})
    log.write({"k8": "B", "epoch": 2, "prev": 0, "assigned": {"foo": [1]}})
    log.at(20_000).write({"k1": "foo-1"})
    log.at(30_000).write({"k8x": "B"}, {"k7x": "B"}, {"k5x": "B"}, {"k3": 3})
    log.write({"k7": "A", "target": both}, {"k6": 3})
    log.at(31_000).write({"k8": "A", "epoch": 3, "prev": 2, "assigned": both})
    log.at(40_000).write({"k5": "C"}, {"k3": 4}, {"k6": 4}, {"k8": "C", "epoch": 4, "prev": 0})
    log.at(50_000).write({"k8x": "A"}, {"k7x": "A"}, {"k5x": "A"}, {"k3": 5})
    log.at(59_000).write({"k7": "C", "target": both}, {"k6": 5})
    log.at(60_000).write({"k8": "C", "epoch": 5, "prev": 4, "assigned": both})
    found = [each for each in heard(log.entries).of("granted") if each.from_member_id == "A"]
    assert {each.stopped_at for each in found} == {stopped_at}
    assert tuple(each.est_ms for each in found) == est_ms


STATIC = [{"k5": "A", "instance": "i"}, *START[1:]]
LEFT = {"k8": "A", "epoch": -2, "prev": 1, "assigned": {"foo": [0]}}
BACK: list[dict[str, Any]] = [
    *({"k8x": "A"}, {"k7x": "A"}, {"k5x": "A"}, {"k5": "A", "instance": "i"}),
    *({"k7": "A", "target": {"foo": [0]}}, {"k8": "A", "prev": 0, "assigned": {"foo": [0]}}),
]


@pytest.mark.parametrize("cut", [-1, 6, 7, 13], ids=["whole", "there", "away", "back"])
def test_who_is_back_under_its_own_id_read_nothing_meanwhile(cut: int) -> None:
    """As where its next process has another id. Simulated: static-0 p25:18, 4.0.2 seed 990870003."""
    log = log_of(STATIC, 5_000, {"k1": "foo-0"}, 7_000, LEFT, 30_000, BACK, 30_500, {"k1": "foo-0"})
    told = heard(log.entries, cut=cut)
    (each,) = told.of("closed")
    assert (each.kind, each.low_ms, each.est_ms) == ("AWAY", 23_000, 23_000)
    assert (each.idle_ms, each.high_ms, each.is_high_known) == (25_500, 25_500, True)
    assert (each.is_move, each.waited_since) == (False, 7_000)


def test_a_hole_hides_how_often_somebody_was_back() -> None:
    log = log_of(STATIC, 7_000, LEFT)
    log.skip(2)
    log.at(30_000).write(*BACK)
    (each,) = heard(log.entries).of("closed")
    assert (each.kind, each.is_hidden, each.low_ms, each.high_ms) == ("AWAY", True, None, None)


def test_what_is_asked_back_at_a_return_stands_still_until_the_next_holder_has_it() -> None:
    """What it lost while it was away belongs to one price, what follows to another."""
    asked = [*BACK[:4], {"k7": "A"}, ASKED | {"prev": 0}]
    log = log_of(STATIC, 5_000, {"k1": "foo-0"}, 6_000, JOINED, 7_000, LEFT, 30_000, asked)
    log.at(31_000).write(ACKED)
    log.at(32_000).write(GIVEN)
    log.at(32_500).write({"k1": "foo-0"})
    away, handed = heard(log.entries).of("closed")
    assert (away.kind, away.low_ms, away.is_high_known) == ("AWAY", 23_000, False)
    assert (handed.kind, handed.low_ms, handed.est_ms, handed.idle_ms) == (
        *("ASKED", 1_000, 2_000),
        27_500,
    )
    assert handed.held_since == 30_000, "it never committed what it had once more"


def test_who_leaves_for_a_while_before_its_first_commit_never_read_what_it_got() -> None:
    """The first commit since ends the last wait alone, however often it left."""
    log = log_of(START, 5_000, {"k1": "foo-0"}, [{"k5": "B", "instance": "i"}, *JOINED[1:]], ASKED)
    log.at(9_000).write(ACKED)
    log.at(9_500).write(GIVEN)
    left = GIVEN | {"epoch": -2}
    back = [
        *({"k8x": "B"}, {"k7x": "B"}, {"k5x": "B"}, {"k5": "B", "instance": "i"}),
        *({"k7": "B", "target": {"foo": [0]}}, GIVEN | {"prev": 0}),
    ]
    for at, forms in ((10_000, [left]), (14_000, back), (20_000, [left]), (21_000, back)):
        log.at(at).write(*forms)
    log.at(22_000).write({"k1": "foo-0"})
    closed = heard(log.entries).of("closed")
    assert [(each.kind, each.low_ms, each.idle_ms) for each in closed] == [
        *(("ASKED", 500, None), ("AWAY", 4_000, None)),
        ("AWAY", 1_000, 17_000),
    ]


def test_what_nobody_gets_is_dropped() -> None:
    """B asked for it, and leaves before A has let go: it stays with A's next target, or nobody's."""
    gone = [{"k8x": "B"}, {"k7x": "B"}, {"k5x": "B"}, {"k3": 3}]
    log = log_of(START, JOINED, ASKED, ACKED, gone, [{"k6": 3}, {"k8": "A", "epoch": 3, "prev": 2}])
    told = heard(log.entries)
    assert [what for what, _ in told.told] == ["released", "dropped"]
