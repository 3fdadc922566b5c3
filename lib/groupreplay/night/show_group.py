"""The page of one group that a person asks for, of the newest night that is done."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from groupreplay.config.model import Config
from groupreplay.errors import ConfigError, NotReady
from groupreplay.night.earlier.history import past_nights
from groupreplay.night.engine.query_compiler import fit_to
from groupreplay.night.group_lives import lives_of, rows_of_groups
from groupreplay.page.drawing.document import slug
from groupreplay.page.group.group_page import group_page
from groupreplay.page.model.life import GroupLife
from groupreplay.report.pages.asked import PageNights
from groupreplay.report.pages.group_frames import GROUP_TABLES
from groupreplay.tables import page_files as files
from groupreplay.tables.warehouse import Warehouse


def show_group(spark: SparkSession, config: Config, group_id: str, nights: int = 1) -> str:
    """Writes the page of a group beside those of the newest night, and gives its address. Raises
    NotReady where no night is done, ConfigError where the tables have nothing of the group.

    It shows the tables as that night left them, whatever a run that is at work has published since.

    nights: how many nights it shows, back from the newest.
    """
    fit_to(spark, 0)
    warehouse = Warehouse(spark, config.warehouse, config.cluster)
    warehouse.check_all(["runs"])
    of, versions = _newest_nights(warehouse, nights)
    tables = {
        name: warehouse.read(name, versions[name]).where(
            (sf.col("cluster") == config.cluster)
            & sf.col("logical_date").between(sf.lit(of.first), sf.lit(of.last))
        )
        for name in GROUP_TABLES
        if versions.get(name, 0) > 0
    }
    empty = {name: 0 for name in GROUP_TABLES if name not in tables}
    is_one = nights == 1
    rows = rows_of_groups(of, tables, 1, empty, all_nights=not is_one)
    lives = lives_of(config.cluster, of, rows, [group_id], empty, all_nights=not is_one)
    life = next(lives)
    if not _is_known(life):
        which = "night" if is_one else f"{len(of.as_of_ms)} nights up to"
        raise ConfigError(
            "--group",
            "",
            f"the tables of cluster {config.cluster} have nothing of a group {group_id!r} in"
            f" {which} {of.last}",
        )
    own = slug(config.cluster, group_id)
    name = files.asked_file(config.cluster, of.last, own, len(of.as_of_ms))
    warehouse.replace_text(name, group_page(life))
    return files.address(warehouse, name)


def _newest_nights(warehouse: Warehouse, nights: int) -> tuple[PageNights, Mapping[str, int]]:
    """(the newest nights that are done, versions of the tables as the last of them left them)."""
    runs = warehouse.read("runs")
    done = [
        each
        for each in past_nights(runs.where(runs["cluster"] == warehouse.cluster))
        if each.is_done and each.landing.as_of_ms >= 0
    ]
    if not done:
        raise NotReady(
            f"no night of cluster {warehouse.cluster} is done yet", "run run_nightly first"
        )
    known = sorted(done, key=lambda each: each.logical_date)
    before = known[-nights - 1].landing.as_of_ms if len(known) > nights else None
    shown = {each.logical_date: each.landing.as_of_ms for each in known[-nights:]}
    return PageNights(shown, before), known[-1].versions


def _is_known(life: GroupLife) -> bool:
    return bool(life.state or life.members or life.epochs or life.refusals or life.tasks)
