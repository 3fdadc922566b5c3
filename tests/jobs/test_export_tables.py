"""What the command line of `export_tables` refuses, before anything is started."""

from __future__ import annotations

import pytest

from export_tables import build_parser

GOOD = ["--config", "c.yaml", "--format", "csv", "--table", "runs", "--to", "runs.csv"]


def test_a_command_line_is_one() -> None:
    assert build_parser().parse_args(GOOD).to == "runs.csv"


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--to", "", "argument --to: expected a path, found none"),
        ("--table", "nothing", "argument --table: invalid choice: 'nothing' (choose from 'anom"),
        ("--table", "raw_records", "invalid choice: 'raw_records'"),
        ("--format", "xls", "invalid choice: 'xls' (choose from 'csv', 'parquet', 'json')"),
    ],
)
def test_bad_usage_is_status_2_and_says_what_is_wrong(
    option: str, value: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = list(GOOD)
    words[words.index(option) + 1] = value
    with pytest.raises(SystemExit) as ended:
        build_parser().parse_args(words)
    assert ended.value.code == 2
    assert says in capsys.readouterr().err
