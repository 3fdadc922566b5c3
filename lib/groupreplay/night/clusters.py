"""What a run asks of a cluster: offsets and id of the live topic, and names of topic ids."""

from __future__ import annotations

import logging
from dataclasses import replace

from pyspark.sql import SparkSession

from groupreplay.config.model import Config, KafkaSource, KafkaTopicsSource
from groupreplay.errors import SourceUnreadable
from groupreplay.night.land_records import Live
from groupreplay.night.plan import Inputs, Landing, Plan
from groupreplay.sources.kafka_admin import check_connector, cluster_topics, live_topic
from groupreplay.sources.live_planning import LiveTopic, is_other_topic

_log = logging.getLogger(__name__)


def live_source(config: Config) -> KafkaSource | None:
    """The one source of that kind, if there is one."""
    return next((source for source in config.sources if isinstance(source, KafkaSource)), None)


def with_clusters(
    spark: SparkSession, config: Config, inputs: Inputs, *, was_landed: bool, lands: bool
) -> Inputs:
    """`inputs` and what clusters say. Raises NotReady without the jars, SourceUnreadable where a
    cluster does not answer.

    was_landed: the night has landed before, so it can run again without them: then whoever does not
        answer is passed over, with a warning.
    lands: whether what is new is asked for; names of topics are in any case.
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
    return inputs


def _asked(spark: SparkSession, source: KafkaSource | KafkaTopicsSource, inputs: Inputs) -> Inputs:
    if isinstance(source, KafkaSource):
        return replace(inputs, live=live_topic(spark, source))
    given = {topic.topic_id: topic for topic in [*inputs.topics, *cluster_topics(spark, source)]}
    return replace(inputs, topics=tuple(given[topic_id] for topic_id in sorted(given)))


def live_of(config: Config, plan: Plan) -> Live | None:
    """For `land`. Raises SourceUnreadable where a run is taken over whose plan has a live topic and
    whose configuration no longer does.
    """
    if plan.live is None:
        return None
    source = live_source(config)
    if source is None:
        raise SourceUnreadable(
            "kafka",
            "the plan of the run that is taken over has it, and the configuration has no source of"
            " this kind any more",
        )
    return Live(source, plan.live)


def live_tonight(inputs: Inputs, landing: Landing) -> LiveTopic | None:
    """The live topic as a night reads it after a landing, None where it does not: one that was
    created anew since then is left to the next night.
    """
    live = inputs.live
    if live is not None and landing.raw_version >= 0 and is_other_topic(live, landing.topic_id):
        _log.warning(
            "the topic %s was created anew, its id is %s: the next night reads it",
            live.topic,
            live.topic_id,
        )
        return None
    return live


def at_plan_time(landing: Landing, plan: Plan) -> Landing:
    """A landing of the live topic is as of the time when its end offsets were taken. Where files
    hold another log, its topic's id is not known.
    """
    if plan.live is None:
        return (
            replace(landing, topic_id="") if any(unit.other_log for unit in plan.units) else landing
        )
    return replace(
        landing, as_of_ms=max(landing.as_of_ms, plan.live.as_of_ms), topic_id=plan.live.topic_id
    )
