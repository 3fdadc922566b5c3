"""What an error of Spark says that a job had foreseen: its sentence, and nothing beside it."""

from __future__ import annotations

import argparse
import logging

import pytest
from pyspark.logger import PySparkLogger

from groupreplay.cli.outcome import end_job
from groupreplay.errors import ConfigError

LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""By which PySpark says each error of a statement or a query, with a trace of 12 kB."""


@pytest.mark.parametrize("log_format", ["text", "json"])
@pytest.mark.parametrize("name", LOGGERS)
def test_a_statement_that_cannot_be_is_one_sentence(
    name: str, log_format: str, capsys: pytest.CaptureFixture[str]
) -> None:
    logging.Logger.manager.loggerDict.pop(name, None)

    def work() -> str:
        try:
            raise ValueError("a trace")
        except ValueError as error:
            PySparkLogger.getLogger(name).exception("no column nope", errorClass="UNRESOLVED")
            raise ConfigError("--where", "", "no column nope") from error

    options = argparse.Namespace(debug=False, log_format=log_format)
    assert end_job(work, options) == 2
    said = capsys.readouterr()
    assert said.err == ""
    assert len(said.out.splitlines()) == 1
    assert "--where: no column nope" in said.out
