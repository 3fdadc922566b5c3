"""Two nights of a recording with its brokers' logs, everything personal hashed: no clear value is
in anything that analysts can read.
"""

from __future__ import annotations

import logging
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from groupreplay.cli.outcome import result_lines
from groupreplay.config.model import Config, PageConfig, PrivacyConfig
from groupreplay.config.sources import RequestLogSource, ServerLogSource, Source
from groupreplay.errors import ConfigError
from groupreplay.night.run import NightResult, run_night
from groupreplay.report.words.privacy import hash_keys
from groupreplay.tables.schemas import INTERNAL, PUBLIC
from groupreplay.tables.warehouse import Warehouse
from tests.end_to_end.logs import RECORDINGS, copy_log, half
from tests.support.few_tables import few_tables
from tests.support.log_lines import recorded_lines

RECORDING = "classic-3.9"
NIGHT, NEXT = date(2026, 11, 21), date(2026, 11, 22)
SALT = "a salt of this test alone"
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
VERSION_OF_A_LIBRARY = "2.16.1-rdkafka-2.16.0"
OF_FIRST = (
    *("members", "member_states", "stuck_members", "stuck_groups", "undecoded"),
    *("refusals", "rebalances", "rejoins", "coordinator_events"),
)
"""Tables of the first night, beside few: of members, and of lines, all of which it reads. The second
publishes all.
"""
DAMAGED = (
    b'{broken requestApiKey":11, "clientId":"classic-eager-m0", 127.0.0.1:4711-127.0.0.1:9092'
    b" User:ANONYMOUS}\n"
)


@dataclass(frozen=True)
class Nights:
    """What two nights left, the first of them at its second try.

    logged: text of the driver's log.
    """

    config: Config
    results: tuple[NightResult, NightResult]
    dry: NightResult
    logged: str

    @property
    def root(self) -> Path:
        return Path(self.config.warehouse)


@pytest.fixture(scope="module")
def nights(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Nights:
    folder = tmp_path_factory.mktemp("private nights")
    logs = copy_log(RECORDING, folder / "logs", half)
    (folder / "damaged.log").write_bytes(DAMAGED * 2)
    of: dict[str, Any] = {"broker": 1, "timezone": "UTC"}
    config = Config(
        cluster="c",
        warehouse=str(folder / "public"),
        private_warehouse=str(folder / "hidden"),
        privacy=PrivacyConfig(hash=("client_host", "client_id", "principal"), salt=SALT),
        sources=(
            Source(kind="segments", path=str(logs)),
            Source(kind="topics", path=str(RECORDINGS / RECORDING / "topics.json")),
            ServerLogSource(
                kind="server_log", path=str(RECORDINGS / RECORDING / "broker-1.server.log.gz"), **of
            ),
            RequestLogSource(
                kind="request_log",
                path=str(RECORDINGS / RECORDING / "broker-1.request.log.gz"),
                **of,
            ),
            RequestLogSource(kind="request_log", path=str(folder / "damaged.log"), **of),
        ),
    )
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("groupreplay")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(
                "groupreplay.night.replay.slices_for", lambda *_: [][len("classic-eager-m0")]
            )
            with pytest.raises(IndexError):
                run_night(spark, config, NIGHT)
        with few_tables(*OF_FIRST, is_summarized=True):
            first = run_night(spark, config, NIGHT)
        copy_log(RECORDING, logs)
        # Pages of one night show how they hide: the first draws none.
        config = replace(config, page=PageConfig(nights=20))
        dry = run_night(spark, config, NEXT, dry_run=True)
        second = run_night(spark, config, NEXT)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
    return Nights(config, (first, second), dry, "\n".join(lines))


def clear_values() -> re.Pattern[str]:
    """Every client id, host (with and without its slash) and principal of the recording, as a word
    of its own: a group or a library may be called so in part.
    """
    events = [line.event for lines in recorded_lines(RECORDING).values() for line in lines]
    values = {
        value
        for event in events
        for value in (event.client_id, event.client_host, event.principal)
        if value
    }
    values |= {value.lstrip("/") for value in values}
    assert {"classic-eager-m0", "rdkafka", "127.0.0.1", "User:ANONYMOUS"} <= values
    return re.compile(
        rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(values, key=len, reverse=True)))})(?!\w)"
    )


def texts(root: Path) -> Iterator[tuple[str, str]]:
    """(file, text) of everything below: values of Parquet files of all versions, and every file as
    it is on disk.
    """
    for path in sorted(root.rglob("*")):
        if path.is_file():
            yield str(path.relative_to(root)), path.read_bytes().decode("utf-8", "replace")
        if path.name.endswith(".parquet"):
            yield str(path.relative_to(root)), repr(pq.ParquetFile(path).read().to_pylist())


def test_no_clear_value_is_in_what_analysts_read(nights: Nights) -> None:
    clear, seen = clear_values(), 0
    for name, text in texts(nights.root):
        found = clear.search(text.replace(VERSION_OF_A_LIBRARY, ""))
        assert found is None, (
            f"{found[0]!r} in {name}: ..{text[max(0, found.start() - 80) : found.end() + 20]}.."
        )
        seen += 1
    assert seen > 50
    pages = list((nights.root / "_report").rglob("*.html"))
    assert any(re.search(r"h:[0-9a-f]{24}", page.read_text("utf-8")) for page in pages)
    told = "\n".join(
        text
        for result in (*nights.results, nights.dry)
        for text in (*result_lines(result), repr(result.summary))
    )
    assert clear.search(told) is None
    assert re.search(r"h:[0-9a-f]{24}", told), "the summary names members by their hash"
    hidden = "\n".join(text for _, text in texts(Path(nights.config.private_warehouse or "")))
    assert set(clear.findall(hidden)) >= {
        "classic-eager-m0",
        "/127.0.0.1",
        "User:ANONYMOUS",
    }, "the search finds what is there"


def test_salt_and_keys_are_nowhere(nights: Nights) -> None:
    keys = hash_keys(nights.config.privacy)
    assert keys is not None
    secrets = {SALT, *keys.keys.values()}
    everything = [
        text
        for root in (nights.root, Path(nights.config.private_warehouse or ""))
        for _, text in texts(root)
    ]
    everything += [
        nights.logged,
        repr(nights.config),
        *(line for result in (*nights.results, nights.dry) for line in result_lines(result)),
    ]
    assert nights.logged
    assert not [secret for secret in secrets for text in everything if secret in text]


def test_internal_tables_are_apart_and_not_offered(spark: SparkSession, nights: Nights) -> None:
    hidden = Path(nights.config.private_warehouse or "")
    assert {path.name for path in hidden.iterdir()} == INTERNAL
    assert {path.name for path in nights.root.iterdir()} == {*PUBLIC, "_sql", "_report"}
    for path in (nights.root / "_sql").glob("*.sql"):
        assert not re.search(rf"\b({'|'.join(INTERNAL)})\b", path.read_text()), path.name
    assert str(hidden) in nights.dry.dry_run_lines[-1]
    assert f"{hidden} can be written" in nights.dry.dry_run_lines[0]
    Warehouse(spark, str(nights.root), "c").check_all(PUBLIC)
    (why,) = [
        row["error"]
        for row in spark.read.format("delta").load(str(nights.root / "runs")).collect()
        if row["error"]
    ]
    assert why == "unforeseen: IndexError; the output of the job says more"


def rows(root: Path, name: str) -> list[dict[str, Any]]:
    """Of all versions of the table, without its partition columns."""
    return [
        row
        for path in sorted((root / name).glob("cluster=*/**/*.parquet"))
        for row in pq.ParquetFile(path).read().to_pylist()
    ]


def test_a_member_is_the_same_in_every_table_and_night(nights: Nights) -> None:
    forms: dict[str, set[str]] = defaultdict(set)
    tables: dict[str, set[str]] = defaultdict(set)
    for name in PUBLIC:
        for row in rows(nights.root, name):
            for text in _strings(row):
                if found := UUID.search(text):
                    forms[found[0]].add(text.split(" ")[-1])
                    tables[found[0]].add(name)
    assert {uuid: told for uuid, told in forms.items() if len(told) > 1} == {}
    assert max(map(len, tables.values())) >= 5
    members = [row for row in rows(nights.root, "members") if row["instance_id"] is None]
    assert {path.name for path in (nights.root / "members").glob("cluster=*/*/*")} == {
        f"logical_date={night}" for night in (NIGHT, NEXT)
    }
    for row in members:
        assert re.fullmatch(r"h:[0-9a-f]{24}", row["client_id"])
        assert re.fullmatch(rf"{row['client_id']}-{UUID.pattern}", row["member_id"])
    assert {row["principal"] for row in members} - {None}
    for name in ("refusals", "rebalances", "undecoded"):
        assert rows(nights.root, name), name
    assert {row["raw"] for row in rows(nights.root, "undecoded")} == {None}


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)


def test_clear_rows_and_other_salts_are_refused_before_anything_is_written(
    spark: SparkSession, nights: Nights, tmp_path: Path
) -> None:
    config = nights.config
    files = sorted(
        path
        for root in (nights.root, Path(config.private_warehouse or ""))
        for path in root.rglob("*")
    )
    clear = replace(config, privacy=PrivacyConfig(), private_warehouse=None)
    cases = {
        "were written with client_host, client_id, principal hashed, and now it is nothing": clear,
        "were hashed with another salt": replace(
            config, privacy=replace(config.privacy, salt=SALT[::-1])
        ),
        "and now it is client_id: give another warehouse": replace(
            config, privacy=replace(config.privacy, hash=("client_id",))
        ),
        "holds no raw rows and states of the nights before": replace(
            config, private_warehouse=str(tmp_path / "elsewhere")
        ),
    }
    for says, other in cases.items():
        for dry_run in (False, True):
            with pytest.raises(ConfigError, match=re.escape(says)):
                run_night(spark, other, NEXT, dry_run=dry_run)
    assert (
        sorted(
            path
            for root in (nights.root, Path(config.private_warehouse or ""))
            for path in root.rglob("*")
        )
        == files
    )
    assert not (tmp_path / "elsewhere").exists()
