"""What every job does around its work: read the configuration, start Spark, and stop it however the work ends."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from groupreplay.config import Config
from groupreplay.config_file import load_config
from groupreplay.session import start_session


@contextmanager
def job_session(job: str, options: argparse.Namespace, *, only_reads: bool = False) -> Iterator[tuple[SparkSession, Config]]:
    """The session and the configuration that the command line names. only_reads: of `load_config`. Raises ConfigError, NotReady."""
    config = load_config(options.config, options.set, only_reads=only_reads)
    logging.getLogger(job).info(
        "cluster=%s warehouse=%s sources=%d config=%s", config.cluster, config.warehouse, len(config.sources), config.config_hash[:12]
    )
    spark = start_session(f"groupreplay {job}")
    try:
        yield spark, config
    finally:
        spark.stop()
