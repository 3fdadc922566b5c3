"""Options of Kafka's clients as a configuration may give them: any of security or time, none that
changes what is read, and no secret in clear.

A value may hold `${env:NAME}` and `${file:/path}` (the file's text, without the line's end). No
message quotes a value: it may be a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from groupreplay.config.sources import AnySource, KafkaSource, KafkaTopicsSource

REFUSED: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        (
            "group.id",
            "groupIdPrefix",
            "group.instance.id",
            "group.protocol",
            "group.remote.assignor",
        ),
        "nothing is consumed as a group",
    ),
    **dict.fromkeys(
        ("enable.auto.commit", "auto.commit.interval.ms", "transactional.id"),
        "nothing is written to Kafka",
    ),
    **dict.fromkeys(
        ("isolation.level", "auto.offset.reset", "failOnDataLoss"),
        "what is read must not depend on it",
    ),
    **dict.fromkeys(
        ("subscribe", "subscribePattern", "assign", "partition.assignment.strategy"),
        "all partitions are read",
    ),
    **dict.fromkeys(
        ("startingOffsets", "endingOffsets", "startingTimestamp", "endingTimestamp"),
        "the plan of the run says from where to where",
    ),
    **dict.fromkeys(
        ("startingOffsetsByTimestamp", "endingOffsetsByTimestamp"),
        "the plan of the run says from where to where",
    ),
    **dict.fromkeys(
        ("minPartitions", "maxRecordsPerPartition", "maxOffsetsPerTrigger"),
        "the plan of the run says from where to where",
    ),
    **dict.fromkeys(
        ("key.deserializer", "value.deserializer", "interceptor.classes", "includeHeaders"),
        "records are read as bytes",
    ),
    "bootstrap.servers": "it is the key bootstrap_servers",
}
"""Option -> why it cannot be given."""

FILES_OF_TOPIC: Final = ("segments", "dump_log")
"""Kinds of sources that hold the offsets topic as the kind kafka does: two of them at once would
land records twice.
"""

_SECRET: Final = re.compile(r"password|secret|token|keystore\.key$", re.IGNORECASE)
_SECRET_INSIDE: Final = re.compile(r"(?:password|secret)\w*\s*=\s*(?![\s\"']*\$\{)", re.IGNORECASE)
_NO_SECRET: Final = re.compile(r"endpoint|url|refresh|location|expected|provider|algorithm")
_REFERENCE: Final = re.compile(r"\$\{(env|file):([^}]*)\}")

RaiseError = Callable[[str, str], Exception]
"""(key, problem) -> the error to raise."""


def read_options(
    tree: Any, key: str, error: RaiseError, variable: Callable[[str, str], str]
) -> dict[str, str]:
    """Options by the names that Kafka gives them, all as texts.

    key: where they stand.
    variable: (name, key) -> a variable of the environment. Raises what `error` makes of the first
        that cannot be.
    """
    if not isinstance(tree, Mapping):
        raise error(key, "expected a mapping of Kafka's option names to values")
    options = {}
    for name, value in tree.items():
        place = f"{key}.{name}"
        plain = name.removeprefix("kafka.")
        if plain in REFUSED:
            raise error(place, f"this option cannot be given: {REFUSED[plain]}")
        if plain != name:
            raise error(place, f"expected Kafka's own name of the option, {plain!r}")
        if not isinstance(value, (str, int, float)):
            raise error(place, "expected a text, a number, or true or false")
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if _is_secret_in_clear(name, text):
            raise error(
                place, "holds a secret in clear: expected ${env:NAME} or ${file:/path} in its place"
            )
        options[name] = _replaced(text, place, error, variable)
    return options


def connected(sources: Sequence[AnySource], error: RaiseError) -> tuple[AnySource, ...]:
    """What sources must say together. One of topics without brokers of its own asks those of the
    live topic.
    """
    live = [
        (index, source) for index, source in enumerate(sources) if isinstance(source, KafkaSource)
    ]
    if len(live) > 1:
        raise error(
            f"sources.{live[1][0]}",
            "expected one source of the kind kafka: a configuration is of one cluster",
        )
    found = []
    for index, source in enumerate(sources):
        if live and source.kind in FILES_OF_TOPIC:
            raise error(
                f"sources.{index}.kind",
                f"a run reads the offsets topic from files or from kafka, found {source.kind}"
                " beside kafka",
            )
        if isinstance(source, KafkaTopicsSource) and source.bootstrap_servers is None:
            if not live or source.options:
                raise error(
                    f"sources.{index}.bootstrap_servers",
                    "is missing, expected host:port, or no options and a source of the kind kafka",
                )
            source = replace(
                source, bootstrap_servers=live[0][1].bootstrap_servers, options=live[0][1].options
            )
        found.append(source)
    return tuple(found)


def secrets_of(options: Mapping[str, str]) -> list[str]:
    """Values, and quoted parts of values, that no message may show."""
    found = []
    for name, value in options.items():
        if _may_be_secret(name):
            found.append(value)
        elif name.endswith("jaas.config"):
            found += [
                value,
                *re.findall(r'(?:password|secret)\w*\s*=\s*"([^"]+)"', value, re.IGNORECASE),
            ]
    return [value for value in found if value]


def _may_be_secret(name: str) -> bool:
    return _SECRET.search(name) is not None and _NO_SECRET.search(name) is None


def _is_secret_in_clear(name: str, text: str) -> bool:
    if name.endswith("jaas.config"):
        return _SECRET_INSIDE.search(text) is not None
    return _may_be_secret(name) and text != "" and _REFERENCE.fullmatch(text) is None


def _replaced(text: str, place: str, error: RaiseError, variable: Callable[[str, str], str]) -> str:
    def found(match: re.Match[str]) -> str:
        if match[1] == "env":
            return variable(match[2], place)
        try:
            with open(match[2], encoding="utf-8") as file:
                return file.read().rstrip("\r\n")
        except (OSError, ValueError) as cause:
            why = (
                cause.strerror
                if isinstance(cause, OSError) and cause.strerror
                else "it is not text"
            )
            raise error(place, f"the file {match[2]!r} cannot be read: {why}") from cause

    return _REFERENCE.sub(found, text)
