"""`spark-submit.sh`: what it hands over to Spark's, for a laptop and for a cluster."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.jobs.golden_texts import same_as_golden
from tests.support.processes import as_a_user_has_it

ROOT = Path(__file__).parent.parent.parent


def test_both_log4j2_files_say_the_same_but_for_the_layout() -> None:
    def settings(name: str) -> set[str]:
        lines = (ROOT / "conf" / name).read_text(encoding="utf-8").replace("\\\n", "").splitlines()
        return {
            line for line in lines if line and not line.startswith(("#", "appender.stderr.layout."))
        }

    assert settings("log4j2.properties") == settings("log4j2-json.properties")


def test_spark_submit_hands_over_bundle_properties_jars_and_arguments(tmp_path: Path) -> None:
    """A spark-submit that prints its arguments stands in for Spark's; the caller is in another
    directory.
    """
    stub = tmp_path / "spark/bin/spark-submit"
    stub.parent.mkdir(parents=True)
    stub.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    stub.chmod(0o755)
    jars = tmp_path / "jars"
    jars.mkdir()
    for name in ("b.jar", "a.jar", "readme.txt"):
        (jars / name).touch()
    (tmp_path / "classes.jsa").write_text("an archive", encoding="utf-8")
    environment = {
        **os.environ,
        "SPARK_HOME": str(tmp_path / "spark"),
        "GROUPREPLAY_JARS": str(jars),
        "GROUPREPLAY_MASTER": "spark://h:7077",
        "GROUPREPLAY_COMPILED": "",
        "GROUPREPLAY_ARCHIVE": "",
    }
    environment |= {
        "GROUPREPLAY_CLASSES": str(tmp_path / "classes.jsa"),
        "GROUPREPLAY_JAVA": "-Xss2m",
    }
    command = [
        str(ROOT / "spark-submit.sh"),
        "run_nightly",
        "--config",
        "with space.yaml",
        "--set",
        "a=$b 'c'",
    ]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    arguments = done.stdout.splitlines()
    bundle = Path(arguments[arguments.index("--py-files") + 1])
    names = set(zipfile.ZipFile(bundle).namelist())
    assert {
        "groupreplay/__init__.py",
        "groupreplay/__init__.pyc",
        "groupreplay/_schemas/runs.sql",
        "groupreplay/_base.yaml",
    } <= names
    written = bundle.stat().st_ino
    same_as_golden(
        done.stdout.replace(str(bundle), "BUNDLE")
        .replace(str(ROOT), "HOME")
        .replace(str(tmp_path), "TMP"),
        "spark_submit.argv.txt",
    )
    for option in (["--log-format", "json"], ["--log-format=json"]):
        done = subprocess.run(
            [*command, *option],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        java = done.stdout.splitlines()[arguments.index("--driver-java-options") + 1]
        assert java.startswith(
            f'"-Dlog4j2.configurationFile=file:{ROOT}/conf/log4j2-json.properties" '
        )
        assert str(bundle) in done.stdout.splitlines(), (
            "what did not change has the bundle of the run before"
        )
    assert bundle.stat().st_ino == written
    assert _drawn_by(bundle) == _drawn_here(), "stylesheet and script are found inside the bundle"


DRAWS = """
import hashlib, sys
from datetime import date
from groupreplay.page.drawing import document
from groupreplay.page.group.group_page import group_page
from groupreplay.page.model.life import GroupLife
from groupreplay.page.model.read import read_fleet
from groupreplay.page.overview.overview import overview

night = {"cluster": "c", "logical_date": date(2026, 11, 21), "as_of_ms": 9, "version": "0"}
pages = overview(read_fleet({}, since_at_ms=None, **night)), group_page(
    GroupLife(group_id="g", from_at_ms=None, **night)
)
for page in pages:
    assert f"<style>{document.CSS}</style>" in page and document.JS in page
drawn = [len(page) > 20_000 and hashlib.sha256(page.encode()).hexdigest() for page in pages]
"""
"""Draws an overview and a group, of which nothing is known."""


def _drawn_here() -> list[str]:
    names: dict[str, Any] = {}
    exec(DRAWS, names)
    found: list[str] = names["drawn"]
    return found


def _drawn_by(bundle: Path) -> list[str]:
    """Digests of what a process draws that has the standard library and this bundle alone."""
    code = f"{DRAWS}\nprint(document.__file__, *drawn)"
    path = f"import sys; sys.path.insert(0, {str(bundle)!r})\n"
    command = [sys.executable, "-I", "-S", "-c", path + code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    place, *drawn = done.stdout.split()
    assert place.startswith(f"{bundle}/groupreplay/page/drawing/")
    return drawn


@pytest.mark.parametrize(
    ("sources", "asks_a_cluster"),
    [
        ("sources: [{kind: kafka, bootstrap_servers: 'b:1'}]", True),
        ("sources:\n  - kind: 'kafka'\n    bootstrap_servers: b:1", True),
        ("sources: [{kind: topics, from: kafka, bootstrap_servers: 'b:1'}]", True),
        ("sources: [{kind: segments, path: kafka}]  # not kind: kafka", False),
    ],
)
@pytest.mark.parametrize("option", ["--config={}", "--config\n{}"])
def test_jars_of_kafka_come_along_where_a_cluster_is_asked(
    tmp_path: Path, sources: str, asks_a_cluster: bool, option: str
) -> None:
    stub = tmp_path / "spark/bin/spark-submit"
    stub.parent.mkdir(parents=True)
    stub.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    stub.chmod(0o755)
    (tmp_path / "c.yaml").write_text(f"cluster: c\nwarehouse: /w\n{sources}\n", encoding="utf-8")
    jars = tmp_path / "kafka"
    jars.mkdir()
    environment = {
        **os.environ,
        "SPARK_HOME": str(tmp_path / "spark"),
        "GROUPREPLAY_JARS": "",
        "GROUPREPLAY_KAFKA_JARS": str(jars),
    }
    command = [str(ROOT / "spark-submit.sh"), "run_nightly", *option.format("c.yaml").split("\n")]

    def submitted(**more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            env={**environment, **more},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    missing = submitted()
    assert missing.returncode == (2 if asks_a_cluster else 0)
    assert ("run make kafka-jars" in missing.stderr) == asks_a_cluster
    assert submitted(GROUPREPLAY_KAFKA_JARS="").returncode == 0, "a cluster that has them"
    (jars / "k.jar").touch()
    arguments = submitted().stdout.splitlines()
    assert (str(jars / "k.jar") in arguments) == asks_a_cluster


def test_spark_submit_names_the_jobs_there_are() -> None:
    done = subprocess.run(
        [ROOT / "spark-submit.sh", "no_such_job"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "run_nightly" in done.stderr


def test_a_real_spark_submit_ends_with_the_sentence_and_the_status(tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(
        "cluster: c\nwarehouse: /w\nsources: [{kind: segment, path: x}]\n", encoding="utf-8"
    )
    command = [str(ROOT / "spark-submit.sh"), "run_nightly", "--config", "c.yaml"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=as_a_user_has_it(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert (
        done.stdout.splitlines()[-1]
        == "c.yaml: sources.0.kind: there is no kind of source 'segment'; did you mean 'segments'?"
    )
    assert "Traceback" not in done.stdout
