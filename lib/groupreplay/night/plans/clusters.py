"""What a run asks of a cluster: offsets and id of the live topic, and names of topic ids."""

from __future__ import annotations

import logging
from dataclasses import replace

from pyspark.sql import SparkSession

from groupreplay.config.model import Config
from groupreplay.config.sources import KafkaSource, KafkaTopicsSource
from groupreplay.errors import ConfigError, SourceUnreadable
from groupreplay.night.landing.record_stream import Live
from groupreplay.night.plans.inputs import Inputs
from groupreplay.sources.kafka_admin import check_connector, cluster_topics, live_topic
from groupreplay.sources.live_planning import LiveTopic

_log = logging.getLogger(__name__)


def live_source(config: Config) -> KafkaSource | None:
    """The one source of that kind, if there is one."""
    return next((source for source in config.sources if isinstance(source, KafkaSource)), None)


def with_clusters(
    spark: SparkSession,
    config: Config,
    inputs: Inputs,
    *,
    was_landed: bool,
    lands: bool,
    cluster_id: str = "",
) -> Inputs:
    """`inputs` with what the clusters of the configuration say.

    was_landed: the night has landed before and can run again from what it has: then a cluster that
        does not answer is passed over, with a warning.
    lands: asks for offsets of the live topic too; names of topics are asked for in any case.
    cluster_id: id of the cluster that the nights before asked for the live topic, "" where none
        did.

    Raises NotReady without the jars, SourceUnreadable where a cluster does not answer, ConfigError
    where the live topic is another cluster's.
    """

    kinds = (KafkaSource, KafkaTopicsSource) if lands else (KafkaTopicsSource,)
    sources = [source for source in config.sources if isinstance(source, kinds)]
    if sources:
        check_connector(spark)
    for source in sources:
        try:
            inputs = _asked(spark, source, inputs)
        except SourceUnreadable as error:
            if not was_landed:
                raise
            _log.warning("%s; this night runs again from what it had landed", error)
    _check_cluster(config, inputs.live, cluster_id)
    return inputs


def _check_cluster(config: Config, live: LiveTopic | None, known: str) -> None:
    """Raises ConfigError where the live topic is of another cluster than is known. Its log would be
    taken for a topic that was created again, and every group of the warehouse would end.
    """
    if live is not None and known and live.cluster_id not in ("", known):
        raise ConfigError(
            f"the source {live_source(config)}",
            "bootstrap_servers",
            f"these brokers are of the cluster with id {live.cluster_id}, and the nights of"
            f" {config.cluster} in {config.warehouse} read the one with id {known}; name its"
            " brokers, or give the other one a name of its own (cluster)",
        )


def _asked(spark: SparkSession, source: KafkaSource | KafkaTopicsSource, inputs: Inputs) -> Inputs:
    if isinstance(source, KafkaSource):
        return replace(inputs, live=live_topic(spark, source))
    given = {topic.topic_id: topic for topic in [*inputs.topics, *cluster_topics(spark, source)]}
    return replace(inputs, topics=tuple(given[topic_id] for topic_id in sorted(given)))


def live_of(config: Config, topic: LiveTopic | None) -> Live | None:
    """For `RecordStream`.

    topic: live topic of the plan, None where it reads none.

    Raises SourceUnreadable where a run is taken over whose plan has a live topic and whose
    configuration no longer does.
    """
    if topic is None:
        return None
    source = live_source(config)
    if source is None:
        raise SourceUnreadable(
            "kafka",
            "the plan of the run that is taken over has it, and the configuration has no source of"
            " this kind any more",
        )
    return Live(source, topic)
