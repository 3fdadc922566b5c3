"""The jobs' command lines: their help, and how they end for every foreseen error.

Holds cli/job_session.py.
"""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
import warnings
from datetime import UTC, date, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.errors import PySparkException

import build_reports
import export_tables
import land_logs
import replay_groups
import run_nightly
import show_group
from groupreplay.cli import job_session
from groupreplay.errors import (
    ConfigError,
    GroupReplayError,
    NoSpace,
    NotReady,
    RunHeld,
    SchemaDrift,
    SourceUnreadable,
    WarehouseDamaged,
)
from groupreplay.night.run import NightResult
from groupreplay.report.summary.model import NightSummary
from tests.jobs.golden_texts import same_as_golden

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("job", sorted(path.stem for path in (ROOT / "jobs").glob("*.py")))
def test_help_is_golden(job: str) -> None:
    environment = {**os.environ, "COLUMNS": "120", "PYTHONPATH": str(ROOT / "lib")}
    done = subprocess.run(
        [sys.executable, str(ROOT / f"jobs/{job}.py"), "--help"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    same_as_golden(done.stdout, f"{job}.help.txt")


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "c.yaml"
    path.write_text(
        "cluster: c\nwarehouse: /w\nsources: [{kind: segments, path: /logs/}]\n", encoding="utf-8"
    )
    return str(path)


def _ends(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    config: str,
    *more: str,
    night: Any,
) -> tuple[int, list[str]]:
    """(exit status, lines of output) of the job with this in place of Spark and the night."""
    monkeypatch.setattr(job_session, "start_session", lambda *_: SimpleNamespace(stop=lambda: None))
    monkeypatch.setattr(run_nightly, "_load", lambda: night)
    status = run_nightly.main(["--config", config, *more])
    return status, capsys.readouterr().out.splitlines()


def test_it_ends_with_the_summary_and_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], config: str
) -> None:
    asked: list[Any] = []

    def night(
        _: Any, config: Any, logical_date: date | None, *, dry_run: bool, take_over: bool
    ) -> Any:
        asked.append((config.report.top, logical_date, dry_run, take_over))
        dates = (date(2026, 1, 1), date(2026, 1, 2))
        if dry_run:
            return NightResult(dates, None, dry_run_lines=("/w can be written",))
        return NightResult(dates, None, NightSummary("c", dates[-1], None))

    status, lines = _ends(
        monkeypatch,
        capsys,
        config,
        "--logical-date",
        "2026-01-01",
        "--set",
        "report.top=7",
        night=night,
    )
    first = "groupreplay, cluster c, night 2026-01-02, nothing read yet"
    assert (status, lines[:2]) == (0, [first, ""])
    assert lines[-1].startswith("Done: night 2026-01-01 and 2026-01-02 of cluster c is in /w, in ")
    status, lines = _ends(monkeypatch, capsys, config, "--dry-run", "--take-over", night=night)
    assert (status, lines[0]) == (0, "/w can be written")
    assert lines[-1] == "Nothing was written: this was a dry run."
    assert asked == [(7, date(2026, 1, 1), False, False), (5, None, True, True)]


def test_the_steps_are_jobs_that_end_alike(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], config: str
) -> None:
    for job, ends in [
        (land_logs, "Landed: night 2026-01-01 of cluster c can be replayed, in "),
        (replay_groups, "Replayed: night 2026-01-01 of cluster c can be published, in "),
        (build_reports, "Done: night 2026-01-01 of cluster c is in /w, in "),
    ]:
        asked: list[Any] = []

        def night(
            _: Any, config: Any, logical_date: date | None, asked: list[Any] = asked, **how: Any
        ) -> Any:
            asked.append((logical_date, how))
            return NightResult((date(2026, 1, 1),), None)

        monkeypatch.setattr(
            job_session, "start_session", lambda *_: SimpleNamespace(stop=lambda: None)
        )
        monkeypatch.setattr(job, "_load", lambda night=night: night)
        assert job.main(["--config", config, "--logical-date", "2026-01-01", "--take-over"]) == 0
        assert capsys.readouterr().out.splitlines()[-1].startswith(ends)
        assert asked == [
            (
                date(2026, 1, 1),
                {"take_over": True} | ({"dry_run": False} if job is land_logs else {}),
            )
        ]


def test_the_page_of_a_group_is_asked_for_as_the_command_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], config: str
) -> None:
    def show(_: Any, config: Any, group_id: str, nights: int) -> str:
        return f"file://{config.warehouse}/{group_id}-{nights}.html"

    monkeypatch.setattr(job_session, "start_session", lambda *_: SimpleNamespace(stop=lambda: None))
    monkeypatch.setattr(show_group, "_load", lambda: show)
    assert show_group.main(["--config", config, "--group", "g", "--nights", "7"]) == 0
    assert capsys.readouterr().out == "The page of the group is file:///w/g-7.html\n"
    with pytest.raises(SystemExit):
        show_group.main(["--config", config, "--group", "g", "--nights", "91"])


def test_a_table_is_exported_as_the_command_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], config: str
) -> None:
    """Rows are chosen and written elsewhere: `tests/end_to_end/test_sql.py`."""
    night = SimpleNamespace(logical_date=date(2026, 1, 2), read=lambda name: f"rows of {name}")
    asked: list[Any] = []

    def export(*how: Any) -> int:
        asked.append(how)
        return 1_234

    monkeypatch.setattr(job_session, "start_session", lambda *_: SimpleNamespace(stop=lambda: None))
    monkeypatch.setattr(export_tables, "_load", lambda: SimpleNamespace(newest=lambda *_: night))
    monkeypatch.setattr(export_tables, "chosen", lambda *which: which)
    monkeypatch.setattr(export_tables, "export", export)
    command = ["--config", config, "--format", "csv", "--table", "members", "--to", "/m.csv"]
    assert export_tables.main([*command, "--where", "true"]) == 0
    assert asked == [(("rows of members", "members", "true"), "csv", "/m.csv")]
    assert capsys.readouterr().out == (
        "Done: 1,234 rows of members, as night 2026-01-02 of cluster c left it, are in /m.csv.\n"
    )


@pytest.mark.parametrize(
    ("error", "status", "sentence"),
    [
        (
            ConfigError("c.yaml", "sources.0.path", "is missing"),
            2,
            "c.yaml: sources.0.path: is missing",
        ),
        (
            NotReady("the Delta jars are not there", "run make setup"),
            2,
            "the Delta jars are not there; run make setup",
        ),
        (
            SourceUnreadable("segments /logs/", "there is no such directory"),
            3,
            "the source segments /logs/ cannot be read: there is no such directory",
        ),
        (
            RunHeld("c", date(2026, 1, 1), "host:7:9", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
            4,
            (
                "another run holds cluster c, night 2026-01-01: host:7:9, since 2026-01-02"
                " 03:04:05 UTC"
            ),
        ),
        (
            RunHeld(
                "c",
                date(2026, 1, 1),
                "host:7:9",
                datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
                "its process is gone",
            ),
            4,
            (
                "a dead run holds cluster c, night 2026-01-01: host:7:9, since 2026-01-02 03:04:05"
                " UTC; its process is gone: run the same job with --take-over to finish it"
            ),
        ),
        (
            WarehouseDamaged("topics", "a data file is missing", "restore it"),
            5,
            "the table topics is damaged: a data file is missing; restore it",
        ),
        (
            SchemaDrift("topics", ["the column x is in the table alone"]),
            5,
            "the table topics is not what schemas/topics.sql says: the column x is in",
        ),
        (
            NoSpace("the table topics"),
            1,
            "no space is left for the table topics; make room and run it again",
        ),
        (
            OSError(28, "No space left on device"),
            1,
            "no space is left for what the job writes; make room",
        ),
        (
            PySparkException("\tat java\n" * 9_000 + "No space left on device"),
            1,
            "no space is left for what the job writes; make room",
        ),
        (KeyboardInterrupt(), 130, "interrupted"),
        (ValueError("two\nlines"), 1, "unforeseen: ValueError: two; its trace is in "),
    ],
)
def test_errors_end_with_their_status_and_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    config: str,
    error: BaseException,
    status: int,
    sentence: str,
) -> None:
    def night(*_: Any, **__: Any) -> Any:
        raise error

    got, lines = _ends(monkeypatch, capsys, config, night=night)
    assert got == status
    assert lines[-1].startswith(sentence)
    assert "Traceback" not in "\n".join(lines)


def test_json_lines_are_json_to_the_last(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], config: str
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])

    def night(*_: Any, **__: Any) -> Any:
        logging.getLogger("groupreplay.night").info(
            "step=%s\nms=7", "land", extra={"fields": {"step": "land", "ms": 7}}
        )
        warnings.warn("look out", stacklevel=1)
        return NightResult((date(2026, 1, 1),), None, NightSummary('"c"', date(2026, 1, 1), 7))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr(
            job_session, "start_session", lambda *_: SimpleNamespace(stop=lambda: None)
        )
        monkeypatch.setattr(run_nightly, "_load", lambda: night)
        assert run_nightly.main(["--config", config, "--log-format", "json"]) == 0
        printed = capsys.readouterr()
        out, log = (
            [json.loads(line) for line in text.splitlines()] for text in (printed.out, printed.err)
        )
        assert [line["level"] for line in log] == ["INFO", "INFO", "WARNING"]
        assert (log[1]["message"], log[1]["step"], log[1]["ms"], log[1]["logger"]) == (
            "step=land ms=7",
            "land",
            7,
            "groupreplay.night",
        )
        assert "look out" in log[2]["message"]
        assert [line["message"] for line in out[:-1]] == ["summary"]
        assert out[0]["summary"][0].startswith('groupreplay, cluster "c", night 2026-01-01')
        model = out[0]["night_summary"]
        assert (model["cluster"], model["logical_date"], model["as_of_ms"]) == (
            '"c"',
            "2026-01-01",
            7,
        )
        assert out[-1]["message"].startswith("Done: night 2026-01-01 of cluster c")
        assert (out[-1]["level"], out[-1]["exit_status"]) == ("INFO", 0)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", out[-1]["at"])
        assert (
            run_nightly.main(["--config", config, "--log-format=json", "--debug", "--set", "x=1"])
            == 2
        )
        printed = capsys.readouterr()
        last = json.loads(printed.out.splitlines()[-1])
        assert (last["level"], last["exit_status"]) == ("ERROR", 2)
        assert last["message"].startswith("--set x=1: x: there is no such key")
        assert "ConfigError" in json.loads(printed.err.splitlines()[-1])["trace"]
    logging.captureWarnings(False)


def test_every_error_has_a_status_of_the_contract() -> None:
    found: dict[type[GroupReplayError], int] = {
        NoSpace: 1,
        ConfigError: 2,
        NotReady: 2,
        SourceUnreadable: 3,
        RunHeld: 4,
        WarehouseDamaged: 5,
        SchemaDrift: 5,
    }
    assert {cls.__name__: cls.exit_code for cls in found} == {
        cls.__name__: status for cls, status in found.items()
    }
    assert set(GroupReplayError.__subclasses__()) == set(found) - {SchemaDrift}


def test_bad_arguments_and_configurations_end_before_spark_starts(
    capsys: pytest.CaptureFixture[str], config: str, monkeypatch: Any
) -> None:
    monkeypatch.setattr(job_session, "start_session", lambda *_: pytest.fail("Spark was started"))
    for arguments, says in [
        ([], "the following arguments are required: --config"),
        (
            ["--config", config, "--logical-date", "2026-13-01"],
            "argument --logical-date: expected YYYY-MM-DD, found '2026-13-01'",
        ),
        (["--config", config, "--dry"], "unrecognized arguments: --dry"),
    ]:
        with pytest.raises(SystemExit) as caught:
            run_nightly.main(arguments)
        assert caught.value.code == 2
        assert says in capsys.readouterr().err.splitlines()[-1]
    assert run_nightly.main(["--config", config, "--set", "warehous=/x"]) == 2
    assert (
        capsys.readouterr().out
        == "--set warehous=/x: warehous: there is no such key; did you mean 'warehouse'?\n"
    )


def test_a_core_of_other_sources_is_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, config: str
) -> None:
    """With what mends it, in a line of the log; a core that was turned off is no news."""
    monkeypatch.setattr(job_session, "start_session", lambda *_: SimpleNamespace(stop=lambda: None))
    monkeypatch.setattr(run_nightly, "_load", lambda: pytest.fail("no night was meant to begin"))
    running = "interpreted: 12ab was made of other sources"
    monkeypatch.setattr(job_session, "running", lambda: running)
    for is_passed_over, lines in ((True, 1), (False, 0)):
        monkeypatch.setattr(job_session, "passed_over", lambda found=is_passed_over: found)
        caplog.clear()
        with pytest.raises(pytest.fail.Exception):
            run_nightly.main(["--config", config])
        said = [each for each in caplog.messages if running in each]
        assert len(said) == lines
        assert all(each.endswith("until make setup compiles it") for each in said)
