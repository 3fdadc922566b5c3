"""What the command lines of the jobs have in common."""

from __future__ import annotations

from datetime import date

import pytest

from groupreplay.cli.options import add_dry_run, job_parser, night_parser, path


def test_keys_are_set_in_the_order_given() -> None:
    options = job_parser("j", None).parse_args(["--config", "c.yaml", "--set", "a=1", "--set=b=2"])
    assert (options.config, options.set) == ("c.yaml", ["a=1", "b=2"])
    assert (options.debug, options.log_format) == (False, "text")


def test_a_night_is_a_date() -> None:
    parser = night_parser("j", None, "yesterday")
    options = parser.parse_args(["--config", "c", "--logical-date", "2026-11-20", "--take-over"])
    assert (options.logical_date, options.take_over) == (date(2026, 11, 20), True)
    assert parser.parse_args(["--config", "c"]).logical_date is None


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "--config"),
        (
            ["--config", "c", "--logical-date", "20.11.2026"],
            "expected YYYY-MM-DD, found '20.11.2026'",
        ),
        (["--config", "c", "--logical-date", "2026-11-31"], "expected YYYY-MM-DD"),
        (["--config", "c", "--log-format", "xml"], "xml"),
        (["--conf", "c"], "--config"),
    ],
    ids=["no configuration", "another order", "no such day", "no such format", "an abbreviation"],
)
def test_what_cannot_be_is_named(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as raised:
        night_parser("j", None, "yesterday").parse_args(arguments)
    assert raised.value.code == 2
    assert says in capsys.readouterr().err


def test_a_job_that_reads_sources_can_say_what_it_would_do() -> None:
    parser = job_parser("j", None)
    add_dry_run(parser)
    assert parser.parse_args(["--config", "c", "--dry-run"]).dry_run


def test_an_example_names_the_job_and_what_it_needs() -> None:
    epilog = job_parser("run_nightly", None, example="--dry-run").epilog
    assert epilog is not None
    assert epilog.endswith("./spark-submit.sh run_nightly --config conf/nightly.yaml --dry-run")


def test_an_empty_path_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    parser = job_parser("j", None)
    parser.add_argument("--out", type=path)
    assert parser.parse_args(["--config", "c", "--out", "x"]).out == "x"
    with pytest.raises(SystemExit):
        parser.parse_args(["--config", "c", "--out", ""])
    assert "expected a path, found none" in capsys.readouterr().err
