"""Layouts of a broker's log: what a line is split into, and which patterns are refused."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupreplay.wire.text.line_layout import DEFAULT_PATTERN, LineLayout, LogLine

LOGGER = "org.apache.kafka.coordinator.group.GroupMetadataManager"
LOCAL_S = int(datetime(2026, 11, 21, 5, 42, 15, tzinfo=UTC).timestamp())


def line(
    millis: int = 536,
    offset_s: int | None = None,
    level: str = "INFO",
    logger: str = LOGGER,
    message: str = "a b",
) -> LogLine:
    return LogLine(LOCAL_S, millis, offset_s, level, logger, message, True)


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (DEFAULT_PATTERN, f"[2026-11-21 05:42:15,536] INFO a b ({LOGGER})", line()),
        (
            "%d{ISO8601} %-5p [%t] %c{1}: %m%n",
            "2026-11-21 05:42:15,536 INFO  [main-1] ClassicGroup: a b",
            line(logger="ClassicGroup"),
        ),
        (
            "%d{ISO8601} %-5p [%t] %c{1}: %m%n",
            "2026-11-21T05:42:15,536 INFO  [main-1] ClassicGroup: a b",
            line(logger="ClassicGroup"),
        ),
        (
            "%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} [%thread] %5level %logger{1.} - %msg%n%xEx{full}",
            "2026-11-21T05:42:15.536+01:00 [a b]  WARN o.a.k.c.g.ClassicGroup - a b",
            line(offset_s=3600, level="WARN", logger="o.a.k.c.g.ClassicGroup"),
        ),
        (
            "%d{dd/MMM/yy hh:mm:ss a Z} %p %m",
            "21/Nov/26 05:42:15 AM -0330 INFO a b",
            line(0, -12600, logger=""),
        ),
        (
            "%d{ISO8601_OFFSET_DATE_TIME_HH}|%m (%c)",
            f"2026-11-21T05:42:15,536Z|a b ({LOGGER})",
            line(offset_s=0, level=""),
        ),
        ("%d{UNIX_MILLIS} %p %m (%c)%n", f"{LOCAL_S}536 INFO a b ({LOGGER})", line(offset_s=0)),
        ("%d{COMPACT} %p %X{a} %c %message%n", f"20261121054215536 INFO x {LOGGER} a b", line()),
        (
            "100%% %d{EEE, yyyy-MM-dd 'o''clock' H:m:s,SSSSSS} %p %m (%c)",
            f"100% Sat, 2026-11-21 o'clock 5:42:15,536999 INFO a b ({LOGGER})",
            line(),
        ),
    ],
)
def test_a_line_is_split(pattern: str, text: str, expected: LogLine) -> None:
    assert LineLayout.of(pattern).split(text) == expected


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("%p %m (%c)%n", "has no date"),
        ("%d %p (%c)%n", "has no message"),
        ("%m %d %c", "the message before the date"),
        ("%d{ABSOLUTE} %m", "ABSOLUTE has no day"),
        ("%d{HH:mm:ss} %m", "has no year"),
        ("%d{yyyy-MM-dd hh:mm:ss} %m", "12 hours"),
        ("%d{yyyy-MM-dd HH:mm:ss z} %m", "has z"),
        ("%d{yyyy yyyy-MM-dd HH:mm:ss} %m", "twice"),
        ("%d{yyyy-MM-dd'T HH:mm:ss} %m", "quote"),
        ("%d %m%n%c", "several lines"),
        ("%d %m%n --", "several lines"),
        ("%d %m %m", "twice"),
        ("%d %highlight{%m}", "%highlight"),
        ("%d %m 5%", "begins no conversion"),
        ("%d %equals{%m}{a}{b}", "%equals"),
    ],
)
def test_a_pattern_that_cannot_be_read_back_is_refused_with_one_sentence(
    pattern: str, says: str
) -> None:
    with pytest.raises(ValueError) as told:
        LineLayout.of(pattern)
    assert says in str(told.value)
    assert "\n" not in str(told.value)


def test_a_pattern_can_name_the_zone_of_its_dates() -> None:
    layout = LineLayout.of("%d{yyyy-MM-dd HH:mm:ss,SSS}{UTC} %p %m (%c)%n")
    assert layout.timezone == "UTC"
    assert LineLayout.of(DEFAULT_PATTERN).timezone is None


def test_the_last_thing_that_looks_like_a_logger_is_the_logger() -> None:
    entry = LineLayout.of(DEFAULT_PATTERN).split(
        f"[2026-11-21 05:42:15,536] INFO x (kafka.Other) (y) [z] ({LOGGER})"
    )
    assert entry is not None
    assert (entry.message, entry.logger) == ("x (kafka.Other) (y) [z]", LOGGER)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\tat kafka.Kafka.main(Kafka.scala:1)",
        "java.lang.IllegalStateException: no",
        "[2026-13-21 05:42:15,536] INFO a (b)",
    ],
)
def test_what_begins_no_event(text: str) -> None:
    assert LineLayout.of(DEFAULT_PATTERN).split(text) is None


def test_a_message_of_several_lines_begins_an_event_without_a_logger() -> None:
    layout = LineLayout.of(DEFAULT_PATTERN)
    entry = layout.split("[2026-11-21 05:42:15,764] INFO KafkaConfig values: ")
    assert entry is not None
    assert (entry.whole, entry.logger, entry.message) == (False, "", "KafkaConfig values: ")
    assert layout.ends(" (kafka.server.KafkaConfig)")
    assert not layout.ends("\tadvertised.listeners = PLAINTEXT://127.0.0.1:19092")


@given(st.text())
def test_any_text_is_split_or_not(text: str) -> None:
    LineLayout.of(DEFAULT_PATTERN).split(text)
    LineLayout.of(DEFAULT_PATTERN).split(f"[2026-11-21 05:42:15,764] INFO {text}")


@given(st.text(alphabet="%dmcpn{}'yMHs-: ,ST[]()5", max_size=20))
def test_any_pattern_is_taken_or_refused(pattern: str) -> None:
    try:
        layout = LineLayout.of(f"%d %m {pattern}")
    except ValueError:
        return
    layout.split("2026-11-21 05:42:15,764 a b c")
