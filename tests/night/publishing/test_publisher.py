"""In which order tables are published, and what a table sees of those that it is made of."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from threading import Barrier, Event, Lock

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from groupreplay.config.model import PrivacyConfig, Thresholds
from groupreplay.night.publishing import publisher
from groupreplay.night.publishing.publisher import THREADS, Published, Publisher, run_in_order
from groupreplay.report.catalog import SPECS, specs_by_name
from groupreplay.report.context import ReportContext
from groupreplay.report.joins.columns import night
from groupreplay.report.table_frames import NightRows
from groupreplay.report.table_inputs import TableInputs
from groupreplay.report.table_spec import TableSpec
from groupreplay.report.words.privacy import hash_keys
from groupreplay.tables.warehouse import Warehouse
from tests.report.facts_by_hand import fact
from tests.support.fact_frames import packed_of
from tests.support.table_inputs import TOPICS_DDL

WAIT_S = 20


class Ran:
    """Keys in the order in which they began and ended."""

    def __init__(self) -> None:
        self._lock, self.events = Lock(), list[tuple[str, str]]()

    def note(self, what: str, name: str) -> None:
        with self._lock:
            self.events.append((what, name))

    def __call__(self, name: str) -> None:
        self.note("began", name)
        self.note("ended", name)

    @property
    def began(self) -> list[str]:
        return [name for what, name in self.events if what == "began"]


def test_a_key_begins_when_those_that_it_waits_for_have_ended() -> None:
    ran = Ran()
    run_in_order({"c": ("a", "b"), "a": (), "b": ("a",), "d": ("c",)}, ran)
    assert ran.began == ["a", "b", "c", "d"]
    assert [what for what, _ in ran.events] == ["began", "ended"] * 4


def test_keys_that_wait_for_nothing_run_at_once_the_first_of_them_first() -> None:
    together, ran = Barrier(THREADS), Ran()

    def run(name: str) -> None:
        ran.note("began", name)
        if name != "last":
            together.wait(WAIT_S)

    run_in_order({**{f"{place}": () for place in range(THREADS)}, "last": ()}, run)
    assert ran.began[-1] == "last"


def test_a_key_waits_only_for_those_that_it_names() -> None:
    """The slow one ends after a key that waits for another one."""
    named_is_done = Event()

    def run(name: str) -> None:
        if name == "slow":
            assert named_is_done.wait(WAIT_S)
        if name == "named":
            named_is_done.set()

    run_in_order({"slow": (), "first": (), "named": ("first",)}, run)


def test_an_error_is_raised_when_all_have_ended_and_what_waits_for_it_is_not_run() -> None:
    ran = Ran()

    def run(name: str) -> None:
        if name == "broken":
            raise LookupError(name)
        ran(name)

    with pytest.raises(LookupError, match="broken"):
        run_in_order({"broken": (), "after": ("broken",), "beside": (), "next": ("beside",)}, run)
    assert sorted(ran.began) == ["beside", "next"]


def of_topics(inputs: TableInputs) -> DataFrame:
    """A row of `coverage` for each topic: one of this night, or of those before."""
    counts = ("landed", "decoded", "unknown", "undecoded", "reduced", "control", "aborted")
    rest = ("open_commits", "duplicates", "holes", "late")
    empty = ("first_offset", "next_offset", "log_incarnation", "left_out")
    none: dict[str, str] = {
        **dict.fromkeys(empty, "BIGINT"),
        **dict.fromkeys(("first_at", "last_at"), "TIMESTAMP"),
        "loggers": "MAP<STRING, BIGINT>",
    }
    found = inputs.held(inputs.stored.tonight("topics").limit(9)).withColumn(
        "source", sf.lit("tonight")
    )
    before = inputs.stored.earlier("topics").withColumn("source", sf.lit("earlier"))
    return found.unionByName(before).select(
        *night(inputs.context),
        "source",
        sf.col("topic_id").alias("input"),
        sf.lit("any words").alias("detail"),
        *[sf.lit(0).alias(name) for name in (*counts, *rest)],
        *[sf.lit(None).cast(kind).alias(name) for name, kind in none.items()],
    )


MADE_OF_TOPICS = TableSpec(
    name="coverage",
    build=of_topics,
    tables=("topics",),
    earlier=("topics",),
    quotes=frozenset({"detail"}),
)


def test_a_table_is_made_of_others_of_this_night_and_of_those_before(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it is hidden once more: it is made of what is hidden already. What it asks to be
    held is let go when all tables are committed.
    """
    specs = specs_by_name([MADE_OF_TOPICS, SPECS["topics"]])
    monkeypatch.setattr(publisher, "SPECS", specs)
    held: list[DataFrame] = []
    within: list[DataFrame] = []

    def hold(frame: DataFrame) -> DataFrame:
        held.append(kept := frame.persist())
        return kept

    monkeypatch.setattr(publisher, "held", hold)
    warehouse = Warehouse(spark, str(tmp_path), "c")
    warehouse.create_all(list(specs))
    keys = hash_keys(PrivacyConfig(hash=("client_id",), salt="a salt of this test"))

    def publish(day: int, *topic_ids: str) -> Published:
        """The night on which sources gave these."""
        given = spark.createDataFrame(
            [(each, "name", 1) for each in topic_ids], f"{TOPICS_DDL}, partitions INT"
        )
        staged = packed_of(spark, [fact(SPECS["group_epochs"].facts[0])])
        own = Publisher(warehouse, date(2026, 11, day), {}, 1, {}, keys)
        context = ReportContext("c", date(2026, 11, day), 0, Thresholds())
        own.publish(NightRows(staged, staged, None, given), (), context)
        kept = {id(each) for each in own.kept.values()}
        within.extend(each for each in held if id(each) not in kept)
        held.clear()
        return own.published

    def rows(day: int) -> set[tuple[str, ...]]:
        stored = warehouse.read("coverage").where(f"logical_date = DATE'2026-11-{day}'")
        return {tuple(row) for row in stored.select("source", "input", "detail").collect()}

    assert publish(20).counts == {"topics": 0, "coverage": 0}
    assert warehouse.version("coverage") == 0, "nothing that it is made of has rows"
    publish(21, "a")
    assert publish(22, "a", "b").counts == {"topics": 1, "coverage": 2}
    assert rows(22) == {("earlier", "a", "any words"), ("tonight", "b", "any words")}
    publish(21, "a")
    assert rows(21) == {("tonight", "a", "any words")}, "a night that runs again sees what it saw"
    assert within
    assert not [each for each in within if each.is_cached]
