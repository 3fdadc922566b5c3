"""What an interrupted job says: only an option that it has."""

from __future__ import annotations

import importlib
from argparse import ArgumentParser
from pathlib import Path

import pytest

from groupreplay.cli.outcome import INTERRUPTED, end_job

JOBS = sorted(path.stem for path in (Path(__file__).parents[2] / "jobs").glob("*.py"))
RESUMED = {"build_reports", "land_logs", "rebuild_nights", "replay_groups", "run_nightly"}


def _interrupted() -> str:
    raise KeyboardInterrupt


def _needed(parser: ArgumentParser) -> list[str]:
    """A word for each option that the job cannot run without."""
    return [
        word
        for action in parser._actions
        if action.required
        for word in (
            *action.option_strings[:1],
            str(next(iter(action.choices)) if action.choices else "x"),
        )
    ]


@pytest.mark.parametrize("job", JOBS)
def test_names_take_over_where_the_job_has_it(job: str, capsys: pytest.CaptureFixture[str]) -> None:
    parser: ArgumentParser = importlib.import_module(job).build_parser()
    assert end_job(_interrupted, parser.parse_args(_needed(parser))) == INTERRUPTED
    last = capsys.readouterr().out.splitlines()[-1]
    assert ("--take-over" in parser.format_help()) == (job in RESUMED) == ("--take-over" in last)
    assert last.startswith("interrupted; run it ")
