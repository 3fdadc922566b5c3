"""Rows hidden as a night hides them, by a salt of these tests."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

from pyspark.sql import SparkSession

from groupreplay.config.model import PrivacyConfig
from groupreplay.report.catalog import SPECS
from groupreplay.report.words.privacy import (
    HashKeys,
    hash_keys,
    hidden,
)

SALT = "a salt of this test"
UUID = "01234567-89ab-cdef-0123-456789abcdef"
RANDOM = "+oSCpi8lQLeQT5Sz8wJzgg"
ALL_THREE = ("client_host", "client_id", "principal")


def keys(*fields: str, salt: str = SALT) -> HashKeys:
    found = hash_keys(PrivacyConfig(hash=fields or ALL_THREE, salt=salt))
    assert found is not None
    return found


def hashed(field: str, value: str) -> str:
    """As docs/configuration.md says it."""
    key = hmac.new(SALT.encode(), field.encode(), "sha256").hexdigest()
    return "h:" + hashlib.sha256((key + value).encode()).hexdigest()[:24]


def named(prefix: str) -> str:
    """A member id that began with this."""
    return f"{hashed('client_id', prefix)}-{UUID}"


def shown(
    spark: SparkSession, table: str, ddl: str, *rows: tuple[Any, ...], using: HashKeys | None = None
) -> list[tuple[Any, ...]]:
    frame = spark.createDataFrame(
        [(number, *row) for number, row in enumerate(rows)], f"n INT, {ddl}"
    ).coalesce(1)
    result = hidden(SPECS[table], frame, using or keys())
    assert result.columns == frame.columns
    return [tuple(row)[1:] for row in result.orderBy("n").collect()]


SAID = "detail_code STRING, detail_params MAP<STRING, STRING>, detail STRING"


def told(spark: SparkSession, code: str, params: dict[str, str], **how: Any) -> tuple[Any, ...]:
    """detail_params and detail of an anomaly, hidden."""
    (row,) = shown(spark, "anomalies", SAID, (code, params, "in clear"), **how)
    assert row[0] == code
    return row[1:]


HOSTILE = (
    "ann",
    "ann's laptop",
    "{member}",
    "{holder}{topic}",
    "a\nb {epoch}",
    "is",
    "epoch",
    "3",
    "range",
    'a", "b',
    "a, b",
    "\\1 $0",
    "h:0123456789abcdef01234567",
    f"h:0123456789abcdef01234567-{UUID}",
    f"{{member}} ann-{UUID}",
)
