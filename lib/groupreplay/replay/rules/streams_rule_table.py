"""The rules of a streams group's log (KIP-1071) as a table: brokers 4.1 to 4.4.

T17 (every task of the topology is in a target) is a measure: how many tasks there are is in no
record. That members of brokers up to 4.3 have no instance id is no rule either: no record says
the version of its broker.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from groupreplay.replay.rules.rule import ERROR, INFO, WARN, Rule

STREAMS_GROUP_RULES: Final[Mapping[str, Rule]] = {
    rule.name.split("_", 1)[0]: rule
    for rule in (
        Rule(
            "T1_GROUP_EPOCH_STEP",
            ERROR,
            "every K17 of an incarnation is the one before plus 1; the first is 1 (4.1) or 2",
            "4.4: the same epoch where only the topology's description differs",
        ),
        Rule("T2_VALIDATED_TOPOLOGY", WARN, "K17's validated topology epoch is -1 or that of K23"),
        Rule("T3_TARGET_EPOCH", ERROR, "K20 never passes K17 and rises"),
        Rule("T4_ONE_TOPOLOGY", WARN, "an incarnation has one K23"),
        Rule(
            "T5_MEMBER_METADATA",
            WARN,
            "no K19 has a newer topology than K23, and each names a process",
        ),
        Rule("T6_TARGET_WITHOUT_WARMUPS", INFO, "K21 has no warm-ups"),
        Rule(
            "T7_PREVIOUS_EPOCH",
            ERROR,
            "previousMemberEpoch is the epoch of the member's K22 before (0: none)",
            "-2, 0: a static member that left, or came back (4.4)",
        ),
        Rule(
            "T8_MEMBER_EPOCH",
            ERROR,
            "a member's epoch does not go back and never passes K20 (1 while there is none)",
            "-2, 0",
        ),
        Rule(
            "T9_UNREVOKED_PENDING",
            ERROR,
            "UNREVOKED_TASKS is the state of members with tasks pending, and of no others",
            "-2, 0",
        ),
        Rule(
            "T10_STABLE_HAS_TARGET",
            ERROR,
            "STABLE at the target epoch holds exactly its target, role by role",
            "while a member of the group has a warm-up",
        ),
        Rule(
            "T11_UNRELEASED_WAITS",
            WARN,
            "UNRELEASED_TASKS holds a part of its target; of the rest, another process runs some,"
            " or its own has some in any role",
            "while a member of the group has a warm-up; 4.4: replicas of tasks that it is to run",
        ),
        Rule(
            "T12_ASSIGNMENT_EPOCHS",
            WARN,
            "4.2+: active tasks have an assignment epoch each, from 1 to the member's; replicas"
            " have none",
            "-2, 0; 0: a static member that came back (4.4)",
        ),
        Rule("T13_ONE_ACTIVE", ERROR, "a task is active (assigned or pending) in one member"),
        Rule(
            "T14_ONCE_IN_PROCESS",
            WARN,
            "a process holds a task once, in one role",
            "4.4: a pending active task that its member has as a replica already",
        ),
        Rule(
            "T15_RELEASE_BEFORE_GRANT",
            ERROR,
            "an active task reaches a member after a record of its old owner without it",
        ),
        Rule(
            "T16_ONE_ACTIVE_TARGET",
            ERROR,
            "a task is active in one member's target at most",
            "inside an operation",
        ),
        Rule(
            "T16R_STANDBY_TARGETS",
            WARN,
            "targets have num.standby.replicas (K17) standbys of a task at most, and none in the"
            " process that is to run it",
            "4.4: other assignors",
        ),
        Rule(
            "T18_MEMBER_TOMBSTONES",
            ERROR,
            "tombstones of a member are K22, K21, K19, then comes exactly one K17",
            "static replacement (4.4)",
        ),
        Rule("T19_GROUP_TOMBSTONES", WARN, "the tombstone of K23 follows that of K17"),
        Rule("T20_ONE_KIND", ERROR, "a streams group is not classic or consumer at the same time"),
        Rule("T21_STATELESS_REPLICAS", ERROR, "subtopologies without state have no replicas"),
    )
}

STREAMS_GROUP_DETAILS: Final[Mapping[str, str]] = {
    "FIRST_EPOCH": "first epoch {epoch}",
    "VALIDATED_ANOTHER": (
        "validated for topology epoch {validated_epoch}, the group has {topology_epoch}"
    ),
    "TOPOLOGY_AGAIN": "topology epoch {topology_epoch} after {before}",
    "TOPOLOGY_NEWER": (
        "{member} has topology epoch {member_topology_epoch}, the group {topology_epoch}"
    ),
    "NO_PROCESS": "{member} names no process",
    "WARMUPS_IN_TARGET": "the target of {member} has warm-ups: {tasks}",
    "PREVIOUS_TASKS_EPOCH": ("{member}: previous epoch {previous}, its K22 before had {before}"),
    "PREVIOUS_OF_NONE": "{member}: previous epoch {previous}, without a K22 before",
    "PAST_NO_TARGET": "{member} at epoch {epoch} without a target epoch",
    "NO_TASKS_PENDING": "{member} is UNREVOKED_TASKS with nothing pending",
    "TASKS_PENDING": "{member} has {tasks} pending and is not UNREVOKED_TASKS",
    "TASKS_NOT_ITS_TARGET": (
        "{member} at epoch {epoch} lacks {missing} tasks of its target and has {extra} others"
    ),
    "NO_PART_OF_TARGET": (
        "{member} at epoch {epoch} is UNRELEASED_TASKS, lacks {missing} tasks of its target and has"
        " {extra} others"
    ),
    "TASKS_WAIT_FOR_NOBODY": (
        "{member} at epoch {epoch} is UNRELEASED_TASKS, but nobody holds what it waits for"
    ),
    "TASK_EPOCH_OUT_OF_RANGE": (
        "{task} of {member} has assignment epoch {assignment_epoch}, its member {epoch}"
    ),
    "TASK_EPOCHS_COUNT": (
        "{member} has {epochs} assignment epochs for {partitions} tasks of subtopology"
        " {subtopology}"
    ),
    "REPLICA_EPOCHS": "{member} has assignment epochs for replicas of subtopology {subtopology}",
    "TASK_HELD_BY_SEVERAL": "{task} is active in {holders}",
    "TASK_TWICE_IN_PROCESS": "process {process} holds {task} more than once: {holders}",
    "TASK_GRANTED_WHILE_HELD": "{task} reaches {member} while {holder} holds it",
    "TASK_IN_SEVERAL_TARGETS": "{task} is in the targets of {other_member} and {member}",
    "TOO_MANY_STANDBYS": "targets have {standbys} standbys of {task}, configured are {replicas}",
    "STANDBY_BESIDE_ACTIVE": (
        "targets of process {process} have {task} both active and as a standby"
    ),
    "STATELESS_REPLICA": "{member} has a replica of {task}, which has no state",
}
"""Code of a finding -> its sentence, as `rule_table.DETAILS`, which has the others."""
