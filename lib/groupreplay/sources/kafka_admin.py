"""What a cluster says of itself, by the admin client of Kafka's own Java library, which Spark's
Kafka source brings along: one set of options serves both.

Runs on the driver. Every fault of a cluster is SourceUnreadable, an option that Kafka refuses a
ConfigError, and no message shows a secret.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.sql import SparkSession

from groupreplay.config.kafka_options import secrets_of
from groupreplay.config.sources import KafkaSource, KafkaTopicsSource
from groupreplay.errors import ConfigError, NotReady, SourceUnreadable
from groupreplay.sources.given_topics import GivenTopic
from groupreplay.sources.live_planning import LiveTopic

T = TypeVar("T")
Connection = KafkaSource | KafkaTopicsSource

_CLASSES = (
    "org.apache.spark.sql.kafka010.KafkaSourceProvider",
    "org.apache.spark.kafka010.KafkaConfigUpdater",
    "org.apache.kafka.clients.admin.Admin",
)
_TROUBLE = ("org.apache.kafka.", "org.apache.spark.sql.kafka010.")
_BAD_OPTION = "org.apache.kafka.common.config.ConfigException"
_EXCEPTION = re.compile(r"(?:[\w$]+\.)+\w+(?:Exception|Error)\b")
_LONG_ENOUGH = 300


def check_connector(spark: SparkSession) -> None:
    """Raises NotReady where Spark's Kafka source is not there."""
    jvm: Any = spark._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    try:
        for name in _CLASSES:
            jvm.java.lang.Class.forName(name, False, loader)
    except Py4JJavaError as error:
        raise NotReady(
            "the jars of Spark's Kafka source are not on its class path",
            "run make kafka-jars, or name a folder that holds them in GROUPREPLAY_KAFKA_JARS",
        ) from error


def live_topic(spark: SparkSession, source: KafkaSource) -> LiveTopic:
    """The offsets topic as it is now. Raises SourceUnreadable."""

    def ask(jvm: Any, admin: Any) -> LiveTopic:
        clients = jvm.org.apache.kafka.clients.admin
        described = (
            admin.describeTopics(_list(jvm, [source.topic])).allTopicNames().get().get(source.topic)
        )
        partitions = [each.partition() for each in described.partitions()]
        # Looked at before the ends are taken, so what they do not cover is younger.
        as_of_ms = int(time.time() * 1000)
        newest, oldest = clients.OffsetSpec.latest(), clients.OffsetSpec.earliest()
        written = _offsets(jvm, admin, source.topic, partitions, newest, "READ_UNCOMMITTED")
        ends = _offsets(jvm, admin, source.topic, partitions, newest)
        starts = _offsets(jvm, admin, source.topic, partitions, oldest)
        offsets = {
            partition: (min(starts[partition], ends[partition]), ends[partition])
            for partition in sorted(partitions)
        }
        return LiveTopic(
            source.topic,
            described.topicId().toString(),
            as_of_ms,
            offsets,
            _compaction_lag_ms(jvm, admin, source.topic),
            str(admin.describeCluster().clusterId().get() or ""),
            whole_partitions(written, ends),
        )

    return _asked(spark, source, ask)


def whole_partitions(written: Mapping[int, int], ends: Mapping[int, int]) -> tuple[int, ...]:
    """Partitions of which a consumer that reads committed gets all that was written.

    written: partition -> one past its last record, asked first.
    ends: partition -> one past the last that such a consumer gets: less while a transaction is
        open.
    """
    return tuple(sorted(each for each, end in ends.items() if end >= written[each]))


def cluster_topics(spark: SparkSession, source: KafkaTopicsSource) -> list[GivenTopic]:
    """Every topic of the cluster that these credentials may see, internal ones too. Raises
    SourceUnreadable.
    """

    def ask(jvm: Any, admin: Any) -> list[GivenTopic]:
        options = jvm.org.apache.kafka.clients.admin.ListTopicsOptions().listInternal(True)
        names = admin.listTopics(options).names().get()
        described = admin.describeTopics(names).allTopicNames().get().values()
        return sorted(
            (
                GivenTopic(each.topicId().toString(), each.name(), each.partitions().size())
                for each in described
            ),
            key=lambda one: one.topic_id,
        )

    return _asked(spark, source, ask)


@contextmanager
def readable(source: Connection) -> Iterator[None]:
    """Raises SourceUnreadable for the errors of Spark inside that are about Kafka."""
    try:
        yield
    except Exception as error:
        why = _why_unreadable(error)
        if why is None:
            raise
        raise SourceUnreadable(str(source), _masked(why, source)) from error


def _asked(spark: SparkSession, source: Connection, ask: Callable[[Any, Any], T]) -> T:
    jvm: Any = spark._jvm
    settings = jvm.java.util.HashMap()
    for name, value in {**source.options, "bootstrap.servers": source.bootstrap_servers}.items():
        settings.put(name, value)
    try:
        admin = jvm.org.apache.kafka.clients.admin.Admin.create(settings)
        try:
            return ask(jvm, admin)
        finally:
            admin.close(jvm.java.time.Duration.ofSeconds(1))
    except Py4JJavaError as error:
        cause = _innermost(error.java_exception)
        words = _masked(str(cause.getMessage() or cause.getClass().getSimpleName()), source)
        if cause.getClass().getName() == _BAD_OPTION:
            raise ConfigError(f"the source {source}", "options", words) from error
        raise SourceUnreadable(str(source), words) from error
    except Py4JError as error:
        raise SourceUnreadable(str(source), _masked(str(error), source)) from error


def _offsets(
    jvm: Any,
    admin: Any,
    topic: str,
    partitions: list[int],
    spec: Any,
    isolation: str = "READ_COMMITTED",
) -> dict[int, int]:
    asked, place = jvm.java.util.HashMap(), jvm.org.apache.kafka.common.TopicPartition
    for partition in partitions:
        asked.put(place(topic, partition), spec)
    options = jvm.org.apache.kafka.clients.admin.ListOffsetsOptions(
        jvm.org.apache.kafka.common.IsolationLevel.valueOf(isolation)
    )
    found = admin.listOffsets(asked, options).all().get()
    return {partition: found.get(place(topic, partition)).offset() for partition in partitions}


def _compaction_lag_ms(jvm: Any, admin: Any, topic: str) -> int:
    """0 where these credentials may not ask: then nothing is made of it."""
    resource = jvm.org.apache.kafka.common.config.ConfigResource(
        jvm.org.apache.kafka.common.config.ConfigResource.Type.TOPIC, topic
    )
    try:
        entry = (
            admin.describeConfigs(_list(jvm, [resource]))
            .all()
            .get()
            .get(resource)
            .get("min.compaction.lag.ms")
        )
    except Py4JJavaError:
        return 0
    return int(entry.value()) if entry is not None else 0


def _list(jvm: Any, items: list[Any]) -> Any:
    found = jvm.java.util.ArrayList()
    for item in items:
        found.add(item)
    return found


def _innermost(error: Any) -> Any:
    """Those around it only say that something failed."""
    while error.getCause() is not None:
        error = error.getCause()
    return error


def _why_unreadable(error: BaseException) -> str | None:
    """The line in which Kafka's client or Spark's source says what is wrong; None where the error
    is about something else.
    """
    if not (isinstance(error, Py4JError) or type(error).__module__.startswith("pyspark.")):
        return None
    lines = [line.strip() for line in str(error).splitlines()]
    if not any(sign in line for line in lines for sign in _TROUBLE):
        return None
    told = [line for line in lines if not line.startswith("at ") and _EXCEPTION.search(line)]
    own = [line for line in told if any(sign in line for sign in _TROUBLE)]
    return _EXCEPTION.split((own or told or lines)[-1])[-1].strip(": ") or "it did not answer"


def _masked(text: str, source: Connection) -> str:
    for secret in secrets_of(source.options):
        text = text.replace(secret, "***")
    text = " ".join(text.split())
    return text if len(text) <= _LONG_ENOUGH else f"{text[:_LONG_ENOUGH]}..."
