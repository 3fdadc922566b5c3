"""What analysts must not see: every kind of column that holds it, and that no column of any table
was forgotten.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import ArrayType, BinaryType, DataType, MapType, StringType, StructType

from groupreplay.config.model import PrivacyConfig
from groupreplay.evidence import classic_rebalances as rebalances
from groupreplay.report.catalog import SPECS
from groupreplay.report.words.privacy import (
    FIELDS,
    LEFT_OUT,
    MEMBERS,
    HashKeys,
    hash_keys,
    hidden,
)
from groupreplay.report.words.quotes import QUOTES
from groupreplay.report.words.sentences import (
    OF_CODES,
    PARAMETERS,
    SENTENCES,
    Kind,
)
from groupreplay.tables.schemas import PUBLIC, table_schema
from tests.support.log_lines import recorded_lines

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
        spark, "revocation_latencies", "member_id STRING, client_id STRING", (RANDOM, RANDOM)
    ) == [(client, client)]


QUOTED: dict[str, str | None] = {
    "the consumer is being closed": None,
    "consumer poll timeout has expired.": None,
    "SESSION_EXPIRED": None,
    f"need to re-join with the given member-id: billing-{UUID}": f"need to re-join with the given member-id: {named('billing')}",
    f"need to re-join with the given member-id: {RANDOM}": None,
    "rebalance failed due to NotCoordinatorException": None,
    "encountered FENCED_INSTANCE_ID from HEARTBEAT response": None,
    "triggered followup rebalance scheduled for 1795239831537": None,
    "Shutdown requested": None,
    "Active tasks corrupted": None,
    "rebalance failed due to AnnsException": "..",
    "Partitions were left unassigned.": None,
    "Failed to compute a new target assignment for epoch 7: Index 3 out of bounds for"
    " length 3.": None,
    f"Static member {RANDOM} with instance id ann cannot join the group because the"
    f" instance id is owned by b-{UUID} member.": f"Static member {RANDOM} with instance id .. cannot join the group because the"
    f" instance id is owned by {named('b')} member.",
    f"Member {RANDOM} is not a member of group orders.": f"Member {RANDOM} is not a member of group ..",
    "the consumer is being closed by ann": "..",
    "the consumer is being\nclosed": "..",
    "{member}": "..",
    "3": "..",
    "the": "..",
    "h:0123456789abcdef01234567": "..",
    "no name": "..",
    "": "",
}
"""Text -> what is shown of it, None: all."""


def test_quotes_are_kafkas_own_texts_as_a_whole(spark: SparkSession) -> None:
    rows = [(text,) for text in QUOTED]
    wanted = [(text if becomes is None else becomes,) for text, becomes in QUOTED.items()]
    assert shown(spark, "refusals", "message STRING", *rows, (None,)) == [*wanted, (None,)]
    ddl = "reason STRING, client_reason STRING"
    twice = [(row[0], row[0]) for row in wanted]
    assert shown(spark, "rebalances", ddl, *[(row[0], row[0]) for row in rows]) == twice


def test_ids_in_quotes_are_ids_where_none_is_hidden(spark: SparkSession) -> None:
    says = "need to re-join with the given member-id: "
    rows = [(says + each,) for each in (f"billing-{UUID}", RANDOM, "User:ann")]
    found = shown(spark, "members", "client_reason STRING", *rows, using=keys("principal"))
    assert found == [rows[0], rows[1], (f"{says}..",)]


FAULTY: dict[str, str | None] = {
    "value of type 8, version 4: a length of 7 where 3 bytes are left": None,
    "key: 1 bytes, too short for a type": None,
    "value of type 2, version 3: no generation": None,
    '\'{"clientId":"billing"}\' is no text': ".. is no text",
    "value of type 2, version 3: 'ann' is no number of 0 to 7": "value of type 2, version 3: .. is no number of 0 to 7",
    "clientId is no text": None,
    "streams user data of 2 members, subscription: 3 bytes too many": None,
    "streams user data of 1 member, assignment: NEWER_STREAMS_METADATA: version 12, latest 13": None,
    "streams user data of 1 member, assignment: ann": "..",
    "the JSON is broken, cut or none, and so 12 more lines": None,
    "cannot be opened: FileNotFoundError: /home/ann": "cannot be opened: ..",
    "offset 4 in a batch of 5 to 6, after 3": None,
    "ann's laptop": "..",
}
"""Text -> what is shown of it, None: all."""


def test_faults_keep_the_words_of_this_package(spark: SparkSession) -> None:
    rows = [(text,) for text in FAULTY]
    wanted = [(text if becomes is None else becomes,) for text, becomes in FAULTY.items()]
    assert shown(spark, "undecoded", "reason STRING", *rows, (None,)) == [*wanted, (None,)]


SAID = "detail_code STRING, detail_params MAP<STRING, STRING>, detail STRING"


def told(spark: SparkSession, code: str, params: dict[str, str], **how: Any) -> tuple[Any, ...]:
    """detail_params and detail of an anomaly, hidden."""
    (row,) = shown(spark, "anomalies", SAID, (code, params, "in clear"), **how)
    assert row[0] == code
    return row[1:]


def test_sentences_are_rendered_of_hidden_parameters(spark: SparkSession) -> None:
    member, orders = f"billing-{UUID}", {"topic": "orders", "partition": "7"}
    found = told(spark, "GRANTED_WHILE_HELD", {**orders, "member": member, "holder": RANDOM})
    assert found == (
        {**orders, "member": named("billing"), "holder": RANDOM},
        f"orders-7 reaches {named('billing')} while {RANDOM} holds it",
    )
    epochs = {"epoch": "3", "before": "4"}
    whole = hashed("client_id", "billing-7")
    assert told(spark, "MEMBER_EPOCH_FALLS", {"member": "billing-7", **epochs}) == (
        {"member": whole, **epochs},
        f"{whole}: epoch 3 after 4",
    )
    in_clear = told(
        spark, "MEMBER_EPOCH_FALLS", {"member": member, **epochs}, using=keys("principal")
    )
    assert in_clear == ({"member": member, **epochs}, f"{member}: epoch 3 after 4")
    sync = {"assignor": "ann's", "member": "", "members": "2"}
    assert told(spark, "SYNC_INCOMPLETE", sync) == (
        {**sync, "assignor": ".."},
        "protocol .., leader  of 2 members",
    )
    assert told(spark, "SYNC_INCOMPLETE", {**sync, "assignor": "range"})[1] == (
        "protocol range, leader  of 2 members"
    )


HOSTILE = (
    "ann",
    "ann's laptop",
    "{member}",
    "{holder}{topic}",
    "a\nb {epoch}",
    "is",
    "epoch",
    "3",
    "range",
    'a", "b',
    "a, b",
    "\\1 $0",
    "h:0123456789abcdef01234567",
    f"h:0123456789abcdef01234567-{UUID}",
    f"{{member}} ann-{UUID}",
)


def test_no_name_of_a_client_is_in_a_sentence(spark: SparkSession) -> None:
    """Whatever a client calls itself, in every parameter that names one."""
    shown_as_it_is = (Kind.CLEAR, Kind.LIST)
    lists = (Kind.MEMBERS, Kind.HOSTS)
    rows: list[tuple[Any, ...]] = []
    wanted: list[tuple[Any, ...]] = []
    for value in HOSTILE:
        becomes = hashed("client_id", value)
        if value.endswith(f"-{UUID}"):
            becomes = named(value.removesuffix(f"-{UUID}"))
        for code in SENTENCES:
            kinds = {
                name: OF_CODES.get((code, name)) or PARAMETERS[name] for name in parameters_of(code)
            }
            params = {
                name: json.dumps([value, "b"]) if kind in lists else value
                for name, kind in kinds.items()
                if kind not in shown_as_it_is
            }
            hosts = [hashed("client_host", each) for each in (value, "b")]
            hides = {
                Kind.MEMBER: becomes,
                Kind.MEMBERS: json.dumps([becomes, hashed("client_id", "b")]).replace(" ", ""),
                Kind.HOSTS: json.dumps(hosts).replace(" ", ""),
                Kind.ASSIGNOR: value if value == "range" else LEFT_OUT,
                Kind.QUOTE: LEFT_OUT,
            }
            clear = {name: "7" for name in kinds if name not in params}
            hidden_params = {name: hides[kinds[name]] for name in params}
            rows.append((code, {**params, **clear}, "in clear"))
            texts = {
                name: ", ".join(json.loads(each)) if kinds[name] in lists else each
                for name, each in hidden_params.items()
            }
            sentence = SENTENCES[code]
            between, *clauses = ("", sentence) if isinstance(sentence, str) else sentence
            said = between.join(clauses).format_map({**texts, **clear})
            wanted.append((code, {**hidden_params, **clear}, said))
    found = shown(spark, "anomalies", SAID, *rows)
    assert [each for each, want in zip(found, wanted, strict=True) if each != want] == []


def test_every_parameter_of_a_sentence_has_a_kind() -> None:
    used = {name for code in SENTENCES for name in parameters_of(code)}
    assert used == set(PARAMETERS)
    assert all(name in parameters_of(code) for code, name in OF_CODES)


def test_what_no_sentence_knows_is_left_out(spark: SparkSession) -> None:
    assert told(spark, "GENERATION_FALLS", {"epoch": "3", "before": "4", "who": "ann"}) == (
        {"epoch": "3", "before": "4", "who": ".."},
        "generation 3 after 4",
    )
    assert told(spark, "NO_SUCH_CODE", {"member": "ann"})[1] == ".."
    assert told(spark, "GENERATION_FALLS", {"epoch": "3"})[1] == ".."


def test_raw_bytes_and_odd_loggers_are_left_out(spark: SparkSession) -> None:
    assert shown(
        spark, "undecoded", "raw BINARY, raw_bytes BIGINT", (bytearray(b"billing"), 7)
    ) == [(None, 7)]
    loggers = {"kafka.server.KafkaServer": 2, "root": 1, "User:ann": 1, "10.0.0.7": 1}
    assert shown(spark, "coverage", "loggers MAP<STRING, BIGINT>", (loggers,)) == [
        ({"kafka.server.KafkaServer": 2, "root": 1},)
    ]


def test_kinds_of_reasons_are_quotes() -> None:
    assert set(rebalances._CAUSES) <= set(QUOTES)


@pytest.mark.parametrize("recording", ["classic-3.9", "consumer-4.3", "other-groups-4.2"])
def test_what_recorded_clients_and_brokers_say_is_known(
    spark: SparkSession, recording: str
) -> None:
    """All of it is Kafka's own: nothing of it is left out as a whole."""
    events = [line.event for lines in recorded_lines(recording).values() for line in lines]
    said = {each.client_reason or "" for each in events}
    kinds = ("CONSUMER_GROUP_HEARTBEAT", "TARGET_FAILED", "UPGRADE_REFUSED", "STATIC_MEMBER_FENCED")
    said |= {each.detail or "" for each in events if each.event in kinds}
    rows = [(text,) for text in sorted(said)]
    assert rows
    found = shown(spark, "refusals", "message STRING", *rows)
    assert [row for row, hides in zip(rows, found, strict=True) if hides == (LEFT_OUT,)] == []


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


@pytest.mark.parametrize(
    ("identity", "field", "becomes"),
    [
        ("client:a b /10.0.0.7", "client_host", "client:a b {/10.0.0.7}"),
        ("client:a b /10.0.0.7", "client_id", "client:{a b} /10.0.0.7"),
        ("client:a b /10.0.0.7", "instance_id", "client:a b /10.0.0.7"),
        ("client:instance:x\n member:y", "client_host", "client:instance:x\n {member:y}"),
        ("instance:i 1", "instance_id", "instance:{i 1}"),
        ("instance:i 1", "client_host", "instance:i 1"),
        (f"member:{RANDOM}", "client_id", f"member:{RANDOM}"),
        (f"member:app-{UUID}", "client_id", f"member:{{app}}-{UUID}"),
        (f"member:app-{UUID}", "client_host", f"member:app-{UUID}"),
        ("who", "client_host", "h:"),
        (None, "client_host", None),
    ],
)
def test_an_identity_is_hidden_part_by_part(
    spark: SparkSession, identity: str | None, field: str, becomes: str | None
) -> None:
    """Each part as the column that holds the same; what is of no known form is hashed whole."""
    ((found,),) = shown(
        spark, "static_accounting", "identity STRING", (identity,), using=keys(field)
    )
    if becomes == "h:":
        assert found == hashed("client_id", identity or "")
        return
    of = "client_host" if field == "client_host" else "client_id"
    wanted = becomes and re.sub("{(.*?)}", lambda part: hashed(of, part[1]), becomes)
    assert found == wanted


def test_members_of_streams_tables_are_hidden(spark: SparkSession) -> None:
    member, ddl = f"app-StreamThread-1-consumer-{UUID}", "{} STRING"
    columns = {
        "streams_rebalances": ("cause_member_id", "leader_member_id", "next_member_id"),
        "task_assignments": ("member_id", "next_member_id"),
        "task_handovers": ("from_member_id", "to_member_id"),
    }
    becomes = named("app-StreamThread-1-consumer")
    for table, names in columns.items():
        for name in names:
            assert shown(spark, table, ddl.format(name), (member,)) == [(becomes,)], name
    ids = {
        "streams_rebalances": ("cause_process_id", "leader_process_id"),
        "task_assignments": ("process_id", "next_process_id"),
        "task_handovers": ("from_process_id", "to_process_id"),
        "members": ("process_id",),
    }
    for table, names in ids.items():
        for name in names:
            found = shown(spark, table, ddl.format(name), (UUID,), ("ann",))
            assert found == [(UUID,), (hashed("client_id", "ann"),)], name


def test_a_parameter_is_what_its_sentence_takes_it_for(spark: SparkSession) -> None:
    """`members` counts them but in one sentence, which names them."""
    lower = json.dumps([f"app-{UUID}", RANDOM])
    params = {"lowest": "10", "highest": "11", "members": lower}
    assert told(spark, "VERSIONS", params)[1] == (
        f"metadata versions 10 and 11; the lower one: {named('app')}, {RANDOM}"
    )
    found = told(spark, "VERSIONS", params, using=keys("principal"))
    assert found[1].endswith(f"app-{UUID}, {RANDOM}")
    assert told(spark, "TWO_HOSTS", {"process": UUID, "hosts": '["/a"]'})[1] == (
        f"process {UUID} is on {hashed('client_host', '/a')}"
    )
    clear = told(spark, "TWO_HOSTS", {"process": UUID, "hosts": '["/a"]'}, using=keys("client_id"))
    assert clear[1] == f"process {UUID} is on /a"
    assert told(spark, "LEARNERS", {"learners": '["0_1","0_2"]'}) == (
        {"learners": '["0_1","0_2"]'},
        "still learning: 0_1, 0_2",
    )
    assert told(spark, "FALLBACK_ASSIGNOR", {})[1] == (
        "fallback: the leader could not fetch the lags of tasks"
    )


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


def parameters_of(code: str) -> list[str]:
    """Names of the parameters of a sentence, in its order."""
    return re.findall(r"\{(\w+)\}", "".join(SENTENCES[code]))
