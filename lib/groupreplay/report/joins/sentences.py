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

SENTENCES: Final[Mapping[str, str]] = {**DETAILS, **SOURCE_DETAILS}
"""Code -> its sentence; the names in braces are its parameters."""


class Kind(Enum):
    """What a parameter is, and so how it is hidden.

    CLEAR: numbers, topics and words of this package; never hidden.
    MEMBER: a member id.
    MEMBERS: a JSON array of member ids. The sentence has them with commas between.
    ASSIGNOR: a name that the client chose; Kafka's own names stay.
    """

    CLEAR = "CLEAR"
    MEMBER = "MEMBER"
    MEMBERS = "MEMBERS"
    ASSIGNOR = "ASSIGNOR"


PARAMETERS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(("member", "other_member", "holder"), Kind.MEMBER),
    "holders": Kind.MEMBERS,
    "assignor": Kind.ASSIGNOR,
    **dict.fromkeys(
        (
            *("topic", "partition", "partitions", "missing", "members", "epochs", "key_type"),
            *("other", "epoch", "target_epoch", "assignment_epoch", "previous", "before"),
            *("kind", "protocol", "what", "ms", "timeout_ms", "ts_ms", "records", "offsets"),
            *("kept_leader_epoch", "dropped_leader_epoch", "found"),
        ),
        Kind.CLEAR,
    ),
}
"""Parameter -> what it is, in every sentence. One that is not here is hidden whole."""

_PARAMETER: Final = re.compile(r"\{(\w+)\}")


def parameters_of(code: str) -> tuple[str, ...]:
    """Names of the parameters of a sentence, in its order."""
    return tuple(_PARAMETER.findall(SENTENCES[code]))


def of_kind(kind: Kind) -> list[str]:
    """The parameters that are of a kind."""
    return [name for name, its in PARAMETERS.items() if its is kind]


def said_columns() -> list[Column]:
    """detail, detail_code and detail_params of rows with detail_code, detail_names and
    detail_values, as facts have them. detail is "" where the sentence lacks a parameter.
    """
    params = sf.map_from_arrays("detail_names", "detail_values")
    return [
        sf.coalesce(rendered(sf.col("detail_code"), params), sf.lit("")).alias("detail"),
        sf.col("detail_code"),
        params.alias("detail_params"),
    ]


def rendered(code: Column, params: Column) -> Column:
    """The sentence of a code. NULL where the code is, or a parameter is missing."""
    # Words and names of parameters take turns, words first.
    pieces = {each: _PARAMETER.split(template) for each, template in SENTENCES.items()}
    templates = sf.from_json(sf.lit(json.dumps(pieces)), "map<string, array<string>>")

    def shown(piece: Column, place: Column) -> Column:
        value = sf.element_at(params, piece)
        listed = sf.array_join(sf.from_json(value, "array<string>"), ", ")
        return sf.when(place % 2 == 0, piece).otherwise(
            sf.when(piece.isin(of_kind(Kind.MEMBERS)), listed).otherwise(value)
        )

    return sf.aggregate(
        sf.transform(sf.element_at(templates, code), shown),
        sf.lit(""),
        lambda text, piece: sf.concat(text, piece),
    )


def sorted_params(name: str) -> str:
    """SQL of a map as text, for digests: maps have no order and cannot be compared."""
    return f"to_json(array_sort(map_entries(`{name}`)))"
