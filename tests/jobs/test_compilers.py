"""Which of Java's compilers `spark-submit.sh` asks for, by what there is to read."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from groupreplay.cli.launch import LARGE_LOG_BYTES

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(("size", "has_both"), [(LARGE_LOG_BYTES, True), (1, False)])
def test_a_large_log_gets_both_compilers(tmp_path: Path, size: int, has_both: bool) -> None:
    """A spark-submit that prints its arguments stands in for Spark's."""
    stub = tmp_path / "spark/bin/spark-submit"
    stub.parent.mkdir(parents=True)
    stub.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    stub.chmod(0o755)
    log = tmp_path / "logs/__consumer_offsets-0/00000000000000000000.log"
    log.parent.mkdir(parents=True)
    log.touch()
    os.truncate(log, size)
    config = tmp_path / "c.yaml"
    config.write_text(
        f"cluster: c\nwarehouse: {tmp_path}/w\nsources: [{{kind: segments, path: {tmp_path}/logs}}]"
    )
    done = subprocess.run(
        [str(ROOT / "spark-submit.sh"), "run_nightly", "--config", str(config)],
        env={
            **os.environ,
            "SPARK_HOME": str(tmp_path / "spark"),
            "GROUPREPLAY_JAVA": "-XX:TieredStopAtLevel=2",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    arguments = done.stdout.splitlines()
    java = arguments[arguments.index("--driver-java-options") + 1].split()
    assert ("-XX:TieredStopAtLevel=4" in java) == has_both
    assert java[-1] == "-XX:TieredStopAtLevel=2", "what the environment says counts"
