"""Named step: what a row says in words, made of its code and parameters.

A sentence is rendered in one pass over the pieces of its template, so that a parameter that looks
like `{other}` stays as it is. `report.words.privacy` hides parameters by their kind, and renders
the sentence again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import Enum
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as sf

from groupreplay.replay.rules.rule_table import DETAILS
from groupreplay.wire.segments.other_logs import (
    LEADER_EPOCH,
    LOWER_END,
    LOWER_OFFSET_LATER,
    SAME_OFFSET_LATER,
    TOPIC_ID,
)

SOURCE_DETAILS: Final[Mapping[str, str]] = {
    "KEPT_AND_DROPPED": "kept leader epoch {kept_leader_epoch}, dropped {dropped_leader_epoch}",
    "FAR_OFF_TIME": "record time {ts_ms} ms is a day off from both neighbours",
    "CAME_LATE": (
        "{records} records of offsets {offsets} came after their night; rebuild_nights replays them"
    ),
    LEADER_EPOCH: (
        "the batch at offset {offset} is of leader epoch {leader_epoch}, and was of"
        " {known_leader_epoch}"
    ),
    SAME_OFFSET_LATER: (
        "the batch at offset {offset} is of time {ts_ms} ms, and was of {known_ts_ms} ms"
    ),
    LOWER_OFFSET_LATER: (
        "the batch at offset {offset} is of time {ts_ms} ms, and the log was read up to offset"
        " {next_offset}, time {newest_ms} ms"
    ),
    TOPIC_ID: "the id of its topic is {topic_id}, and was {known_topic_id}",
    LOWER_END: "it ends at offset {end_offset}, and was read up to {next_offset}",
    "OTHER_LOG": "{found}",
}
"""As `DETAILS`, of what landing found wrong with the sources. OTHER_LOG is of rows that version 0.3
landed."""

STUCK_DETAILS: Final[Mapping[str, str | tuple[str, ...]]] = {
    "EPOCHS_APART": "group epoch {epoch}, target epoch {target_epoch}",
    "REFUSED": (": ", "{error}", "{message}"),
    "NO_UPGRADE": "refused: {attempts} attempts",
    "NO_UPGRADE_SAYS": "{message}: {attempts} attempts",
    "REBALANCING": (
        "; ",
        "{reason}",
        "{joined} joined",
        "missing: {members_missing}",
        "dropped: {members_dropped}",
    ),
    "NOT_THERE": "{attempts} requests were told that the coordinator is not there",
    "NO_TARGET": (": ", "{attempts} attempts, the last for epoch {epoch}", "{reason}"),
    "LEARNER_GROWS": (
        "{task} is growing and never ready: {first_sum} to {last_sum} offsets over {probes} probes"
    ),
    "LEARNER_STANDS": "{task} is flat: {last_sum} offsets over {probes} probes",
    "LEARNER_NO_SUM": "{task} is flat: it reported no offsets over {probes} probes",
    "LEARNERS": "still learning: {learners}",
    "NO_BUDGET": (
        "budget: {misplaced} tasks are not where they should be and have no replica there"
    ),
    "FALLBACK_ASSIGNOR": "fallback: the leader could not fetch the lags of tasks",
    "BOUNCED": "{task} went back, {gap} records short",
    "BOUNCED_ONLY": "{task} went back",
    "UNASSIGNED": ("; ", "nobody runs {tasks}", "last run by {from_member}"),
    "FOLLOWUP_DUE": "{member} was to join again at once",
    "PROBE_DUE": "{member} was to join again at {scheduled_at} ms",
    "LOOP_CAUSES": "causes: {causes}",
    "VERSIONS": ("; ", "metadata versions {lowest} and {highest}", "the lower one: {members}"),
    "RESTORE": "{task} is being restored: {first_sum} to {last_sum} offsets",
    "ERROR_CODE": "the leader told all members {error_code}",
    "ASKED": "{member} asked for it",
    "TWO_HOSTS": "process {process} is on {hosts}",
    "TOPOLOGY": "topology epoch {topology_epoch}, validated {validated_epoch}",
    "STALE": "topology epoch {member_topology_epoch} of the member, {topology_epoch} of the group",
}
"""Sentences of what is stuck. Where there are several clauses, which the first text joins, those
are said whose parameters are all there.
"""

SENTENCES: Final[Mapping[str, str | tuple[str, ...]]] = {
    **DETAILS,
    **SOURCE_DETAILS,
    **STUCK_DETAILS,
}
"""Code -> its sentence; the names in braces are its parameters."""


class Kind(Enum):
    """What a parameter is, and so how it is hidden.

    CLEAR: numbers, topics and words of this package; never hidden.
    MEMBER: a member id.
    LIST: a JSON array of what is clear: tasks, causes. The sentence has them with commas between.
    MEMBERS: a JSON array of member ids, said likewise.
    HOSTS: a JSON array of hosts, said likewise.
    ASSIGNOR: a name that the client chose; Kafka's own names stay.
    QUOTE: what a broker or client wrote; shown as a whole where Kafka itself says so.
    """

    CLEAR = "CLEAR"
    LIST = "LIST"
    MEMBER = "MEMBER"
    MEMBERS = "MEMBERS"
    HOSTS = "HOSTS"
    ASSIGNOR = "ASSIGNOR"
    QUOTE = "QUOTE"


PARAMETERS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(("member", "other_member", "holder", "from_member", "process"), Kind.MEMBER),
    **dict.fromkeys(("holders", "members_missing", "members_dropped"), Kind.MEMBERS),
    **dict.fromkeys(("message", "reason"), Kind.QUOTE),
    **dict.fromkeys(("tasks", "learners", "causes", "codes", "inputs"), Kind.LIST),
    "hosts": Kind.HOSTS,
    "assignor": Kind.ASSIGNOR,
    **dict.fromkeys(
        (
            *("topic", "partition", "partitions", "missing", "members", "epochs", "key_type"),
            *("other", "epoch", "target_epoch", "assignment_epoch", "previous", "before"),
            *("kind", "protocol", "what", "ms", "timeout_ms", "ts_ms", "records", "offsets"),
            *("kept_leader_epoch", "dropped_leader_epoch", "found"),
            *("error", "attempts", "joined", "task", "first_sum", "last_sum", "probes"),
            *("misplaced", "gap", "scheduled_at", "lowest", "highest", "error_code"),
            *("entries", "times", "joins", "version"),
            *("topology_epoch", "validated_epoch", "member_topology_epoch"),
            *("extra", "subtopology", "standbys", "replicas"),
            *("offset", "leader_epoch", "known_leader_epoch", "known_ts_ms", "next_offset"),
            *("newest_ms", "topic_id", "known_topic_id", "end_offset"),
        ),
        Kind.CLEAR,
    ),
}
"""Parameter -> what it is, in every sentence but those of `OF_CODES`. One that is not here is
hidden whole.
"""

OF_CODES: Final[Mapping[tuple[str, str], Kind]] = {("VERSIONS", "members"): Kind.MEMBERS}
"""(Code, parameter) -> what it is in that sentence alone: elsewhere `members` counts them."""

_LISTED: Final = (Kind.LIST, Kind.MEMBERS, Kind.HOSTS)

_PARAMETER: Final = re.compile(r"\{(\w+)\}")


def _clauses(code: str) -> tuple[str, ...]:
    """What joins the clauses of a sentence, and the clauses."""
    sentence = SENTENCES[code]
    return ("", sentence) if isinstance(sentence, str) else sentence


def is_of_kind(code: Column, parameter: Column, *kinds: Kind) -> Column:
    """Whether a parameter is of one of these kinds in the sentence of a code."""
    is_one = parameter.isin([name for name, its in PARAMETERS.items() if its in kinds])
    for (own, name), its in OF_CODES.items():
        is_its = (code == own) & (parameter == name)
        is_one = sf.when(is_its, sf.lit(its in kinds)).otherwise(is_one)
    return is_one


def params_of(**values: Column) -> Column:
    """A map of the parameters that are not NULL."""
    pairs = [each for name, value in values.items() for each in (sf.lit(name), value)]
    return sf.map_filter(sf.create_map(*pairs), lambda _, value: value.isNotNull())


def said_columns(code: Column, params: Column) -> list[Column]:
    """detail, detail_code and detail_params. detail is NULL where the code is."""
    said = sf.coalesce(rendered(code, params), sf.lit(""))
    return [
        sf.when(code.isNotNull(), said).alias("detail"),
        code.alias("detail_code"),
        params.alias("detail_params"),
    ]


def rendered(code: Column, params: Column) -> Column:
    """The sentence of a code. NULL where the code is, and where nothing can be said because every
    clause lacks a parameter.
    """
    # Words and names of parameters take turns, words first.
    clauses = {each: [_PARAMETER.split(clause) for clause in _clauses(each)] for each in SENTENCES}
    templates = sf.from_json(sf.lit(json.dumps(clauses)), "map<string, array<array<string>>>")
    template = sf.element_at(templates, code)

    def shown(piece: Column, place: Column) -> Column:
        value = sf.element_at(params, piece)
        listed = sf.array_join(sf.from_json(value, "array<string>"), ", ")
        return sf.when(place % 2 == 0, piece).otherwise(
            sf.when(is_of_kind(code, piece, *_LISTED), sf.coalesce(listed, value)).otherwise(value)
        )

    def clause(pieces: Column) -> Column:
        return sf.aggregate(
            sf.transform(pieces, shown), sf.lit(""), lambda text, piece: sf.concat(text, piece)
        )

    said = sf.filter(
        sf.transform(sf.slice(template, 2, len(max(clauses.values(), key=len))), clause),
        lambda text: text.isNotNull(),
    )
    between = sf.get(sf.get(template, sf.lit(0)), sf.lit(0))
    return sf.when(sf.size(said) > 0, sf.call_function("array_join", said, between))


def sorted_params(name: str) -> str:
    """SQL of a map as text, for digests: maps have no order and cannot be compared."""
    return f"to_json(array_sort(map_entries(`{name}`)))"
