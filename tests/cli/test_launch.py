"""What a job needs of its JVM, by what its configuration says and what lies where it says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from groupreplay.cli import launch
from groupreplay.cli.launch import needed
from groupreplay.cli.spark_options import BOTH_COMPILERS, KAFKA

NOW_S, BEFORE_S = 2_000_000_000, 1_900_000_000
LOG = "__consumer_offsets-0"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of logs of 100 bytes in two segments, where 100 bytes are much."""
    monkeypatch.setattr(launch, "LARGE_LOG_BYTES", 100)
    monkeypatch.setattr(launch, "LARGE_RAW_BYTES", 100)
    for name in ("00.log", "60.log"):
        _write(tmp_path / "logs" / LOG / name, 50, NOW_S)
    path = tmp_path / "c.yaml"
    path.write_text(
        f"cluster: c\nwarehouse: {tmp_path}/w\nsources: [{{kind: segments, path: {tmp_path}/logs}}]"
    )
    return path


def _write(path: Path, size: int, time_s: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"0" * size)
    os.utime(path, (time_s, time_s))


@pytest.mark.parametrize(
    ("sources", "names"),
    [
        ("[{kind: kafka, bootstrap_servers: 'b:1'}]", [KAFKA]),
        ("\n  - 'kind': \"kafka\"\n    bootstrap_servers: b:1", [KAFKA]),
        ("[{kind: topics, from: kafka, bootstrap_servers: 'b:1'}]", [KAFKA]),
        ("[{kind: segments, path: kafka}]  # not kind: kafka", []),
        ("kafka", []),
        ("[kafka]", []),
        ("", []),
    ],
)
@pytest.mark.parametrize("option", ["--config={}", "--config\n{}"])
def test_a_configuration_that_asks_a_cluster_needs_the_jars_of_kafka(
    tmp_path: Path, sources: str, names: list[str], option: str
) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(f"cluster: c\nwarehouse: /w\nsources: {sources}\n", encoding="utf-8")
    arguments = option.format(config).split("\n")
    assert needed("run_nightly", arguments) == names
    assert needed("build_reports", arguments) == names
    assert needed("query_tables", arguments) == []


def test_what_is_wrong_is_left_to_the_job(tmp_path: Path) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text("sources: [", encoding="utf-8")
    assert needed("run_nightly", ["--config", str(broken)]) == []
    assert needed("run_nightly", ["--config", str(tmp_path / "missing.yaml")]) == []
    assert needed("run_nightly", ["--config"]) == []
    assert needed("run_nightly", []) == []


def test_a_large_first_night_gets_both_compilers(config: Path) -> None:
    assert needed("run_nightly", ["--config", str(config)]) == [BOTH_COMPILERS]
    assert needed("land_logs", ["--dry-run", "--config", str(config)]) == [BOTH_COMPILERS]
    assert needed("replay_groups", ["--config", str(config)]) == [], "it reads no log"
    (config.parent / "logs" / LOG / "00.log").write_bytes(b"")
    assert needed("run_nightly", ["--config", str(config)]) == []


def test_a_log_that_an_earlier_run_read_does_not_count(config: Path) -> None:
    runs = config.parent / "w" / "runs" / "_delta_log" / "00000000000000000001.json"
    _write(runs, 5, BEFORE_S)
    assert needed("run_nightly", ["--config", str(config)]) == [BOTH_COMPILERS]
    _write(config.parent / "logs" / LOG / "00.log", 50, BEFORE_S - 1)
    assert needed("run_nightly", ["--config", str(config)]) == []
    elsewhere = ["--config", str(config), "--set", f"warehouse={config.parent}/other"]
    assert needed("run_nightly", elsewhere) == [BOTH_COMPILERS], "a new warehouse reads it all"


def test_a_rebuild_is_as_large_as_what_was_landed(config: Path) -> None:
    assert needed("rebuild_nights", ["--config", str(config)]) == []
    _write(config.parent / "w" / "raw_records" / "cluster=c" / "part.parquet", 100, BEFORE_S)
    assert needed("rebuild_nights", ["--config", str(config)]) == [BOTH_COMPILERS]


def test_what_lies_on_another_file_system_is_not_looked_at(config: Path) -> None:
    far = ["--set", "sources=[{kind: segments, path: 's3://bucket/logs/'}]"]
    assert needed("run_nightly", ["--config", str(config), *far]) == []
