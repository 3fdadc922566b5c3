"""The rules of Kafka Streams on the classic protocol as a table: what a leader gives, in a K2.

S14 (each task is where the assignor wants it, or is owed there, or somebody is to probe) and S17
(the greatest number of warm-ups) are measures, and S18 (generations rise) is I19.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from groupreplay.replay.rules.rule import ERROR, INFO, WARN, Rule

STREAMS_CLASSIC_RULES: Final[Mapping[str, Rule]] = {
    rule.name.split("_", 1)[0]: rule
    for rule in (
        Rule(
            "S1_USER_DATA_READ",
            WARN,
            "what members say of tasks, and what they are given, decodes to the last byte",
            "metadata versions that are newer than 11",
        ),
        Rule("S2_AN_ENTRY_A_PARTITION", ERROR, "a member has as many active entries as partitions"),
        Rule("S3_OWN_PARTITIONS", ERROR, "the partitions that a task reads have its own number"),
        Rule("S4_ONE_MEMBER", ERROR, "a partition is given to one member at most"),
        Rule("S5_ONE_ACTIVE", ERROR, "a task is active at one member at most"),
        Rule(
            "S6_RELEASE_BEFORE_GRANT",
            ERROR,
            "no member is given what another one owned when it joined",
            "what several say they own; members of eager groups say nothing",
        ),
        Rule("S7_ONCE_IN_A_PROCESS", ERROR, "a process has a task once, active or as a replica"),
        Rule(
            "S8_RUNS_WHAT_IT_OWNS",
            WARN,
            "a member that says it runs a task owns a partition of that number",
            "a member that owns nothing: that of an eager group is one",
        ),
        Rule(
            "S9_JOINS_COUNTED",
            WARN,
            "a member's join count grows, modulo 256, by less than 128",
            "a static member replaced; 128 generations and more in between",
        ),
        Rule(
            "S10_LOWEST_VERSION",
            WARN,
            "an assignment has the lowest metadata version of all members, and names the highest"
            " that all of them can",
            "an error; a leader that is older than a member; a static member replaced",
        ),
        Rule("S11_SAME_ERROR", WARN, "all members are told the same error"),
        Rule(
            "S12_ONE_PROBES",
            INFO,
            "one member at most is to join again at a time, and it is of the leader's process",
            "assignors other than the highly available one",
        ),
        Rule(
            "S13_FOLLOWUP",
            WARN,
            "somebody loses a partition where somebody is to join again at once, and only there",
            "topics that nobody reads any more; an error; a static member replaced",
        ),
        Rule("S15_SAME_HOSTS", WARN, "all members are told the same map of hosts"),
        Rule(
            "S16_SUM_GROWS",
            INFO,
            "the offsets that a replica reports do not fall while a member keeps it",
            "its state was wiped, or some of its stores were",
        ),
    )
}

STREAMS_CLASSIC_DETAILS: Final[Mapping[str, str]] = {
    "USER_DATA_UNREAD": "user data of {members} members cannot be read",
    "ENTRIES_DIFFER": "{member} has {entries} active entries for {partitions} partitions",
    "NOT_ITS_PARTITION": "{member} is given {topic}-{partition} for task {task}",
    "GIVEN_TO_SEVERAL": "{topic}-{partition} is given to {holders}",
    "ACTIVE_AT_SEVERAL": "task {task} is active at {holders}",
    "GIVEN_WHILE_OWNED": "{topic}-{partition} is given to {member} while {holder} owned it",
    "SEVERAL_IN_PROCESS": "process {process} has task {task} {times} times",
    "RUNS_UNOWNED": "{member} runs task {task}, but owns no partition of its number",
    "JOINS_NOT_COUNTED": "{member} counts {joins} joins after {before}",
    "VERSION_NOT_LOWEST": "{member} is told metadata version {version}, the lowest is {lowest}",
    "ERRORS_DIFFER": "members are told errors {codes}",
    "PROBES_ELSEWHERE": "{holders} are to probe, the leader's process is {process}",
    "LOST_AND_NOT_OWED": "{inputs} are taken, but nobody is to join again at once",
    "OWED_AND_NOT_LOST": "{holders} are to join again at once, but nobody lost a partition",
    "HOSTS_DIFFER": "{member} is told another map of hosts than {other_member}",
    "SUM_FALLS": "{member}: task {task} is at {last_sum} after {first_sum}",
}
"""As `rule_table.DETAILS`."""
