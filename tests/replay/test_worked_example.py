"""The worked example of KIP-848, "Online Migration": generation 22, epochs 22, 23 and 24, members
A, B and C, partitions foo-0 to foo-5.

The records are those that a coordinator writes for it (sequences of GroupMetadataManager), the
finest steps that it can take each in a batch of its own, and after every one the machine must stand
where the document says. What the document tells and no record does is left out: the phases of C's
rebalances. One slip of it is read as meant: "A - epoch=0" is B.

The document lists as a member's partitions what it holds, or, once it has reached the target's
epoch, what it is to have: B "does not get any partitions yet", and stands there with foo-3 and
foo-4. Its target assignments are those last installed: B's stays in the one of epoch 22 after B has
left.
"""

from __future__ import annotations

from dataclasses import dataclass

from groupreplay.replay.facts import Anomaly, Conversion, Epoch, HandOver, HeldPartition, Stall
from groupreplay.replay.group_replay import GroupReplay
from groupreplay.replay.life import CLASSIC, CONSUMER, Life, Member
from tests.support.building import GROUP, NAMES, Log
from tests.support.replaying import boundaries, difference, fact_keys, replayed
from tests.support.words import Form

Shown = dict[str, tuple[int, list[int]]]
"""member -> (epoch, numbers of its partitions of foo)"""

KEEPS_A = {"k5": "A", "instance": "a"}


@dataclass(frozen=True)
class State:
    """One state of the document.

    upgraded, classic: members by protocol.
    target: of target_epoch, as installed.
    """

    protocol: str
    group_epoch: int
    upgraded: set[str]
    classic: set[str]
    target_epoch: int
    target: dict[str, list[int]]
    members: Shown


FIRST_TARGET = {"A": [0, 1], "B": [3, 4], "C": [2, 5]}
SECOND_TARGET = {"A": [0, 1, 3], "C": [2, 4, 5]}

STEPS: list[tuple[str, list[Form], State]] = [
    (
        "a generic group of generation 22",
        [
            {
                "k2": 22,
                "members": {
                    "A0": {"assigned": {"foo": [0, 1]}, "instance": "a"},
                    "B": {"foo": [3, 4]},
                    "C": {"foo": [2, 5]},
                },
            }
        ],
        State(
            CLASSIC,
            22,
            set(),
            {"A", "B", "C"},
            22,
            FIRST_TARGET,
            {"A": (22, [0, 1]), "B": (22, [3, 4]), "C": (22, [2, 5])},
        ),
    ),
    (
        "A leaves and rejoins with the new protocol; the group is converted",
        [
            {"k2x": True},
            {"k5": "A0", "classic": True, "instance": "a"},
            {"k5": "B", "classic": True},
            {"k5": "C", "classic": True},
            {"k3": 22},
            {"k7": "A0", "target": {"foo": [0, 1]}},
            {"k7": "B", "target": {"foo": [3, 4]}},
            {"k7": "C", "target": {"foo": [2, 5]}},
            {"k6": 22},
            {"k8": "A0", "epoch": 22, "assigned": {"foo": [0, 1]}},
            {"k8": "B", "epoch": 22, "assigned": {"foo": [3, 4]}},
            {"k8": "C", "epoch": 22, "assigned": {"foo": [2, 5]}},
            {"k8x": "A0"},
            {"k7x": "A0"},
            {"k5x": "A0"},
            {**KEEPS_A, "classic": True},
            {"k7": "A", "target": {"foo": [0, 1]}},
            {"k8": "A", "epoch": 0, "assigned": {"foo": [0, 1]}},
            KEEPS_A,
            {"k8": "A", "epoch": 22, "prev": 0, "assigned": {"foo": [0, 1]}},
        ],
        State(
            CONSUMER,
            22,
            {"A"},
            {"B", "C"},
            22,
            FIRST_TARGET,
            {"A": (22, [0, 1]), "B": (22, [3, 4]), "C": (22, [2, 5])},
        ),
    ),
    (
        "B leaves the group; the epoch is bumped",
        [{"k8x": "B"}, {"k7x": "B"}, {"k5x": "B"}, {"k3": 23}],
        State(CONSUMER, 23, {"A"}, {"C"}, 22, FIRST_TARGET, {"A": (22, [0, 1]), "C": (22, [2, 5])}),
    ),
    (
        "a new target assignment is computed and installed",
        [
            {"k7": "A", "target": {"foo": [0, 1, 3]}},
            {"k7": "C", "target": {"foo": [2, 5, 4]}},
            {"k6": 23},
        ],
        State(
            CONSUMER, 23, {"A"}, {"C"}, 23, SECOND_TARGET, {"A": (22, [0, 1]), "C": (22, [2, 5])}
        ),
    ),
    (
        (
            "C, an eager member, has revoked everything and sends a JoinGroup request: it moves to"
            " epoch 23"
        ),
        [
            {"k5": "C", "classic": True},
            {"k8": "C", "epoch": 23, "prev": 22, "assigned": {"foo": [2, 5, 4]}},
        ],
        State(
            CONSUMER, 23, {"A"}, {"C"}, 23, SECOND_TARGET, {"A": (22, [0, 1]), "C": (23, [2, 4, 5])}
        ),
    ),
    (
        "A heartbeats and transitions to epoch 23 as well; C's SyncGroup request leaves no record",
        [{"k8": "A", "epoch": 23, "prev": 22, "assigned": {"foo": [0, 1, 3]}}],
        State(
            CONSUMER,
            23,
            {"A"},
            {"C"},
            23,
            SECOND_TARGET,
            {"A": (23, [0, 1, 3]), "C": (23, [2, 4, 5])},
        ),
    ),
    (
        "B rejoins with the new protocol; the epoch is bumped",
        [{"k5": "B"}, {"k3": 24}],
        State(
            CONSUMER,
            24,
            {"A", "B"},
            {"C"},
            23,
            SECOND_TARGET,
            {"A": (23, [0, 1, 3]), "B": (0, []), "C": (23, [2, 4, 5])},
        ),
    ),
    (
        "a new target assignment is computed; C has to revoke foo-4",
        [
            {"k7": "A", "target": {"foo": [0, 1]}},
            {"k7": "B", "target": {"foo": [3, 4]}},
            {"k7": "C", "target": {"foo": [2, 5]}},
            {"k6": 24},
        ],
        State(
            CONSUMER,
            24,
            {"A", "B"},
            {"C"},
            24,
            FIRST_TARGET,
            {"A": (23, [0, 1, 3]), "B": (0, []), "C": (23, [2, 4, 5])},
        ),
    ),
    (
        "A heartbeats and is told to revoke foo-3",
        [
            {
                "k8": "A",
                "epoch": 23,
                "state": "UNREVOKED_PARTITIONS",
                "assigned": {"foo": [0, 1]},
                "pending": {"foo": [3]},
            }
        ],
        State(
            CONSUMER,
            24,
            {"A", "B"},
            {"C"},
            24,
            FIRST_TARGET,
            {"A": (23, [0, 1, 3]), "B": (0, []), "C": (23, [2, 4, 5])},
        ),
    ),
    (
        "B heartbeats and transitions to epoch 24, but does not get any partitions yet",
        [{"k8": "B", "epoch": 24, "prev": 0, "state": "UNRELEASED_PARTITIONS"}],
        State(
            CONSUMER,
            24,
            {"A", "B"},
            {"C"},
            24,
            FIRST_TARGET,
            {"A": (23, [0, 1, 3]), "B": (24, [3, 4]), "C": (23, [2, 4, 5])},
        ),
    ),
    (
        (
            "C revokes everything and sends a JoinGroup request: it moves to epoch 24; its"
            " SyncGroup request leaves no record"
        ),
        [
            {"k5": "C", "classic": True},
            {"k8": "C", "epoch": 24, "prev": 23, "assigned": {"foo": [2, 5]}},
        ],
        State(
            CONSUMER,
            24,
            {"A", "B"},
            {"C"},
            24,
            FIRST_TARGET,
            {"A": (23, [0, 1, 3]), "B": (24, [3, 4]), "C": (24, [2, 5])},
        ),
    ),
    (
        "A heartbeats, confirms the revocation of foo-3 and transitions to epoch 24",
        [{"k8": "A", "epoch": 24, "prev": 23, "assigned": {"foo": [0, 1]}}],
        State(
            CONSUMER,
            24,
            {"A", "B"},
            {"C"},
            24,
            FIRST_TARGET,
            {"A": (24, [0, 1]), "B": (24, [3, 4]), "C": (24, [2, 5])},
        ),
    ),
    (
        "B heartbeats and gets its assignment",
        [{"k8": "B", "epoch": 24, "assigned": {"foo": [3, 4]}}],
        State(
            CONSUMER,
            24,
            {"A", "B"},
            {"C"},
            24,
            FIRST_TARGET,
            {"A": (24, [0, 1]), "B": (24, [3, 4]), "C": (24, [2, 5])},
        ),
    ),
]


def document_name(member_id: str) -> str:
    """A keeps its name under the new protocol, and its instance id; its member id is new."""
    return "A" if member_id == "A0" else member_id


def shown_partitions(life: Life, member: Member) -> list[int]:
    is_at_target = member.epoch is not None and member.epoch == life.target_epoch
    return sorted(
        partition
        for _, partition in member.held
        | ((member.target or frozenset()) if is_at_target else frozenset())
    )


def installed_target(life: Life) -> dict[str, list[int]]:
    """The target as its K6 installed it: what changed since is put back to whom it was taken
    from.
    """
    owner = dict(life.target_owner) | {
        tp: before for tp, before in life.moved_from.items() if before is not None
    }
    target: dict[str, list[int]] = {}
    for (_, partition), member_id in sorted(owner.items()):
        target.setdefault(document_name(member_id), []).append(partition)
    return target


def state_of(machine: GroupReplay) -> State:
    assert machine._machine is not None
    life = machine._machine.life
    assert life.epoch is not None
    assert life.target_epoch is not None
    by_protocol = {
        protocol: {
            document_name(m.member_id) for m in life.members.values() if m.protocol == protocol
        }
        for protocol in (CONSUMER, CLASSIC)
    }
    members = {
        document_name(m.member_id): (m.epoch or 0, shown_partitions(life, m))
        for m in life.members.values()
    }
    return State(
        life.protocol,
        life.epoch,
        by_protocol[CONSUMER],
        by_protocol[CLASSIC],
        life.target_epoch,
        installed_target(life),
        dict(sorted(members.items())),
    )


def example_log() -> Log:
    log = Log()
    for _, forms, _ in STEPS:
        log.write(*forms)
    return log


def test_every_state_of_the_document_is_reproduced_in_its_order() -> None:
    log, machine = Log(), GroupReplay(GROUP, 0, NAMES)
    for what, forms, wanted in STEPS:
        for entry in log.write(*forms):
            machine.replay(entry)
        machine.flush()
        assert state_of(machine) == wanted, what


def test_what_the_tables_say_of_it() -> None:
    facts = replayed(example_log().entries, NAMES)
    assert not [fact for fact in facts if isinstance(fact, Anomaly)]
    epochs = sorted(
        (fact for fact in facts if isinstance(fact, Epoch)), key=lambda fact: fact.from_offset
    )
    assert [
        (e.epoch, e.protocol, e.cause, e.cause_member_id, e.members, e.members_classic, e.outcome)
        for e in epochs
    ] == [
        (22, CLASSIC, "UNKNOWN", None, 3, 3, "CONVERGED"),
        (22, CONSUMER, "UPGRADE", "A", 3, 2, "CONVERGED"),
        (23, CONSUMER, "LEFT_OR_FENCED", "B", 2, 1, "CONVERGED"),
        (24, CONSUMER, "JOIN", "B", 3, 1, "CONVERGED"),
    ]
    (conversion,) = [fact for fact in facts if isinstance(fact, Conversion)]
    assert (conversion.direction, conversion.mode, conversion.trigger_member_id) == (
        "UPGRADE",
        "ONLINE",
        "A",
    )
    (hand_over,) = [fact for fact in facts if isinstance(fact, HandOver)]
    assert (hand_over.member_id, hand_over.partition, hand_over.outcome, hand_over.granted_to) == (
        "A",
        3,
        "ACKED",
        "B",
    )
    moved = {
        (f.member_id, f.partition, f.end_reason, f.next_member_id)
        for f in facts
        if isinstance(f, HeldPartition) and f.released_at is not None
    }
    assert moved == {
        *(("A0", partition, "REPLACED", "A") for partition in (0, 1)),
        ("B", 3, "LEFT_OR_FENCED", "A"),
        ("B", 4, "LEFT_OR_FENCED", "C"),
        ("A", 3, "REVOKED", "B"),
        ("C", 4, "REVOKED", "B"),
    }
    (wait,) = [
        fact for fact in facts if isinstance(fact, Stall) and fact.reason == "WAITING_ON_HOLDER"
    ]
    assert (wait.member_id, wait.blocked_by) == ("B", ["A", "C"])


def test_it_can_be_cut_anywhere() -> None:
    entries = example_log().entries
    wanted = fact_keys(replayed(entries, NAMES))
    for place in boundaries(entries):
        got = fact_keys(replayed(entries, NAMES, [place]))
        assert got == wanted, f"cut at {place}:\n{difference(wanted, got)}"
