"""The sources of a run, as a configuration names them. Metadata of fields: as in `config.model`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from groupreplay.records.log_events import REQUEST_LOG, SERVER_LOG
from groupreplay.wire.text.line_layout import DEFAULT_PATTERN

TEXT_KINDS = (SERVER_LOG, REQUEST_LOG)

SOURCE_KINDS = ("segments", "dump_log", "kafka", *TEXT_KINDS, "topics")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """kind: one of SOURCE_KINDS.
    path: a file, directory or glob, local (then absolute) or a URI.
    """

    kind: str
    path: str

    def __str__(self) -> str:
        return f"{self.kind} {self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLogSource(Source):
    """Logs of one broker.

    broker: its node id.
    timezone: IANA name of the zone of times that are written without one.
    layout: the log4j pattern that its lines follow.
    """

    broker: int = field(metadata={"min": 0, "max": 2**31 - 1})
    timezone: str = field(
        metadata={
            "check": "timezone",
            "expected": "the broker's time zone, an IANA name such as UTC or Europe/Berlin",
        }
    )
    layout: str = field(default=DEFAULT_PATTERN, metadata={"check": "layout"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLogSource(ServerLogSource):
    """message_field: where a shipper wrapped each line in JSON, the dotted key under which the line
        stands; None: lines are as Kafka wrote them.
    time_field: the dotted key of the time of shipping, for lines that were stripped of their own.
    """

    message_field: str | None = None
    time_field: str | None = None


_SERVERS = {
    "pattern": r"(?:[^\s,]+:\d{1,5})(?:,\s*[^\s,]+:\d{1,5})*",
    "expected": "host:port, or several parted by commas",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaSource:
    """The live offsets topic.

    options: options of Kafka's clients, by Kafka's names; some are secrets, so they show nowhere.
    """

    kind: str
    bootstrap_servers: str = field(metadata=_SERVERS)
    options: Mapping[str, str] = field(
        default_factory=dict, repr=False, metadata={"kafka_options": True}
    )
    topic: str = field(
        default="__consumer_offsets",
        metadata={"pattern": r"[A-Za-z0-9._-]{1,249}", "expected": "the name of a topic"},
    )

    def __str__(self) -> str:
        return f"{self.kind} {self.bootstrap_servers}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaTopicsSource:
    """Topic ids and names as the cluster itself gives them.

    bootstrap_servers: None: those, and the options, of the source of the kind kafka.
    """

    kind: str
    bootstrap_servers: str | None = field(default=None, metadata=_SERVERS)
    options: Mapping[str, str] = field(
        default_factory=dict, repr=False, metadata={"kafka_options": True}
    )

    def __str__(self) -> str:
        return f"{self.kind} from kafka {self.bootstrap_servers}"


AnySource = Source | KafkaSource | KafkaTopicsSource
