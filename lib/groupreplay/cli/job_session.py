"""What every job does around its work: read the configuration, start Spark, and stop it however the
work ends.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from pyspark.sql import SparkSession

from groupreplay.cli.session import start_session
from groupreplay.compiled_core import passed_over, running
from groupreplay.config.model import Config
from groupreplay.config.reader import load_config

Work = TypeVar("Work")


@contextmanager
def job_session(
    job: str, options: argparse.Namespace, load: Callable[[], Work], *, only_reads: bool = False
) -> Iterator[tuple[SparkSession, Config, Work]]:
    """The session and the configuration that the command line names, and what the job calls. Raises
    ConfigError, NotReady.

    load: imports what the job calls and returns it. Importing pandas and pyarrow takes a second,
        so this runs in a thread while Spark starts.
    only_reads: as in `load_config`.
    """
    config = load_config(options.config, options.set, only_reads=only_reads)
    logging.getLogger(job).info(
        "cluster=%s warehouse=%s sources=%d config=%s",
        config.cluster,
        config.warehouse,
        len(config.sources),
        config.config_hash[:12],
    )
    if passed_over():
        logging.getLogger(job).warning(
            "the pure core is %s; all works as it is, only slower, until make setup compiles it",
            running(),
        )
    with ThreadPoolExecutor(1) as thread:
        loading = thread.submit(load)
        spark = start_session(f"groupreplay {job}")
    try:
        yield spark, config, loading.result()
    finally:
        spark.stop()
