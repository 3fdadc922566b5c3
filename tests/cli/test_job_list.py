"""What a person sees who does not know the jobs yet."""

from __future__ import annotations

import importlib
import subprocess
from pathlib import Path

import pytest

from groupreplay.cli.job_list import job_lines
from tests.support.recordings import REPOSITORY

JOBS = sorted(path.stem for path in (REPOSITORY / "jobs").glob("*.py"))


def test_every_job_is_listed_with_its_first_sentence(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text('"""Does one thing,\nand well. Then\nmore.\n\nLast."""\n')
    (tmp_path / "another.py").write_text('"""Does another."""\n')
    assert job_lines(tmp_path) == [
        "  another  Does another.",
        "  one      Does one thing, and well",
    ]


def test_without_a_job_all_of_them_are_listed() -> None:
    ran = subprocess.run(
        [REPOSITORY / "spark-submit.sh"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert ran.stdout == ""
    first, *lines = ran.stderr.splitlines()
    assert "--config FILE" in first
    assert [line.split()[0] for line in lines if line[2] != " "] == JOBS
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("job", JOBS)
def test_help_has_an_example_that_the_job_takes(job: str) -> None:
    parser = importlib.import_module(f"jobs.{job}").build_parser()
    _, _, example = parser.format_help().partition("example:\n  ./spark-submit.sh ")
    name, *options = example.split()
    assert name == job
    assert (REPOSITORY / parser.parse_args(options).config).is_file()
