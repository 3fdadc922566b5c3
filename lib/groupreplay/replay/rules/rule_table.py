"""The rules of a coordinator's log as a table: the invariants of docs/rules.md, as corrected
by recordings of 3.9 to 4.3.

The checks of `replay.rules` judge by them. I3 is a measure and I23 a liveness property: neither is
checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from groupreplay.replay.rules.rule import ERROR, INFO, WARN, Rule
from groupreplay.replay.rules.streams_classic_rule_table import (
    STREAMS_CLASSIC_DETAILS,
    STREAMS_CLASSIC_RULES,
)
from groupreplay.replay.rules.streams_rule_table import (
    STREAMS_GROUP_DETAILS,
    STREAMS_GROUP_RULES,
)

RULES: dict[str, Rule] = {
    rule.name.split("_", 1)[0]: rule
    for rule in (
        Rule(
            "I1_ONE_OWNER", ERROR, "a partition is held (assigned or pending) by one member at most"
        ),
        Rule(
            "I2_ONE_TARGET",
            ERROR,
            "a partition is in one member's target at most",
            "inside an operation",
        ),
        Rule(
            "I4_EPOCH_STEP",
            ERROR,
            "every K3 of an incarnation is the one before plus 1",
            "online upgrade: the first K3 is the generation, not all of which are recorded",
        ),
        Rule(
            "I5_TARGET_EPOCH",
            ERROR,
            "K6 never passes K3 and never goes back",
            "4.3+: K6 skips epochs",
        ),
        Rule(
            "I6_MEMBER_WITHIN_TARGET",
            ERROR,
            "no member is past the target epoch",
            "4.3+: epoch 1 without any K6",
        ),
        Rule(
            "I7_MEMBER_EPOCH_RISES",
            ERROR,
            "a member's epoch does not go back",
            "-2; a new life of the same id",
        ),
        Rule(
            "I8_PREVIOUS_EPOCH",
            ERROR,
            "previousMemberEpoch is the epoch of the member's K8 before (0: none)",
            "-2; static return; conversion; up to 4.2 a revocation may keep the older one",
        ),
        Rule(
            "I9_UNREVOKED_PENDING",
            ERROR,
            "UNREVOKED_PARTITIONS has pending partitions, and previous = epoch",
            "-2; up to 4.1 from state 1 to state 1 the epoch is the old one plus 1",
        ),
        Rule(
            "I10_SETTLED_AT_TARGET",
            ERROR,
            "STABLE and UNRELEASED have nothing pending and stand at the target epoch",
            "-2, 0; conversion",
        ),
        Rule(
            "I11_STABLE_HAS_TARGET",
            ERROR,
            "STABLE at the target epoch holds exactly its target",
            "4.2+: not partitions of topics unsubscribed or deleted since, nor of a regular"
            " expression that is not resolved yet",
        ),
        Rule(
            "I12_UNRELEASED_WAITS",
            WARN,
            "UNRELEASED holds a part of its target, and another member holds some of the rest",
            "4.0, 4.1: its own pending partitions may count",
        ),
        Rule(
            "I13_GAIN_AND_LOSS",
            WARN,
            "partitions are gained at the target epoch alone, and not lost at an unchanged epoch",
            "-2; classic members that own nothing; retried joins; unsubscription",
        ),
        Rule(
            "I14_RELEASE_BEFORE_GRANT",
            ERROR,
            "a partition reaches a member after a record of its old owner without it",
        ),
        Rule(
            "I15_TOMBSTONE_ORDER",
            ERROR,
            "tombstones: a member's K8, K7, K5; K6 after every K7; K3 last",
        ),
        Rule(
            "I16_REMOVAL_BUMPS_EPOCH",
            ERROR,
            "an operation that removes members has one K3",
            "downgrade, static replacement",
        ),
        Rule(
            "I17_ASSIGNMENT_EPOCHS",
            WARN,
            "4.3+: a partition's assignment epoch is at most its member's and stays while held",
            "-2 and 0; a pending partition given back; a static member that returned",
        ),
        Rule("I18_ONE_KIND", ERROR, "a group is classic or consumer, never both"),
        Rule(
            "I19_GENERATION_RISES",
            ERROR,
            "a K2's generation rises",
            "the same one: a static member replaced",
        ),
        Rule(
            "I20_SYNC_COMPLETE", ERROR, "a K2 with members names a protocol and a leader among them"
        ),
        Rule(
            "I21_REVOCATION_IN_TIME",
            WARN,
            "a revocation ends within the member's rebalance timeout",
            "after a change of leader",
        ),
        Rule(
            "I22_REACHES_TARGET",
            WARN,
            "a consumer-protocol member is not behind the target for longer than a session may"
            " last",
            "after a change of leader",
        ),
        Rule(
            "I24_GIVEN_ONCE",
            WARN,
            "a classic generation gives a partition to one member at most",
            "Kafka Streams, which S4 is for; assignors that give a partition to several on purpose",
        ),
    )
} | {**STREAMS_CLASSIC_RULES, **STREAMS_GROUP_RULES}

OTHER_RULES: Final[Mapping[str, Rule]] = {
    rule.name: rule
    for rule in (
        Rule("NEGATIVE_DURATION", INFO, "a duration is not negative: clocks of leaders differ"),
        Rule(
            "GROUP_IN_TWO_PARTITIONS",
            WARN,
            "a group lives in one partition of the offsets topic",
            "their number was changed, or logs of two clusters were mixed",
        ),
    )
}
"""By name: rules of what was read, which no coordinator breaks."""

DETAILS: Final[Mapping[str, str]] = {
    "HELD_BY_SEVERAL": "{topic}-{partition} is held by {holders}",
    "IN_SEVERAL_TARGETS": "{topic}-{partition} is in the targets of {other_member} and {member}",
    "EPOCH_NOT_NEXT": "epoch {epoch} after {before}",
    "TARGET_PAST_EPOCH": "target epoch {target_epoch} of group epoch {epoch}",
    "TARGET_EPOCH_FALLS": "target epoch {target_epoch} after {before}",
    "PAST_TARGET": "{member} at epoch {epoch}, target epoch {target_epoch}",
    "MEMBER_EPOCH_FALLS": "{member}: epoch {epoch} after {before}",
    "PREVIOUS_EPOCH_DIFFERS": "{member}: previous epoch {previous}, its K8 before had {before}",
    "NOTHING_PENDING": "{member} is UNREVOKED_PARTITIONS with nothing pending",
    "UNREVOKED_AT_NEW_EPOCH": (
        "{member}: UNREVOKED_PARTITIONS at epoch {epoch} with previous {previous}"
    ),
    "NOT_SETTLED": (
        "{member} at epoch {epoch} has {partitions} pending, target epoch {target_epoch}"
    ),
    "NOT_ITS_TARGET": (
        "{member} at epoch {epoch} holds {partitions} partitions, {missing} of its target are"
        " missing"
    ),
    "WAITS_FOR_NOBODY": (
        "{member} at epoch {epoch} is UNRELEASED, but nobody else holds what it waits for"
    ),
    "GAINS_BEFORE_TARGET": (
        "{member} gains {partitions} partitions at epoch {epoch}, target epoch {target_epoch}"
    ),
    "LOSES_AT_ITS_EPOCH": "{member} loses {partitions} partitions at the unchanged epoch {epoch}",
    "GRANTED_WHILE_HELD": "{topic}-{partition} reaches {member} while {holder} holds it",
    "TOMBSTONE_AFTER": "tombstone of K{key_type} after that of K{other}",
    "TOMBSTONE_BEFORE": "tombstone of K{key_type} before that of K{other}",
    "TOMBSTONE_BEFORE_MEMBER": "tombstone of K{key_type} before that of K{other} of {member}",
    "REMOVAL_EPOCHS": "{members} members removed with {epochs} epochs",
    "ASSIGNMENT_EPOCH_TOO_HIGH": (
        "{topic}-{partition} of {member} has assignment epoch {assignment_epoch}, its member"
        " {epoch}"
    ),
    "ASSIGNMENT_EPOCH_CHANGES": (
        "{topic}-{partition} of {member}: assignment epoch {assignment_epoch}, was {before}"
    ),
    "OTHER_KIND": "{kind} records in a {protocol} group",
    "GENERATION_FALLS": "generation {epoch} after {before}",
    "GENERATION_REPEATS": "generation {epoch} again, with other members",
    "SYNC_INCOMPLETE": "protocol {assignor}, leader {member} of {members} members",
    "REVOKED_TOO_LONG": "{member} revoked for {ms} ms, its timeout is {timeout_ms} ms",
    "BEHIND_TOO_LONG": "{member} was behind the target for {ms} ms",
    "GENERATION_GIVES_TWICE": (
        "generation {epoch} gives {partitions} partitions to several members; the first,"
        " {topic}-{partition}, to {holders}"
    ),
    "NEGATIVE": "{what}: ends {ms} ms before it begins",
    "IN_TWO_PARTITIONS": (
        "the group is also in partition {partitions} of the offsets topic; each is replayed as a"
        " life of its own"
    ),
    **STREAMS_CLASSIC_DETAILS,
    **STREAMS_GROUP_DETAILS,
}
"""Code of a finding -> its sentence; the names in braces are its parameters, whose kinds
`report.words.sentences` knows.
"""
