"""Pages of two real nights: their numbers are those of the tables, a rerun changes no byte, and
any group can be shown.

Holds night/catalog_names.py, night/group_lives.py, night/show_group.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from groupreplay.config.model import Config, PageConfig
from groupreplay.config.sources import RequestLogSource, ServerLogSource, Source
from groupreplay.errors import ConfigError, NotReady
from groupreplay.night.publishing import publish, publisher
from groupreplay.night.run import NightResult, build_reports, run_night
from groupreplay.night.show_group import show_group
from groupreplay.page.drawing.document import slug
from groupreplay.tables.warehouse import Warehouse
from tests.end_to_end.logs import RECORDINGS, copy_log, half
from tests.page.parsed import Parsed
from tests.support.browser import broken_rules, check_clean, faint_in_dark, opening, started_browser
from tests.support.few_tables import few_tables

RECORDING = "migration-4.3"
NIGHT, NEXT = date(2026, 11, 21), date(2026, 11, 22)
OF_BEFORE = ("members", "group_days", "static_accounting", "what_if")
"""Tables of the night before, beside few, of which a page of the next one shows rows."""
Nights = tuple[Config, NightResult]


@pytest.fixture(scope="module")
def nights(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Nights:
    folder = tmp_path_factory.mktemp("pages")
    recording, logs = RECORDINGS / RECORDING, copy_log(RECORDING, folder / "logs", half)
    config = Config(
        cluster="c",
        warehouse=str(folder / "w"),
        page=PageConfig(nights=20),
        sources=(
            Source(kind="segments", path=str(logs)),
            Source(kind="topics", path=str(recording / "topics.json")),
            ServerLogSource(
                kind="server_log",
                path=str(recording / "broker-1.server.log.gz"),
                broker=1,
                timezone="UTC",
            ),
            RequestLogSource(
                kind="request_log",
                path=str(recording / "broker-1.request.log.gz"),
                broker=1,
                timezone="UTC",
            ),
        ),
    )
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(publish, "register_names", _refuses)
        with few_tables(*OF_BEFORE), pytest.raises(NotReady, match="no such catalog"):
            run_night(spark, config, NIGHT)
    copy_log(RECORDING, logs)
    return config, run_night(spark, config, NEXT)


def _refuses(*_: object) -> None:
    raise NotReady("there is no such catalog", "name another")


def pages(config: Config) -> dict[str, str]:
    root = Path(config.warehouse) / "_report" / "c"
    return {
        str(path.relative_to(root)): path.read_text(encoding="utf-8")
        for path in sorted(root.rglob("*.html"))
    }


def test_numbers_are_those_of_the_tables(spark: SparkSession, nights: Nights) -> None:
    """The pages of the first night are there, though a catalog refused its names."""
    config, result = nights
    found = pages(config)
    assert {"index.html", f"{NIGHT}/index.html", f"{NEXT}/index.html"} <= set(found)
    assert result.summary is not None
    assert result.summary.page == f"file://{config.warehouse}/_report/c/index.html"
    text = " ".join(Parsed(found["index.html"]).text.split())
    progress = spark.read.format("delta").load(f"{config.warehouse}/migration_progress")
    phases = {
        row["phase"]: row["count"]
        for row in progress.where(f"logical_date = '{NEXT}'").groupBy("phase").count().collect()
    }
    consumer = sum(phases.get(name, 0) for name in ("MIGRATED", "NATIVE", "CONSUMER"))
    classic = sum(phases.get(name, 0) for name in ("CLASSIC", "ROLLED_BACK"))
    mixed = phases.get("MIGRATING", 0)
    assert min(consumer, classic, mixed) > 0
    assert f"{consumer} of {consumer + classic + mixed} groups" in text
    assert f"{classic} are still classic, {mixed} are half-way." in text
    stuck = spark.read.format("delta").load(f"{config.warehouse}/stuck_members")
    episodes = stuck.where(f"is_open AND logical_date = '{NEXT}'").count()
    groups = spark.read.format("delta").load(f"{config.warehouse}/stuck_groups")
    whole = "is_open AND reason != 'MIGRATION_STALLED'"
    episodes += groups.where(f"{whole} AND logical_date = '{NEXT}'").count()
    assert f"{episodes} stuck now" in text if episodes else "Nobody is stuck" in text
    assert {"21 Nov", "22 Nov"} <= set(re.findall(r"\d+ Nov", text)), "the night before is there"


@pytest.mark.browser
def test_pages_of_nights_are_clean_in_a_browser(nights: Nights) -> None:
    """Each that was written; the newest overview can be read by everybody, too."""
    config = nights[0]
    root = Path(config.warehouse) / "_report" / "c"
    with started_browser() as browser, opening(browser) as open_page:
        opened = open_page(color_scheme="light", bypass_csp=True)
        for name in pages(config):
            check_clean(opened, (root / name).as_uri())
        newest = opened.ready((root / "index.html").as_uri())
        assert broken_rules(newest) == []
        assert faint_in_dark(newest) == []


def test_every_link_to_a_group_leads_to_its_page(nights: Nights) -> None:
    found = pages(nights[0])
    linked = set(re.findall(rf'href="({NEXT}/g/[0-9a-f]+\.html)"', found["index.html"]))
    assert linked == {name for name in found if name.startswith(f"{NEXT}/g/")} != set()
    slow = Parsed(found[f"{NEXT}/g/{slug('c', 'upgrade-slow')}.html"])
    assert "Half-way" in slow.text
    assert slow.count("marker") == 3


def test_applications_of_kafka_streams_are_those_of_the_summary(nights: Nights) -> None:
    config, result = nights
    assert result.summary is not None
    streams = result.summary.streams
    assert streams.apps
    text = " ".join(Parsed(pages(config)["index.html"]).text.split())
    kinds = ", ".join(f"{each.apps} {each.protocol}" for each in streams.apps)
    assert f"Applications{sum(each.apps for each in streams.apps)}{kinds}; " in text
    learners = streams.learners_total
    assert f"Learn a task{learners} member" in text


def test_who_holds_is_named_by_client(nights: Nights) -> None:
    """Member ids are random; clients of this recording are called after their groups."""
    page = pages(nights[0])[f"{NEXT}/index.html"]
    section = page.split('<section id="stuck">')[1].split("</section>")[0]
    ids = re.findall(r'<bdi class="id">([^<]*)</bdi>', section)
    assert ids
    assert not [each for each in ids if re.fullmatch(r"[A-Za-z0-9_-]{22}", each)]


def test_a_rerun_changes_no_byte(spark: SparkSession, nights: Nights) -> None:
    """Nor does it where the night has too many rows to hold: its tables are read from its commits,
    and the summary says the same.
    """
    config, result = nights
    before = pages(config)
    read: list[str] = []
    with pytest.MonkeyPatch.context() as patched:
        for module in (publish, publisher):
            patched.setattr(module, "HELD_ROWS", -1)
        whole = Warehouse.committed

        def noted(warehouse: Warehouse, name: str, *of: Any) -> DataFrame | None:
            found = whole(warehouse, name, *of)
            if found is not None:
                read.append(name)
            return found

        patched.setattr(Warehouse, "committed", noted)
        again = build_reports(spark, config, NEXT)
    assert {"group_epochs", "migration_progress", "members", "departure_waves"} <= set(read)
    assert pages(config) == before
    assert again.summary == result.summary


@dataclass(frozen=True)
class Shown:
    """A group that was asked for. read: tables, and the versions of them. address: of its page.
    of_night: pages that were there before, and as they are since.
    """

    read: list[tuple[str, int | None]]
    address: str
    of_night: tuple[dict[str, str], dict[str, str]]

    @property
    def page(self) -> str:
        return Path(self.address.removeprefix("file://")).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def shown(spark: SparkSession, nights: Nights) -> Shown:
    config = nights[0]
    of_night = pages(config)
    read: list[tuple[str, int | None]] = []
    with pytest.MonkeyPatch.context() as patched:
        whole = Warehouse.read

        def noted(warehouse: Warehouse, name: str, version: int | None = None) -> DataFrame:
            read.append((name, version))
            return whole(warehouse, name, version)

        patched.setattr(Warehouse, "read", noted)
        address = show_group(spark, config, "static-upgrade", 5)
    since = {name: page for name, page in pages(config).items() if name in of_night}
    return Shown(read, address, (of_night, since))


def test_any_group_is_shown_over_several_nights(
    spark: SparkSession, nights: Nights, shown: Shown
) -> None:
    assert {name for name, version in shown.read if version is None} == {"runs"}
    own = slug("c", "static-upgrade")
    assert shown.address.endswith(f"/{NEXT}/asked/{own}-2.html")
    before, since = shown.of_night
    assert before == since
    assert "static-upgrade" in Parsed(shown.page).text
    assert "The nights" in Parsed(shown.page).text
    with pytest.raises(ConfigError, match="nothing of a group 'nobody'"):
        show_group(spark, nights[0], "nobody")


def test_who_was_gone_and_what_waves_cost_are_on_the_page(shown: Shown) -> None:
    text = Parsed(shown.page).text
    assert "Processes that were gone (3)" in text
    assert "What waves would have cost under another protocol" in text
    assert shown.page.count('class="absent"') == 3 + 1, "in lanes, and in the key"
    assert "Moves of the coordinator" not in text, "there was none"
