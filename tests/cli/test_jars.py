"""Which jars a job needs, by what its configuration says and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupreplay.cli.jars import needed


@pytest.mark.parametrize(
    ("sources", "names"),
    [
        ("[{kind: kafka, bootstrap_servers: 'b:1'}]", ["kafka"]),
        ("\n  - 'kind': \"kafka\"\n    bootstrap_servers: b:1", ["kafka"]),
        ("[{kind: topics, from: kafka, bootstrap_servers: 'b:1'}]", ["kafka"]),
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
    assert needed("query_tables", arguments) == []


def test_what_is_wrong_is_left_to_the_job(tmp_path: Path) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text("sources: [", encoding="utf-8")
    assert needed("run_nightly", ["--config", str(broken)]) == []
    assert needed("run_nightly", ["--config", str(tmp_path / "missing.yaml")]) == []
    assert needed("run_nightly", ["--config"]) == []
    assert needed("run_nightly", []) == []
