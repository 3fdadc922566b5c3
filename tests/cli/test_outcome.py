"""docs/operations.md: what is there to be copied can be used as it stands."""

from __future__ import annotations

import ast
import configparser
import re
from pathlib import Path
from typing import Any

import pytest

from groupreplay.config.model import Config, GroupsConfig, GroupThresholds, Owner
from groupreplay.config.reader import load_config
from groupreplay.config.sources import Source
from groupreplay.night.dry_run import chosen_lines
from run_nightly import build_parser

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs/operations.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)


def assert_runs(command: str) -> None:
    """The command line is one of the job."""
    words = command.split("spark-submit.sh ")[1].split(" >>")[0].split()
    assert words[0] == "run_nightly"
    build_parser().parse_args(words[1:])


def test_cron_line_is_one() -> None:
    (text,) = blocks("cron")
    (line,) = text.splitlines()
    fields = re.fullmatch(r"(\S+) (\S+) (\S+) (\S+) (\S+) (\w+) (\S.*)", line)
    assert fields, "five fields of time, a user, a command"
    for value, (least, most) in zip(
        fields.groups()[:5], [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)], strict=True
    ):
        assert value == "*" or least <= int(value) <= most
    assert "%" not in fields[7], "cron takes it for the end of the line"
    assert_runs(fields[7])


def test_units_of_systemd_are_whole() -> None:
    service, timer = (_sections(text) for text in blocks("ini"))
    assert service["Service"]["Type"] == "oneshot"
    assert_runs(service["Service"]["ExecStart"])
    assert service["Service"]["RestartPreventExitStatus"].split() == ["2", "5"]
    assert re.fullmatch(r"\*-\*-\* \d\d:\d\d:\d\d UTC", timer["Timer"]["OnCalendar"])
    assert timer["Install"]["WantedBy"] == "timers.target"


def _sections(text: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(text.replace("\\\n", " "))
    return parser


def test_airflow_file_compiles_and_runs_the_job() -> None:
    (text,) = blocks("python")
    tree = ast.parse(text)
    compile(tree, "dag.py", "exec")
    (command,) = [
        ast.literal_eval(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List)
    ]
    assert_runs(" ".join(command))


def test_lines_of_progress_are_as_they_are_written() -> None:
    pattern = (
        r"\d\d:\d\d:\d\d night=\S+ step=land (ms=\d+|share=\d+% of [\d,]+ bytes rate=[\d,]+/s"
        r" left=[\d,]+s)"
    )
    lines = next(
        text
        for text in re.findall(r"^```\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)
        if "night=" in text
    ).splitlines()
    assert [line for line in lines if not re.fullmatch(pattern, line)] == []


def test_example_of_a_deployment_is_a_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("GROUPREPLAY_BUCKET", "b")
    config = load_config("conf/nightly.yaml")
    assert config.warehouse == "s3a://b/groupreplay"
    assert config.owner_rules[0].team == "orders"
    assert {source.kind for source in config.sources} == {
        "segments",
        "topics",
        "server_log",
        "request_log",
    }
    assert "${env:GROUPREPLAY_BUCKET}" in config.in_force


def test_example_holds_with_what_it_has_in_comments(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(ROOT)
    for name in ("GROUPREPLAY_BUCKET", "GROUPREPLAY_PRIVATE_BUCKET", "GROUPREPLAY_SALT"):
        monkeypatch.setenv(name, f"{name}-{'x' * 16}")
    text = (ROOT / "conf/nightly.yaml").read_text(encoding="utf-8")
    whole = tmp_path / "whole.yaml"
    whole.write_text(
        re.sub(
            r"^# ((private_warehouse|privacy):|  (hash|salt):)", r"\1", text, flags=re.MULTILINE
        ),
        encoding="utf-8",
    )
    assert load_config(str(whole)).privacy.hash == ("client_host", "principal")


def test_dry_run_says_what_patterns_decide() -> None:
    usual: dict[str, Any] = {
        "cluster": "c",
        "warehouse": "/w",
        "sources": (Source(kind="segments", path="/l"),),
    }
    assert chosen_lines(Config(**usual)) == []
    config = Config(
        **usual,
        groups=GroupsConfig(include=("a*", "b"), exclude=("ab",)),
        owners="/o.yaml",
        owner_rules=(Owner(pattern="a*", team="x"), Owner(pattern="*", team="x")),
        thresholds_by_group=(GroupThresholds(pattern="a*", limits={"static_limbo_ms": 2000}),),
    )
    assert chosen_lines(config) == [
        "would leave out groups: all but a*, b, ab",
        "would name the owners of groups by /o.yaml: 2 patterns of 1 team",
        "would use thresholds of their own for groups: a*",
    ]
