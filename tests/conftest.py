"""The Spark session of the tests, and the tier that each test belongs to.

Every test that needs the session asks for `spark`; it starts once. CONTRIBUTING.md has the tiers.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TESTS = Path(__file__).parent
ROOT = TESTS.parent
JARS = ROOT / ".cache" / "jars"
KAFKA_JARS = ROOT / ".cache" / "kafka-jars"

LATE_SECOND_COMPILER = (
    "-XX:ReservedCodeCacheSize=240m -XX:Tier4InvocationThreshold=50000"
    " -XX:Tier4MinInvocationThreshold=6000 -XX:Tier4CompileThreshold=150000"
    " -XX:Tier4BackEdgeThreshold=400000"
)
"""As conf/spark-local.conf has it: ten times later than by default."""
LARGE_HEAP = ("-Xms1536m", "-Xmn1g")
"""From the start: a heap that grows collects garbage every few seconds until it has grown, 2 s of
each of the first nights.
"""

WHOLE = ("end_to_end", "faults", "jobs", "simulator", "test_bundle.py")
"""Folders and files of tests/ whose tests run whole jobs, or start processes of their own."""
SPARK_FILES: set[Path] = set()
"""Files with tests of this run that ask for the session."""

# An example may take its time: beside ten times the load one of 200 ms takes seconds.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")

# Tests run the sources as they are; GROUPREPLAY_COMPILED=1 makes them run the compiled core. Jobs
# that they start as processes take what a user has (tests/support/processes.py).
os.environ.setdefault("GROUPREPLAY_COMPILED", "0")

# collect() gives times in the zone of the process: pinned, so that a test says the same everywhere.
os.environ["TZ"] = "UTC"
time.tzset()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need Spark or run whole jobs, so that no test has to be marked by hand."""
    from groupreplay.compiled_core import running

    core = running()
    for item in items:
        if core.startswith("compiled") and item.get_closest_marker("interpreted"):
            item.add_marker(pytest.mark.skip(reason=f"the core is {core}"))
        place = item.path.relative_to(TESTS)
        if place.parts[0] in WHOLE:
            item.add_marker(pytest.mark.whole)
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was collected stays to the end: a collection of garbage need not walk over it again and
    again.
    """
    SPARK_FILES.update(each.path for each in session.items if each.get_closest_marker("spark"))
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    from tests.support.sharing import SharedScheduling

    return SharedScheduling(config, log)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    from groupreplay.cli.session import start_session
    from tests.support.processes import archived_classes

    delta = sorted(str(jar) for jar in Path(os.environ.get("GROUPREPLAY_JARS", JARS)).glob("*.jar"))
    assert delta, "the Delta jars are missing: run make setup"
    jars = delta + sorted(
        str(jar) for jar in Path(os.environ.get("GROUPREPLAY_KAFKA_JARS", KAFKA_JARS)).glob("*.jar")
    )
    session = start_session(
        "tests",
        {
            "spark.master": "local[2]",
            "spark.jars": ",".join(jars),
            # The archive of classes holds those of Delta where they are on the class path.
            "spark.driver.extraClassPath": ":".join(delta),
            # Plans of a hundred nights stay in the session, with a page for each small table that
            # was broadcast, by default of 16 to 64 MB: in a heap of 1 GB, two thirds of the suite's
            # time went into collecting garbage.
            "spark.driver.memory": "4g",
            "spark.buffer.pageSize": "1m",
            "spark.sql.ui.retainedExecutions": "20",
            "spark.python.daemon.module": "tests.support.worker_daemon",
            "spark.driver.host": "localhost",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "FATAL",
            "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("spark-warehouse")),
            # A test asks each question once: what Spark compiles for it is never used again. Spark
            # itself is: Java's second compiler takes a quarter off each night from the tenth on.
            "spark.driver.extraJavaOptions": " ".join(
                ["-XX:+UseSerialGC", *LARGE_HEAP, LATE_SECOND_COMPILER, *archived_classes()]
            ),
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            # As on one machine (conf/spark-local.conf): two partitions leave nothing to adapt to.
            "spark.sql.adaptive.enabled": "false",
            # 200 partitions of a dozen rows cost seconds a query, and Delta's own 50 for its log as
            # many.
            "spark.sql.shuffle.partitions": "2",
            "spark.databricks.delta.snapshotPartitions": "1",
            "spark.sql.parquet.compression.codec": "zstd",
            # Delta's statistics of columns: no row depends on them, and to gather them and to plan
            # by them takes a tenth of each night.
            "spark.databricks.delta.stats.collect": "false",
            "spark.databricks.delta.stats.skipping": "false",
            "spark.sql.ui.explainMode": "simple",
        },
    )
    with pages_where_asked():
        yield session
    session.stop()


@pytest.fixture(autouse=True, scope="module")
def _forgotten_frames(request: pytest.FixtureRequest) -> Iterator[None]:
    """Frames of a module that refer to each other keep their plans in Java until Python collects
    them.
    """
    yield
    if request.path in SPARK_FILES:
        gc.collect()


@contextmanager
def pages_where_asked() -> Iterator[None]:
    """Nights of this session draw pages only where a test configures them: a hundred nights of
    other tests would pay a second each.
    """
    from groupreplay.config.model import PageConfig
    from groupreplay.night import pages
    from groupreplay.night.publishing import publish

    with pytest.MonkeyPatch.context() as patched:
        begin, draw, asked = pages.begin_pages, pages.drawn_pages, pages.asked_tables
        # A night that begins pages and draws none leaves them to the next one.
        patched.setattr(
            publish,
            "begin_pages",
            lambda night, *rest: None if night.config.page == PageConfig() else begin(night, *rest),
        )
        patched.setattr(
            publish,
            "drawn_pages",
            lambda night, *rest: None if night.config.page == PageConfig() else draw(night, *rest),
        )
        patched.setattr(
            publish, "asked_tables", lambda page: () if page == PageConfig() else asked(page)
        )
        yield
