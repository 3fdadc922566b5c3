"""Named step: what a row says in words, made of its code and parameters.

A sentence is rendered in one pass over the pieces of its template, so that a parameter that looks
like `{other}` stays as it is. `report.joins.privacy` hides parameters by their kind, and renders
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

SOURCE_DETAILS: Final[Mapping[str, str]] = {
    "KEPT_AND_DROPPED": "kept leader epoch {kept_leader_epoch}, dropped {dropped_leader_epoch}",
    "FAR_OFF_TIME": "record time {ts_ms} ms is a day off from both neighbours",
    "CAME_LATE": (
        "{records} records of offsets {offsets} came after their night; rebuild_nights replays them"
    ),
    "OTHER_LOG": "{found}",
}
"""As `DETAILS`, of what landing found wrong with the sources."""

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
}
"""Of what is stuck. Of several clauses, which the first text joins, those are said whose parameters
are all there.
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
    MEMBERS: a JSON array of member ids. The sentence has them with commas between.
    ASSIGNOR: a name that the client chose; Kafka's own names stay.
    QUOTE: what a broker or client wrote; shown as a whole where Kafka itself says so.
    """

    CLEAR = "CLEAR"
    MEMBER = "MEMBER"
    MEMBERS = "MEMBERS"
    ASSIGNOR = "ASSIGNOR"
    QUOTE = "QUOTE"


PARAMETERS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(("member", "other_member", "holder"), Kind.MEMBER),
    **dict.fromkeys(("holders", "members_missing", "members_dropped"), Kind.MEMBERS),
    **dict.fromkeys(("message", "reason"), Kind.QUOTE),
    "assignor": Kind.ASSIGNOR,
    **dict.fromkeys(
        (
            *("topic", "partition", "partitions", "missing", "members", "epochs", "key_type"),
            *("other", "epoch", "target_epoch", "assignment_epoch", "previous", "before"),
            *("kind", "protocol", "what", "ms", "timeout_ms", "ts_ms", "records", "offsets"),
            *("kept_leader_epoch", "dropped_leader_epoch", "found"),
            *("error", "attempts", "joined"),
        ),
        Kind.CLEAR,
    ),
}
"""Parameter -> what it is, in every sentence. One that is not here is hidden whole."""

_PARAMETER: Final = re.compile(r"\{(\w+)\}")


def parameters_of(code: str) -> tuple[str, ...]:
    """Names of the parameters of a sentence, in its order."""
    return tuple(_PARAMETER.findall("".join(_clauses(code))))


def _clauses(code: str) -> tuple[str, ...]:
    """What joins the clauses of a sentence, and the clauses."""
    sentence = SENTENCES[code]
    return ("", sentence) if isinstance(sentence, str) else sentence


def of_kind(kind: Kind) -> list[str]:
    """The parameters that are of a kind."""
    return [name for name, its in PARAMETERS.items() if its is kind]


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
            sf.when(piece.isin(of_kind(Kind.MEMBERS)), listed).otherwise(value)
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
