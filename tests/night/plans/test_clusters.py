"""What a run needs of the configuration to reach the live topic again."""

from __future__ import annotations

import pytest

from groupreplay.config.model import Config, KafkaSource, Source
from groupreplay.errors import SourceUnreadable
from groupreplay.night.landing.record_stream import Live
from groupreplay.night.plans.clusters import live_of
from groupreplay.sources.live_planning import LiveTopic

TOPIC = LiveTopic("__consumer_offsets", "AAAAAAAAQACAAAAAAAAAAQ", 1_795_240_060_000, {0: (0, 10)})
KAFKA = KafkaSource(kind="kafka", bootstrap_servers="b:1")


def test_a_run_that_is_taken_over_needs_the_source_that_it_was_planned_from() -> None:
    files = Config(cluster="c", warehouse="/w", sources=(Source(kind="segments", path="/l"),))
    assert live_of(files, None) is None
    assert live_of(Config(cluster="c", warehouse="/w", sources=(KAFKA,)), TOPIC) == Live(
        KAFKA, TOPIC
    )
    with pytest.raises(SourceUnreadable, match="has no source of this kind any more"):
        live_of(files, TOPIC)
