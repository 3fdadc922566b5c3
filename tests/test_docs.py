"""The documents are in step with the code, and their examples are real.

A fenced block `records` quotes records of a shipped recording, a block `row` says what the replay
of that recording gives: both are derived from the segments again and compared. The rest: rules,
tables, columns, configuration keys, links and the files that documents name.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from pyspark.sql import SparkSession

from groupreplay.config.model import SOURCE_KINDS, Source
from groupreplay.limits import MAX_CHAIN_GAP_MS, MIN_STALL_MS
from groupreplay.records.classic import GroupMember, GroupMetadata
from groupreplay.records.consumer import (
    MEMBER_STATES,
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupRegularExpression,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMetadata,
    TopicPartitions,
)
from groupreplay.records.entries import Entry, Record
from groupreplay.records.offsets import OffsetCommit
from groupreplay.replay import facts
from groupreplay.replay.group_replay import GroupReplay
from groupreplay.replay.rules.rule_table import DETAILS, RULES
from groupreplay.report.catalog import SPECS
from groupreplay.report.joins.episodes import (
    CHAIN_THRESHOLDS,
    COUNT_THRESHOLDS,
    STALL_THRESHOLDS,
)
from groupreplay.report.joins.sentences import SOURCE_DETAILS, STUCK_DETAILS
from groupreplay.report.tables.anomalies import (
    CLOCK_JUMP,
    LATE_RECORDS,
    REPLICA_CONFLICT,
    TOPIC_RECREATED,
)
from groupreplay.sources.files import find_files
from groupreplay.sources.planning import plan_units
from groupreplay.sources.segments import segments
from groupreplay.tables.schemas import INTERNAL, table_schema
from groupreplay.tables.views import VIEWS
from groupreplay.wire.records.consumer_offsets import decode
from groupreplay.wire.records.results import Undecodable, UnknownType
from groupreplay.wire.segments.read_unit import read_unit
from groupreplay.workers.codecs import Codecs
from groupreplay.workers.files import open_file
from tests.support.base_config import load_base

ROOT: Final = Path(__file__).parent.parent
RECORDINGS: Final = ROOT / "tests" / "recordings"
DOCUMENTS: Final = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
CITING: Final = sorted(
    [
        *DOCUMENTS,
        *(ROOT / "tests").rglob("README.md"),
        *(ROOT / "schemas").rglob("*.sql"),
        *(path for path in (ROOT / "conf").iterdir() if path.suffix in {".yaml", ".conf"}),
    ]
)
"""Files whose text names other files of this repository."""

ROOMS: Final = frozenset(
    path.name
    for place in (ROOT, ROOT / "lib" / "groupreplay")
    for path in place.iterdir()
    if path.is_dir() and not path.name.startswith((".", "_")) and path.name not in ("build", "dist")
)
"""Folders of the top level and of the package, but for those that commands make."""

OTHER_RULES: Final = (
    REPLICA_CONFLICT,
    CLOCK_JUMP,
    LATE_RECORDS,
    TOPIC_RECREATED,
    "GROUP_IN_TWO_PARTITIONS",
    "NEGATIVE_DURATION",
)
"""Rules that are not of the protocol."""


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def schema_columns() -> dict[str, list[str]]:
    """table -> its columns, read off the indentation of schemas/*.sql."""
    return {
        path.stem: re.findall(r"^  (\w+) +[A-Z]", path.read_text(encoding="utf-8"), re.MULTILINE)
        for path in (ROOT / "schemas").glob("*.sql")
    }


# ---------------------------------------------------------------- names


def test_rules_are_those_of_the_code() -> None:
    rows = {
        row[0]: row[1]
        for row in re.findall(
            r"^\| `(\w+)` \| (ERROR|WARN|INFO) \|", text("docs/rules.md"), re.MULTILINE
        )
    }
    assert {name: severity for name, severity in rows.items() if name not in OTHER_RULES} == {
        rule.name: rule.severity for rule in RULES.values()
    }
    assert rows.keys() >= set(OTHER_RULES)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_every_rule_has_a_section(rule: Any) -> None:
    assert f"### {rule.name}\n" in text("docs/rules.md")


def test_codes_are_those_of_the_code() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| `(.*)` \|$", text("docs/rules.md"), re.MULTILINE)
    assert {code: sentence for code, _, sentence in rows} == {**DETAILS, **SOURCE_DETAILS}
    rules = {rule.name for rule in RULES.values()} | set(OTHER_RULES)
    assert {rule for _, rule, _ in rows} == rules


def test_codes_of_what_is_stuck_are_those_of_the_code() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| ([A-Z_, ]+) \| `(.*)` \|$", text("docs/measures.md"), re.MULTILINE
    )
    wanted = {
        code: said if isinstance(said, str) else said[0].join(f"[{each}]" for each in said[1:])
        for code, said in STUCK_DETAILS.items()
    }
    assert {code: said for code, _, said in rows} == wanted
    assert {each for _, of, _ in rows for each in of.split(", ")} <= {
        *STALL_THRESHOLDS,
        *CHAIN_THRESHOLDS,
        *COUNT_THRESHOLDS,
    }


@pytest.mark.parametrize("table", schema_columns())
def test_every_table_is_explained(table: str) -> None:
    document = text("docs/tables.md")
    if table in INTERNAL:
        assert f"`{table}`" in document
    else:
        assert f"## {table}\n" in document


def test_every_view_is_listed() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]* \|$", text("docs/sql.md"), re.MULTILINE)
    assert sorted(rows) == list(VIEWS)


EXPLAINING: Final = ("docs/measures.md", "docs/evidence.md", "docs/streams.md", "docs/tables.md")
"""Where columns are explained."""


@pytest.mark.parametrize("table", [table for table in schema_columns() if table not in INTERNAL])
def test_every_column_is_explained(table: str) -> None:
    named = set(re.findall(r"`(\w+)`", "".join(map(text, EXPLAINING))))
    assert [column for column in schema_columns()[table] if column not in named] == []


@pytest.mark.parametrize(
    "reason", sorted({*STALL_THRESHOLDS, *COUNT_THRESHOLDS, *CHAIN_THRESHOLDS})
)
def test_every_reason_has_its_threshold_beside_it(reason: str) -> None:
    fields = [each[reason] for each in (STALL_THRESHOLDS, COUNT_THRESHOLDS) if reason in each]
    fields += CHAIN_THRESHOLDS.get(reason, ())
    row = next(
        line for line in text("docs/measures.md").splitlines() if line.startswith(f"| `{reason}` |")
    )
    assert [field for field in fields if f"`{field}`" not in row] == []


def configuration_rows() -> dict[str, str]:
    """key -> its default, of the tables with three columns."""
    return dict(
        re.findall(
            r"^\| `([\w.]+)` \| ([^|]*) \| [^|]* \|$", text("docs/configuration.md"), re.MULTILINE
        )
    )


def test_every_key_has_its_default_beside_it() -> None:
    rows = configuration_rows()
    keys: dict[str, Any] = {}
    for section, values in load_base().items():
        keys |= (
            {f"{section}.{key}": value for key, value in values.items()}
            if isinstance(values, dict)
            else {section: values}
        )
    assert rows["clients"] == "see below"
    assert yaml_of_clients() == keys.pop("clients")
    assert {key: rows.get(key, "not there").replace(",", "") for key in keys} == {
        key: "null" if v is None else str(v) for key, v in keys.items()
    }
    assert rows.keys() - keys.keys() == {"cluster", "warehouse", "sources", "clients"}


def yaml_of_clients() -> list[dict[str, str | None]]:
    """The default of `clients` as the document shows it, whole."""
    block = re.search(r"```yaml\n(clients:.*?)```", text("docs/configuration.md"), re.DOTALL)
    assert block is not None
    return [{"version_after": None} | each for each in yaml.safe_load(block[1])["clients"]]


def test_limits_of_keys_are_those_of_the_code() -> None:
    document = " ".join(text("docs/configuration.md").split())
    assert f"at least {MIN_STALL_MS:,} ms" in document
    assert f"at most {MAX_CHAIN_GAP_MS:,} ms" in document
    assert [kind for kind in SOURCE_KINDS if f"`{kind}`" not in document] == []


# ---------------------------------------------------------------- links


def anchors(document: str) -> set[str]:
    """What a heading is linked by: lower case, without punctuation, spaces as dashes."""
    prose = re.sub(r"^```.*?^```", "", document, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading.replace("`", "")).lower().replace(" ", "-")
        for heading in headings
    }


def links(path: Path) -> list[str]:
    """What a document links to in this repository, as it stands there."""
    prose = re.sub(
        r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    targets = re.findall(r"\]\(([^)\s]+)\)", prose)
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def linked(path: Path, target: str) -> Path:
    name = target.partition("#")[0]
    return (path.parent / name).resolve() if name else path


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_resolve(path: Path) -> None:
    broken = []
    for target in links(path):
        found, anchor = linked(path, target), target.partition("#")[2]
        if not found.exists() or (
            anchor and anchor not in anchors(found.read_text(encoding="utf-8"))
        ):
            broken.append(target)
    assert broken == []


def test_every_page_is_two_clicks_from_the_readme() -> None:
    def clicked(pages: set[Path]) -> set[Path]:
        documents = [page for page in pages if page.suffix == ".md"]
        return {linked(page, target) for page in documents for target in links(page)}

    first = clicked({ROOT / "README.md"})
    pages = set((ROOT / "docs").rglob("*.md"))
    assert sorted(pages - first - clicked(first)) == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_paragraphs_have_lines_of_100_columns(path: Path) -> None:
    """Tables are rows, and what is fenced is quoted: both may be longer."""
    prose = re.sub(
        r"^ *```.*?^ *```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    lines = [line for line in prose.splitlines() if not line.startswith("|")]
    assert [line for line in lines if len(line) > 100] == []


def cited(path: Path) -> set[str]:
    """Paths of this repository that a file names: in backticks, or anywhere where they begin with
    a folder of its top level. `<table>` stands for any name.
    """
    text = path.read_text(encoding="utf-8")
    in_backticks = re.findall(r"`([\w-][\w.<>-]*(?:/[\w.<>-]+)*/[\w.<>-]*)`", text)
    suffixes = r"py|sql|yaml|md|sh|conf|properties|sha256"
    return {
        name
        for name in in_backticks
        if re.search(rf"\.({suffixes})$", name) or name.partition("/")[0] in ROOMS
    } | set(
        re.findall(
            rf"(?<![\w./>-])((?:conf|docs|jobs|lib|schemas|tests)/[\w./-]+\.(?:{suffixes}))\b", text
        )
    )


@pytest.mark.parametrize("path", CITING, ids=lambda path: str(path.relative_to(ROOT)))
def test_cited_files_exist(path: Path) -> None:
    """From the top of the repository, from the citing file, or from the package."""
    places = (ROOT, path.parent, ROOT / "lib" / "groupreplay")
    missing = {
        name
        for name in cited(path)
        if not any(list(place.glob(re.sub(r"<\w+>", "*", name.rstrip("/")))) for place in places)
    }
    assert missing == set()


# ---------------------------------------------------------------- examples


@cache
def names(recording: str) -> dict[str, str]:
    return {
        each["topic_id"]: each["topic"]
        for each in json.loads((RECORDINGS / recording / "topics.json").read_text(encoding="utf-8"))
    }


@cache
def entries(recording: str, partition: int) -> list[tuple[str, Entry]]:
    """(group id, record) of what a run lands of one partition of the offsets topic, in order:
    commits are reduced already.
    """
    listing = find_files(Source(kind="segments", path=str(RECORDINGS / recording / "segments")))
    units = [
        unit
        for unit in plan_units([file for each in segments(listing.files) for file in each], {})
        if unit.offsets_partition == partition
    ]
    found, hole = [], -1
    for unit in units:
        for columns in read_unit(unit, open_file, Codecs()):
            for row in [
                dict(zip(columns, values, strict=True))
                for values in zip(*columns.values(), strict=True)
            ]:
                if row["kind"] != "record":
                    continue
                record = decode(row["key"], row["value"])
                assert not isinstance(record, (UnknownType, Undecodable))
                hole = max(hole, row["last_hole"])
                found.append(
                    (
                        row["group_id"],
                        Entry(
                            row["offset"],
                            row["ts_ms"],
                            row["leader_epoch"],
                            row["batch_base_offset"],
                            hole,
                            record,
                        ),
                    )
                )
    return sorted(found, key=lambda each: each[1].offset)


@cache
def replayed(recording: str, partition: int) -> list[facts.Fact]:
    groups: dict[str, list[Entry]] = defaultdict(list)
    for group_id, entry in entries(recording, partition):
        groups[group_id].append(entry)
    found: list[facts.Fact] = []
    for group_id, own in groups.items():
        machine = GroupReplay(group_id, partition, names(recording))
        for entry in own:
            machine.replay(entry)
        machine.flush()
        found += [*machine.take_facts(), *machine.open_facts()]
    return found


def clock(ms: int) -> str:
    """The last six digits of the seconds, and the milliseconds."""
    return f"{ms // 1000 % 1_000_000:06d}.{ms % 1000:03d}"


def short(member_id: str) -> str:
    """Eight characters of an id made by the protocol; of the classic protocol's the client's part
    and four digits of the UUID.
    """
    long = re.fullmatch(r"(.+-[0-9a-f]{4})[0-9a-f]{4}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", member_id)
    return long[1] if long else member_id[:8]


def partitions(topics: tuple[TopicPartitions, ...], recording: str) -> str:
    told = [
        (names(recording).get(topic.topic_id, topic.topic_id[:6]), sorted(topic.partitions))
        for topic in topics
    ]
    return (
        " ".join(
            f"{name if len(told) > 1 else ''}{{{','.join(map(str, each))}}}"
            for name, each in sorted(told)
        )
        or "{}"
    )


def quoted(entry: Entry, recording: str) -> str:
    return f"{entry.offset:>5}  {clock(entry.ts_ms)}  {said(entry.record, recording)}"


def said(record: Record, recording: str) -> str:
    what = f"K{record.KEY_TYPE}" if not hasattr(record, "key_type") else f"K{record.key_type}"
    if member_id := getattr(record, "member_id", ""):
        what += f" {short(member_id)}"
    match record:
        case OffsetCommit(topic=topic, partition=partition, value=commit):
            return f"{what} {topic}-{partition} " + (
                f"offset {commit.offset}" if commit else "tombstone"
            )
        case GroupMetadata(value=k2) if k2 is not None:
            return f"{what} generation {k2.generation}, " + (
                f"{k2.protocol}: {' '.join(map(listed, k2.members))}"
                if k2.members
                else "no members"
            )
        case ConsumerGroupMetadata(value=k3) if k3 is not None:
            return f"{what} epoch {k3.epoch}" + (
                f", hash {k3.metadata_hash}" if k3.metadata_hash else ""
            )
        case ConsumerGroupMemberMetadata(value=k5) if k5 is not None:
            wanted = (
                f"/{k5.subscribed_topic_regex}/"
                if k5.subscribed_topic_regex
                else ",".join(k5.subscribed_topic_names)
            )
            protocol = "classic" if k5.classic_member_metadata else "consumer"
            instance = f", instance {k5.instance_id}" if k5.instance_id else ""
            return (
                f"{what} {k5.client_id}, {protocol}, subscribes {wanted}, timeout"
                f" {k5.rebalance_timeout_ms}{instance}"
            )
        case ConsumerGroupTargetAssignmentMetadata(value=k6) if k6 is not None:
            return f"{what} target epoch {k6.assignment_epoch}"
        case ConsumerGroupTargetAssignmentMember(value=k7) if k7 is not None:
            return f"{what} {partitions(k7.topic_partitions, recording)}"
        case ConsumerGroupCurrentMemberAssignment(value=k8) if k8 is not None:
            pending = (
                f" pending {partitions(k8.partitions_pending_revocation, recording)}"
                if k8.partitions_pending_revocation
                else ""
            )
            state = MEMBER_STATES[k8.state]
            assigned = partitions(k8.assigned_partitions, recording)
            return (
                f"{what} epoch {k8.member_epoch}, previous {k8.previous_member_epoch}, {state},"
                f" assigned {assigned}{pending}"
            )
        case ConsumerGroupRegularExpression(regular_expression=regex, value=k16) if k16 is not None:
            return f"{what} /{regex}/ is {','.join(k16.topics)}"
    return f"{what} tombstone"


def listed(member: GroupMember) -> str:
    held = (
        [p for topic in member.assignment.assigned_partitions for p in topic.partitions]
        if member.assignment
        else []
    )
    return f"{short(member.member_id)}{{{','.join(map(str, sorted(held)))}}}"


def shown(fact: facts.Fact, column: str) -> str:
    """A column as a block `row` writes it."""
    if column == "stuck_ms":
        return str(getattr(fact, "until_at", 0) - getattr(fact, "since_at", 0))
    if column == "blockers":
        return ",".join(each or "NULL" for each in getattr(fact, "blocker_client_ids", []))
    if not hasattr(fact, column):
        return "no such column"
    value = getattr(fact, column)
    if isinstance(value, list):
        return (
            "["
            + ",".join(clock(each) if isinstance(each, int) else short(each) for each in value)
            + "]"
        )
    if value is None:
        return "NULL"
    if column.endswith("_at"):
        return clock(value)
    return (
        short(value)
        if column.endswith(("member_id", "granted_to"))
        else str(value).lower()
        if isinstance(value, bool)
        else str(value)
    )


def blocks(kind: str) -> list[tuple[str, str, str]]:
    """(document, first line, rest) of every fenced block of that kind."""
    pattern = re.compile(rf"^```{kind}\n(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
    return [
        (path.name, found[1], found[2])
        for path in DOCUMENTS
        for found in pattern.finditer(path.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize(("document", "head", "body"), blocks("records"))
def test_quoted_records_are_real(document: str, head: str, body: str) -> None:
    where = re.fullmatch(r"([\w.-]+) p(\d+)(?: group ([\w.-]+))?", head)
    assert where, head
    own = entries(where[1], int(where[2]))
    by_offset = {entry.offset: entry for group_id, entry in own if where[3] in (None, group_id)}
    for line in body.splitlines():
        assert line == quoted(by_offset[int(line.split()[0])], where[1])


@pytest.mark.parametrize(("document", "head", "body"), blocks("row"))
def test_derived_rows_are_what_replay_gives(document: str, head: str, body: str) -> None:
    """The first line names table, recording, partition and from_offset; `column=value` pairs must
    all be those of one row.
    """
    where = re.fullmatch(r"(\w+) ([\w.-]+) p(\d+):(\d+)", head)
    assert where, head
    pairs = [pair.split("=", 1) for pair in body.split()]
    rows = [
        row
        for row in replayed(where[2], int(where[3]))
        if isinstance(row, SPECS[where[1]].facts) and row.from_offset == int(where[4])
    ]
    columns = {field.name for row in rows for field in dataclasses.fields(row)} | {
        "stuck_ms",
        "blockers",
    }
    assert rows, f"no row of {where[1]} begins there"
    assert [column for column, _ in pairs if column not in columns] == []
    differences = [
        [f"{column}={shown(row, column)}" for column, value in pairs if shown(row, column) != value]
        for row in rows
    ]
    assert [] in differences, min(differences, key=len)


def test_queries_can_be_run(spark: SparkSession) -> None:
    """Over tables that are empty: names, types and syntax."""
    for table in schema_columns():
        spark.createDataFrame([], table_schema(spark, table).struct).createOrReplaceTempView(table)
    for view in VIEWS.values():
        spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW {view.name} AS {view.select}")
    statements = [f"{first}\n{rest}" for _, first, rest in blocks("sql")]
    assert len(statements) > len(schema_columns())
    for statement in statements:
        if not statement.startswith("DELETE"):
            assert spark.sql(
                re.sub(r"delta\.`/data/groupreplay/(\w+)`( VERSION AS OF \d+)?", r"\1", statement)
            ).columns
    for name in (*schema_columns(), *VIEWS):
        spark.catalog.dropTempView(name)
