"""What analysts must not see: every kind of column that holds it, and that no column of any table
was forgotten.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import ArrayType, BinaryType, DataType, MapType, StringType, StructType

from groupreplay.config.model import PrivacyConfig
from groupreplay.evidence import classic_rebalances as rebalances
from groupreplay.replay.rules.rule_table import RULES
from groupreplay.report.catalog import SPECS
from groupreplay.report.joins.privacy import (
    FIELDS,
    MEMBERS,
    RULES_OF_PARTITIONS,
    HashKeys,
    hash_keys,
    hidden,
)
from groupreplay.report.joins.private_words import WORDS
from groupreplay.tables.schemas import PUBLIC, table_schema

SALT = "a salt of this test"
UUID = "01234567-89ab-cdef-0123-456789abcdef"
RANDOM = "+oSCpi8lQLeQT5Sz8wJzgg"
ALL_THREE = ("client_host", "client_id", "principal")

CLEAR = {
    *(
        "cluster",
        "group_id",
        "group_ids",
        "rule",
        "severity",
        "path",
        "event",
        "source",
        "input",
        "topic",
        "topic_id",
        "api",
        "error",
        "refusal",
    ),
    *(
        "protocol",
        "member_protocol",
        "phase",
        "last_phase",
        "direction",
        "mode",
        "cause",
        "confidence",
        "outcome",
        "state",
        "group_state",
    ),
    *(
        "end_reason",
        "end_detail",
        "end_confidence",
        "software_name",
        "software_version",
        "encoding",
    ),
    *("team", "contact"),
}
"""Columns that hold words of this package, of Kafka, of who configured it, or what is not hidden by
design.
"""

OF_RUNS = {
    "run_id",
    "holder",
    "code_version",
    "config_hash",
    "config",
    "plan",
    "table_versions",
    "counts",
    "timings",
    "digest",
    "digest_final",
}


def keys(*fields: str, salt: str = SALT) -> HashKeys:
    found = hash_keys(PrivacyConfig(hash=fields or ALL_THREE, salt=salt))
    assert found is not None
    return found


def hashed(field: str, value: str) -> str:
    """As docs/configuration.md says it."""
    key = hmac.new(SALT.encode(), field.encode(), "sha256").hexdigest()
    return "h:" + hashlib.sha256((key + value).encode()).hexdigest()[:24]


def named(prefix: str) -> str:
    """A member id that began with this."""
    return f"{hashed('client_id', prefix)}-{UUID}"


def shown(
    spark: SparkSession, table: str, ddl: str, *rows: tuple[Any, ...], using: HashKeys | None = None
) -> list[tuple[Any, ...]]:
    frame = spark.createDataFrame(
        [(number, *row) for number, row in enumerate(rows)], f"n INT, {ddl}"
    ).coalesce(1)
    result = hidden(SPECS[table], frame, using or keys())
    assert result.columns == frame.columns
    return [tuple(row)[1:] for row in result.orderBy("n").collect()]


def test_fields_are_hashed_alike_everywhere_and_null_stays_null(spark: SparkSession) -> None:
    ddl = (
        "client_id STRING, client_host STRING, principal STRING, instance_id STRING, group_id"
        " STRING"
    )
    row = ("billing", "/10.0.0.7", "User:ann", "i-1", "g")
    client, host, user = (
        hashed("client_id", "billing"),
        hashed("client_host", "/10.0.0.7"),
        hashed("principal", "User:ann"),
    )
    assert shown(spark, "members", ddl, row, (None,) * 5) == [
        (client, host, user, "i-1", "g"),
        (None,) * 5,
    ]
    assert shown(spark, "members", ddl, row, using=keys("principal")) == [
        ("billing", "/10.0.0.7", user, "i-1", "g")
    ]
    assert shown(spark, "members", ddl, row, using=keys("instance_id"))[0][3] == hashed(
        "client_id", "i-1"
    )
    assert hidden(SPECS["members"], spark.createDataFrame([row], ddl), None).collect() == [row]


@pytest.mark.parametrize(
    ("member", "becomes"),
    [
        (f"billing-{UUID}", named("billing")),
        (f"a, b-{UUID}, c\nd-{UUID}", named(f"a, b-{UUID}, c\nd")),
        (RANDOM, RANDOM),
        (UUID, UUID),
        ("", ""),
        (None, None),
        ("billing", hashed("client_id", "billing")),
        (f"billing-{UUID}\n", hashed("client_id", f"billing-{UUID}\n")),
        (f"billing-{UUID.upper()}", hashed("client_id", f"billing-{UUID.upper()}")),
        ("finance-department-ann", hashed("client_id", "finance-department-ann")),
    ],
)
def test_member_ids_keep_nothing_but_what_is_random(
    spark: SparkSession, member: str | None, becomes: str | None
) -> None:
    ddl = (
        "next_member_id STRING, waiting_on ARRAY<STRING>, blockers ARRAY<STRUCT<member_id: STRING,"
        " client_host: STRING>>"
    )
    row = (member, [member, RANDOM], [(member, "/h")])
    (found,) = shown(spark, "members", ddl, row)
    assert found == (becomes, [becomes, RANDOM], [(becomes, hashed("client_host", "/h"))])
    assert shown(spark, "members", ddl, row, using=keys("principal")) == [row]


def test_who_asks_is_told_by_what_stands_beside(spark: SparkSession) -> None:
    ddl = "subject STRING, member_id STRING, client_id STRING, instance_id STRING"
    client = hashed("client_id", RANDOM)
    rows = [
        (RANDOM, None, RANDOM, None),  # a client that is called like a random id
        (f"c-{UUID}", f"c-{UUID}", "c", None),
        ("i-1", RANDOM, "c", "i-1"),
        ("both", None, "both", "both"),
        ("", None, None, None),
    ]
    c, both = hashed("client_id", "c"), hashed("client_id", "both")
    assert shown(spark, "refusals", ddl, *rows) == [
        (client, None, client, None),
        (f"{c}-{UUID}", f"{c}-{UUID}", c, None),
        ("i-1", RANDOM, c, "i-1"),
        (both, None, both, "both"),
        ("", None, None, None),
    ]
    assert shown(spark, "refusals", ddl, rows[2], using=keys("instance_id"))[0][0] == hashed(
        "client_id", "i-1"
    )
    assert shown(
        spark, "stuck_members", "member_id STRING, client_id STRING", (RANDOM, RANDOM)
    ) == [(client, client)]


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("the consumer is being closed", None),
        (
            f"need to re-join with the given member-id: billing-{UUID}",
            f"need to re-join with the given member-id: {named('billing')}",
        ),
        (f"need to re-join with the given member-id: {RANDOM}", None),
        ("rebalance failed due to NotCoordinatorException", None),
        ("rebalance failed due to IllegalStateException", None),
        ("rebalance failed due to AnnsException", "rebalance failed due to .."),
        ("2 attempts, the last for epoch 7: Partitions were left unassigned.", None),
        (
            "2 attempts, the last for epoch 7: no rack for billing at ann's.",
            "2 attempts, the last for epoch 7: no .. for .. at ..",
        ),
        (
            (
                "Failed to compute a new target assignment for epoch 7: Index 3 out of bounds for"
                " length 3."
            ),
            None,
        ),
        (
            "ann's laptop at /10.0.0.7:9092 (billing) left, 10.0.0.7 it was",
            ".. at .. left, .. it was",
        ),
        (
            f"nobody joined; missing: a-{UUID}, b-{UUID}",
            f"nobody joined; missing: {named('a')}, {named('b')}",
        ),
        ("POLICY: 3 attempts", None),
        (
            f"Member {RANDOM} is not a member of group orders.",
            f"Member {RANDOM} is not a member of group ..",
        ),
        ('\'{"clientId":"billing"}\' is no text', ".. is no text"),
        ("kept leader epoch 3, dropped 2", None),
        ("", None),
    ],
)
def test_texts_keep_the_words_that_kafka_and_this_package_write(
    spark: SparkSession, text: str, becomes: str | None
) -> None:
    for table, column in (
        ("stuck_groups", "detail"),
        ("undecoded", "reason"),
        ("refusals", "message"),
    ):
        assert shown(spark, table, f"{column} STRING", (text,), (None,)) == [
            (text if becomes is None else becomes,),
            (None,),
        ]


def test_anomalies_keep_the_partition_they_begin_with(spark: SparkSession) -> None:
    member = f"billing-{UUID}"
    told = named("billing")
    rows = [
        ("I14", f"orders-7 reaches {member} while {RANDOM} holds it"),
        ("I7", "billing-7: epoch 3 after 4"),
        ("I7", f"{member}: epoch 3 after 4"),
    ]
    assert shown(spark, "anomalies", "rule STRING, detail STRING", *rows) == [
        ("I14", f"orders-7 reaches {told} while {RANDOM} holds it"),
        ("I7", ".. epoch 3 after 4"),
        ("I7", f"{told}: epoch 3 after 4"),
    ]
    assert set(RULES_OF_PARTITIONS) <= {rule.name.split("_")[0] for rule in RULES.values()} | set(
        RULES
    )


def test_raw_bytes_and_odd_loggers_are_left_out(spark: SparkSession) -> None:
    assert shown(
        spark, "undecoded", "raw BINARY, raw_bytes BIGINT", (bytearray(b"billing"), 7)
    ) == [(None, 7)]
    loggers = {"kafka.server.KafkaServer": 2, "root": 1, "User:ann": 1, "10.0.0.7": 1}
    assert shown(spark, "coverage", "loggers MAP<STRING, BIGINT>", (loggers,)) == [
        ({"kafka.server.KafkaServer": 2, "root": 1},)
    ]


def test_kinds_of_reasons_are_words() -> None:
    assert set(rebalances._CAUSES) <= WORDS


def test_salts_and_choices_are_told_apart_and_not_given_away() -> None:
    one, other = keys("client_id"), keys("client_id", salt=SALT + ".")
    assert len({one.fingerprint, other.fingerprint, keys("principal").fingerprint}) == 3
    assert hash_keys(PrivacyConfig()) is None
    assert SALT not in repr(one) + one.fingerprint
    assert not any(key in repr(one) for key in one.keys.values())


def test_salt_is_in_no_plan(spark: SparkSession) -> None:
    frame = hidden(
        SPECS["members"],
        spark.createDataFrame([("c", date(2026, 1, 1))], "client_id STRING, logical_date DATE"),
        keys(),
    )
    assert SALT not in str(frame._jdf.queryExecution().toString())


@pytest.mark.parametrize("table", [name for name in SPECS if name in PUBLIC])
def test_no_column_was_forgotten(spark: SparkSession, table: str) -> None:
    """A new column must be named in its table's spec, as clear or not, if its name is not known
    here or in `report.joins.privacy`.
    """
    special = {("refusals", "subject"), ("undecoded", "raw"), ("coverage", "loggers")}
    spec = SPECS[table]
    known = FIELDS | MEMBERS | CLEAR | spec.members | spec.texts | spec.clear
    found = set(_texts(table_schema(spark, table).struct, ""))
    for name in found - known:
        assert (table, name) in special, f"{table}.{name}: may it hold what is hidden?"
    assert spec.members | spec.texts | spec.clear <= found, "the spec names columns of the table"


def test_a_spec_names_members_that_no_other_table_has(spark: SparkSession) -> None:
    spec = replace(SPECS["members"], members=frozenset({"leaver"}))
    frame = spark.createDataFrame(
        [(f"c-{UUID}", [(f"c-{UUID}",)])], "leaver STRING, some ARRAY<STRUCT<leaver: STRING>>"
    )
    row = hidden(spec, frame, keys()).first()
    assert row is not None
    assert (row.leaver, row.some[0].leaver) == (named("c"), named("c"))


def test_runs_hold_what_was_looked_at(spark: SparkSession) -> None:
    assert set(_texts(table_schema(spark, "runs").struct, "")) == OF_RUNS | {
        "cluster",
        "state",
        "error",
    }


def _texts(kind: DataType, name: str) -> Iterator[str]:
    """Names of all columns, and fields of structs, that can hold text."""
    if isinstance(kind, StructType):
        for each in kind:
            yield from _texts(each.dataType, each.name)
    elif isinstance(kind, ArrayType):
        yield from _texts(kind.elementType, name)
    elif isinstance(kind, (StringType, BinaryType, MapType)):
        yield name
