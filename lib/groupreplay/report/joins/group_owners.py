"""Named step: which team owns a group, by the first pattern of the owners file that its id matches,
in every table about groups.

Patterns are tried once a group and not once a row: a fleet has thousands of groups, its tables have
millions of rows, and its file may have thousands of patterns. So the teams of a night's groups are
one small frame, which every table is joined with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.config.group_patterns import is_literal, pattern_regex
from groupreplay.config.model import Owner

COLUMNS: Final = ("team", "contact")
_DDL: Final = "group_id STRING, team STRING, contact STRING"


def owners(group_ids: DataFrame, rules: Sequence[Owner]) -> DataFrame:
    """group_id, team, contact: a row for each group that a rule matches.

    group_ids: a column group_id, with repetitions and NULLs.
    """
    groups = group_ids.where(sf.col("group_id").isNotNull()).distinct()
    return groups.mapInArrow(_matched(tuple(rules)), _DDL)


def with_owners(frame: DataFrame, known: DataFrame | None) -> DataFrame:
    """The frame of a table with a row for something of one group, with team and contact.

    known: what `owners` gave, None where there is no owners file.
    """
    if known is None:
        return frame.withColumns({name: sf.lit(None).cast("string") for name in COLUMNS})
    own = known.select(sf.col("group_id").alias("_owned_id"), *COLUMNS)
    return frame.join(sf.broadcast(own), sf.col("group_id") == sf.col("_owned_id"), "left").drop(
        "_owned_id"
    )


def first_match(rules: Sequence[Owner]) -> Callable[[str], Owner | None]:
    """Group id -> the first rule that matches it. Rules without wildcards are looked up, so that
    only the others cost time.
    """
    literal: dict[str, int] = {}
    wild = []
    for place, rule in enumerate(rules):
        if is_literal(rule.pattern):
            literal.setdefault(rule.pattern, place)
        else:
            wild.append((place, re.compile(pattern_regex(rule.pattern)).fullmatch))

    def match(group_id: str) -> Owner | None:
        known = literal.get(group_id, len(rules))
        place = next(
            (place for place, matches in wild if place > known or matches(group_id)), known
        )
        place = min(place, known)
        return rules[place] if place < len(rules) else None

    return match


def _matched(
    rules: tuple[Owner, ...],
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def matched(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        match = first_match(rules)
        for batch in batches:
            found = [
                (group_id, rule)
                for group_id in batch.column(0).to_pylist()
                if (rule := match(group_id)) is not None
            ]
            columns = (
                [group_id for group_id, _ in found],
                [rule.team for _, rule in found],
                [rule.contact for _, rule in found],
            )
            yield pa.RecordBatch.from_arrays(
                [pa.array(values, pa.string()) for values in columns], ["group_id", *COLUMNS]
            )

    return matched
