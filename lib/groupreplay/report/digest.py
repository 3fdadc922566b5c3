"""Order-free digests of tables, to say that two runs gave the same rows (docs/measures.md).

A row is hashed over its key and contract columns, and the hashes are summed mod 2^64: the sum of
two disjoint parts is that of the whole, so a night adds its final rows to those of the nights
before. Left out, since they depend on how the input was cut into nights: names of runs and nights,
is_final, times of first sight, and learnt names (a topic is its id where it has one).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as sf

from groupreplay.report.table_spec import TableSpec

LOG: Final = "log_incarnation"
"""Hashed where it is not NULL: rows of a topic that was never created again have the digest that
they had before there was this column.
"""

GROUP: Final = (
    "group_id",
    LOG,
    "incarnation",
    "offsets_partition",
    "from_offset",
    "to_offset",
    "start_observed",
)
"""What the digest of a table of groups' facts begins with."""

MEMBER: Final = ("member_id", "instance_id", "client_id", "client_host", "member_protocol")
EPISODE: Final = ("reason", "since_at", "until_at", "stuck_ms", "is_open")

TOPIC: Final = "coalesce(topic_id, topic)"
"""A topic is its id where it has one: a name is learnt on one night or another."""

_HALF: Final = 0xFFFF_FFFF
_MODULUS: Final = 1 << 64

EMPTY: Final = "0" * 16
"""Digest of no rows."""


def unordered(name: str) -> str:
    """Expression for an array of text whose order says nothing."""
    return rf"concat_ws('\0', sort_array(`{name}`))"


def row_hash(spec: TableSpec) -> Column:
    """64-bit hash of one row. Spark's hash passes over NULLs, so each column is hashed together
    with whether it is one.
    """
    return sf.expr(hash_sql(spec.digest))


def hash_sql(digest: Sequence[str]) -> str:
    """The SQL of `row_hash`.

    digest: what a row's hash is made of, as in `TableSpec`.
    """
    values = [f"`{each}`" if each.isidentifier() else each for each in digest if each != LOG]
    hashed = [f"{value}, {value} IS NULL" for value in values] + [LOG] * (LOG in digest)
    # As one text: built of columns, a night's digests are thousands of calls of Java.
    return f"xxhash64({', '.join(hashed)})"


def digest_of(hashes: str) -> Column:
    """An aggregate: row hashes (SQL of a BIGINT, NULL counts for nothing) summed mod 2^64, as 16
    hex digits.

    The halves are summed apart, because a sum past BIGINT is an error in Spark.
    """
    low = f"coalesce(sum({hashes} & {_HALF}L), 0L)"
    high = f"coalesce(sum(shiftrightunsigned({hashes}, 32)), 0L)"
    carried = f"shiftleft(({high} + shiftright({low}, 32)) & {_HALF}L, 32)"
    # Not lower(hex(..)): the first call of lower keeps Spark's scheduler busy for two seconds,
    # making tables of all letters there are.
    return sf.expr(f"format_string('%016x', {carried} | ({low} & {_HALF}L))")


def add_digests(*digests: str) -> str:
    """Digest of the union of disjoint parts."""
    return f"{sum(int(digest, 16) for digest in digests) % _MODULUS:016x}"


def observed(frame: DataFrame, spec: TableSpec, observation: Observation) -> DataFrame:
    """The same frame; when it is written, `observation` has rows, rows_final, and for tables with a
    digest, digest and digest_final.
    """
    is_final = "is_final" if "is_final" in frame.columns else str(spec.are_rows_final)
    counts = [
        sf.expr("count(1)").alias("rows"),
        sf.expr(f"count_if({is_final})").alias("rows_final"),
    ]
    if not spec.digest:
        return frame.observe(observation, *counts)
    digests = [
        digest_of("_row_hash").alias("digest"),
        digest_of(f"if({is_final}, _row_hash, NULL)").alias("digest_final"),
    ]
    return (
        frame.withColumn("_row_hash", row_hash(spec))
        .observe(observation, *counts, *digests)
        .drop("_row_hash")
    )
