"""What analysts must not see: every kind of column that holds it, and that no column of any table
was forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import ArrayType, BinaryType, DataType, MapType, StringType, StructType

from groupreplay.config.model import PrivacyConfig
from groupreplay.report.catalog import SPECS
from groupreplay.report.words.privacy import (
    FIELDS,
    MEMBERS,
    hash_keys,
    hidden,
)
from groupreplay.tables.schemas import PUBLIC, table_schema
from tests.report.words.hiding import (
    RANDOM,
    SALT,
    UUID,
    hashed,
    keys,
    named,
    shown,
)

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


BECOMES = {
    f"billing-{UUID}": named("billing"),
    f"a, b-{UUID}, c\nd-{UUID}": named(f"a, b-{UUID}, c\nd"),
    RANDOM: RANDOM,
    UUID: UUID,
    "": "",
    None: None,
    "billing": hashed("client_id", "billing"),
    f"billing-{UUID}\n": hashed("client_id", f"billing-{UUID}\n"),
    f"billing-{UUID.upper()}": hashed("client_id", f"billing-{UUID.upper()}"),
    "finance-department-ann": hashed("client_id", "finance-department-ann"),
}
"""Member id -> what stands for it."""


def test_member_ids_keep_nothing_but_what_is_random(spark: SparkSession) -> None:
    ddl = (
        "next_member_id STRING, waiting_on ARRAY<STRING>, blockers ARRAY<STRUCT<member_id: STRING,"
        " client_host: STRING>>"
    )
    rows = [(member, [member, RANDOM], [(member, "/h")]) for member in BECOMES]
    host = hashed("client_host", "/h")
    assert shown(spark, "members", ddl, *rows) == [
        (becomes, [becomes, RANDOM], [(becomes, host)]) for becomes in BECOMES.values()
    ]
    assert shown(spark, "members", ddl, *rows, using=keys("principal")) == rows


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
        spark, "revocation_latencies", "member_id STRING, client_id STRING", (RANDOM, RANDOM)
    ) == [(client, client)]


def test_raw_bytes_and_odd_loggers_are_left_out(spark: SparkSession) -> None:
    assert shown(
        spark, "undecoded", "raw BINARY, raw_bytes BIGINT", (bytearray(b"billing"), 7)
    ) == [(None, 7)]
    loggers = {"kafka.server.KafkaServer": 2, "root": 1, "User:ann": 1, "10.0.0.7": 1}
    assert shown(spark, "coverage", "loggers MAP<STRING, BIGINT>", (loggers,)) == [
        ({"kafka.server.KafkaServer": 2, "root": 1},)
    ]


def test_hosts_and_tags_of_processes_are_hidden(spark: SparkSession) -> None:
    ddl = "process_id STRING, hosts ARRAY<STRING>, endpoint STRING, client_tags MAP<STRING, STRING>"
    row = (UUID, ["/10.0.0.7", None], "ann:8080", {"rack": "ann's"})
    tags = {hashed("client_host", "rack"): hashed("client_host", "ann's")}
    host, endpoint = hashed("client_host", "/10.0.0.7"), hashed("client_host", "ann:8080")
    found = shown(spark, "streams_processes", ddl, row, ("ann's", [], None, {}))
    assert found == [
        (UUID, [host, None], endpoint, tags),
        (hashed("client_id", "ann's"), [], None, {}),
    ]
    (of_users,) = shown(spark, "streams_processes", ddl, row, using=keys("principal"))
    assert of_users == (*row[:3], tags), "whatever is hidden, a tag may say it"


IDENTITIES = (
    ("client:a b /10.0.0.7", "client_host", "client:a b {/10.0.0.7}"),
    ("client:a b /10.0.0.7", "client_id", "client:{a b} /10.0.0.7"),
    ("client:a b /10.0.0.7", "instance_id", "client:a b /10.0.0.7"),
    ("client:instance:x\n member:y", "client_host", "client:instance:x\n {member:y}"),
    ("instance:i 1", "instance_id", "instance:{i 1}"),
    ("instance:i 1", "client_host", "instance:i 1"),
    (f"member:{RANDOM}", "client_id", f"member:{RANDOM}"),
    (f"member:app-{UUID}", "client_id", f"member:{{app}}-{UUID}"),
    (f"member:app-{UUID}", "client_host", f"member:app-{UUID}"),
    ("who", "client_host", None),
    (None, "client_host", None),
)
"""What stands there, what is hidden, and what becomes of it, with what is hashed in braces; None: it
is hashed whole.
"""


@pytest.mark.parametrize("field", sorted({field for _, field, _ in IDENTITIES}))
def test_an_identity_is_hidden_part_by_part(spark: SparkSession, field: str) -> None:
    """Each part as the column that holds the same; what is of no known form is hashed whole."""
    of = "client_host" if field == "client_host" else "client_id"

    def wanted(identity: str | None, becomes: str | None) -> str | None:
        if becomes is None:
            return identity and hashed("client_id", identity)
        return re.sub("{(.*?)}", lambda part: hashed(of, part[1]), becomes)

    cases = [(identity, becomes) for identity, named, becomes in IDENTITIES if named == field]
    rows = [(identity,) for identity, _ in cases]
    found = shown(spark, "static_accounting", "identity STRING", *rows, using=keys(field))
    assert found == [(wanted(*case),) for case in cases]


def test_members_of_streams_tables_are_hidden(spark: SparkSession) -> None:
    members = {
        "streams_rebalances": ("cause_member_id", "leader_member_id", "next_member_id"),
        "task_assignments": ("member_id", "next_member_id"),
        "task_handovers": ("from_member_id", "to_member_id"),
    }
    processes = {
        "streams_rebalances": ("cause_process_id", "leader_process_id"),
        "task_assignments": ("process_id", "next_process_id"),
        "task_handovers": ("from_process_id", "to_process_id"),
        "members": ("process_id",),
    }
    member, becomes = f"app-StreamThread-1-consumer-{UUID}", named("app-StreamThread-1-consumer")
    ann = hashed("client_id", "ann")
    for table, of_processes in processes.items():
        of_members = members.get(table, ())
        ddl = ", ".join(f"{name} STRING" for name in (*of_members, *of_processes))
        rows = [
            (*[member] * len(of_members), *[process] * len(of_processes))
            for process in (UUID, "ann")
        ]
        assert shown(spark, table, ddl, *rows) == [
            (*[becomes] * len(of_members), *[process] * len(of_processes))
            for process in (UUID, ann)
        ], table


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
    here or in `report.words.privacy`.
    """
    special = {("refusals", "subject"), ("undecoded", "raw"), ("coverage", "loggers")}
    spec = SPECS[table]
    said = {name for each in spec.sentences for name in each}
    texts = spec.quotes | spec.faults
    known = FIELDS | MEMBERS | CLEAR | spec.members | spec.hosts | spec.tags | texts
    known |= spec.clear | spec.assignors | spec.identities | said
    found = set(_texts(table_schema(spark, table).struct, ""))
    for name in found - known:
        assert (table, name) in special, f"{table}.{name}: may it hold what is hidden?"
    named = spec.members | spec.hosts | spec.tags | texts | spec.clear | spec.assignors | said
    named |= spec.identities
    assert named <= found, "the spec names columns of the table"


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
        "core",
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
