"""What a run needs of the configuration to reach the live topic again, and whose topic that is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from groupreplay.config.model import Config
from groupreplay.config.sources import KafkaSource, Source
from groupreplay.errors import ConfigError, SourceUnreadable
from groupreplay.night.landing.record_stream import Live
from groupreplay.night.plans import clusters
from groupreplay.night.plans.clusters import live_of, with_clusters
from groupreplay.night.plans.inputs import Inputs
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


def asked(
    monkeypatch: pytest.MonkeyPatch, stated: str, known: str, *, was_landed: bool = False
) -> Inputs:
    """stated: id of the cluster that answers. known: as of the nights before."""
    session: Any = None
    monkeypatch.setattr(clusters, "check_connector", lambda _: None)
    monkeypatch.setattr(clusters, "live_topic", lambda *_: replace(TOPIC, cluster_id=stated))
    return with_clusters(
        session,
        Config(cluster="prod", warehouse="/w", sources=(KAFKA,)),
        Inputs((), (), 0, ()),
        was_landed=was_landed,
        lands=True,
        cluster_id=known,
    )


@pytest.mark.parametrize("was_landed", [False, True])
def test_brokers_of_another_cluster_are_refused(
    monkeypatch: pytest.MonkeyPatch, was_landed: bool
) -> None:
    with pytest.raises(ConfigError) as caught:
        asked(monkeypatch, "other", "own", was_landed=was_landed)
    assert caught.value.exit_code == 2
    assert str(caught.value) == (
        "the source kafka b:1: bootstrap_servers: these brokers are of the cluster with id other,"
        " and the nights of prod in /w read the one with id own; name its brokers, or give the"
        " other one a name of its own (cluster)"
    )


@pytest.mark.parametrize(
    ("stated", "known"),
    [("own", "own"), ("own", ""), ("", "own"), ("", "")],
    ids=["the same", "nights before did not ask", "it states none", "neither"],
)
def test_a_cluster_that_is_not_known_to_be_another_is_taken(
    monkeypatch: pytest.MonkeyPatch, stated: str, known: str
) -> None:
    live = asked(monkeypatch, stated, known).live
    assert live is not None
    assert live.cluster_id == stated
