"""Lines of recorded brokers against the topic's own facts and against what the script did."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter, defaultdict
from typing import Any

import pytest

from groupreplay.evidence.evidence_facts import (
    Contact,
    Departure,
    Outage,
    Rebalance,
    Refusal,
    ShardEvent,
    Silence,
)
from groupreplay.records.log_events import SERVER_LOG
from groupreplay.replay.facts import MemberLife
from groupreplay.report.joins.lines.departures import LEFT_OR_FENCED, SLACK_MS
from tests.support.log_lines import newest_ms, proved, recorded_evidence, recorded_lines
from tests.support.recordings import groups, recordings
from tests.support.replaying import replayed

RECORDINGS = sorted(recordings())
WHOLE = [name for name in RECORDINGS if not name.startswith(("compacted", "h-compacted"))]
"""Recordings whose topic still has every removal."""


def of_kind(recording: str, kind: type[Any]) -> list[Any]:
    return [fact for fact in recorded_evidence(recording) if isinstance(fact, kind)]


def timeline(recording: str) -> list[dict[str, Any]]:
    with gzip.open(
        recordings()[recording] / "truth" / "timeline.jsonl.gz", "rt", encoding="utf-8"
    ) as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize("recording", WHOLE)
def test_every_removal_in_the_topic_has_its_line_and_lines_agree(recording: str) -> None:
    """Every operation that fences a member, or lets it leave, had its line."""
    departures: dict[tuple[str, str], list[Departure]] = defaultdict(list)
    for departure in of_kind(recording, Departure):
        if departure.source == SERVER_LOG:
            departures[departure.group_id, departure.member_id].append(departure)
    removed = 0
    for group in groups(recording):
        for fact in replayed(
            group.entries, group.names, (), group.group_id, group.offsets_partition
        ):
            if not isinstance(fact, MemberLife) or fact.end_reason != LEFT_OR_FENCED:
                continue
            removed += 1
            assert fact.ended_at is not None
            near = [
                each
                for each in departures[fact.group_id, fact.member_id]
                if fact.joined_at - SLACK_MS <= each.ended_at <= fact.ended_at + SLACK_MS
            ]
            assert len({each.outcome for each in near}) == 1, (
                f"{fact.group_id} {fact.member_id}: {near}"
            )
    assert removed


def test_sessions_of_classic_members_run_out_when_their_joins_said() -> None:
    """Brokers look after a session when its timer fires, which is late by the timer's tick at most,
    and by the purgatory's where one is loaded.
    """
    expired = [
        each
        for recording in RECORDINGS
        for each in of_kind(recording, Silence)
        if each.protocol == "classic" and each.ended_by != "HEARTBEAT"
    ]
    assert len(expired) >= 7
    for silence in expired:
        assert silence.session_timeout_ms is not None, silence
        assert -50 <= silence.until_at - silence.since_at - silence.session_timeout_ms <= 1_000, (
            silence
        )
    others = [
        contact
        for recording in RECORDINGS
        for contact in of_kind(recording, Contact)
        if contact.protocol != "classic"
    ]
    assert {contact.session_timeout_ms for contact in others} == {None}, "theirs are the broker's"


@pytest.mark.parametrize("recording", RECORDINGS)
def test_who_was_killed_was_fenced_and_who_was_frozen_came_back(recording: str) -> None:
    """The script's own words: a member that was killed never left by itself."""
    contacts = {contact.member_id: contact.client_id for contact in of_kind(recording, Contact)}
    killed = {event["member"] for event in timeline(recording) if event["action"] == "kill"}
    closed = {event["member"] for event in timeline(recording) if event["action"] == "close"}
    for departure in of_kind(recording, Departure):
        client = contacts.get(departure.member_id)
        if client in killed - closed:
            assert departure.outcome == "FENCED", departure


@pytest.mark.parametrize(
    "recording", [name for name in RECORDINGS if not name.startswith("streams-")]
)
def test_only_who_was_killed_frozen_or_never_leaves_is_called_silent(recording: str) -> None:
    """No false alarms: a silence has a kill, a freeze, or the close of a client that does not say
    goodbye before it.
    """
    disturbed = {
        event["member"]
        for event in timeline(recording)
        if event["action"] in ("kill", "freeze", "close")
    }
    told = [silence.client_id for silence in of_kind(recording, Silence)]
    assert [client for client in told if client not in disturbed] == []


@pytest.mark.parametrize("recording", RECORDINGS)
def test_refusals_that_go_on_are_those_that_were_provoked(recording: str) -> None:
    loops = {
        refusal.group_id
        for refusal in of_kind(recording, Refusal)
        if refusal.last_at - refusal.first_at >= 10_000
    }
    assert {group.split("-i")[0].removesuffix("-a") for group in loops} <= {
        "duplicate",
        "duplicate-instance",
        "refused",
    }


def test_the_second_process_of_an_instance_is_one_asker_with_five_attempts() -> None:
    """Story duplicate_instance of consumer-4.3: five starts by a supervisor, each under a new
    member id.
    """
    runs = [
        each
        for each in of_kind("consumer-4.3", Refusal)
        if each.group_id == "duplicate-instance" and each.source == "request_log"
    ]
    (run,) = runs
    assert (run.refusal, run.subject, run.attempts, len(run.times_at)) == (
        "UNRELEASED_INSTANCE_ID",
        "duplicate-instance-i",
        5,
        5,
    )


def test_a_refused_upgrade_says_why() -> None:
    """Story refused of migration-4.3: a consumer-protocol member knocks at a classic Streams
    group.
    """
    refused = [
        each for each in of_kind("migration-4.3", Refusal) if each.refusal == "UPGRADE_REFUSED"
    ]
    assert {each.group_id for each in refused} == {"refused"}
    assert "CUSTOM_ASSIGNOR" in {each.message for each in refused}


@pytest.mark.parametrize("recording", RECORDINGS)
def test_phases_of_rebalances_follow_each_other(recording: str) -> None:
    for rebalance in of_kind(recording, Rebalance):
        assert rebalance.cause != "UNKNOWN", rebalance
        if rebalance.outcome == "COMPLETED":
            assert rebalance.started_at <= rebalance.joined_at <= rebalance.synced_at
        else:
            assert rebalance.synced_at is None


def test_a_slow_join_shows_in_the_join_phase() -> None:
    """Story classic_slow_join of classic-3.9: one callback of 9 s, and the others wait parked in
    their joins.
    """
    joins = [
        each.joined_at - each.started_at
        for each in of_kind("classic-3.9", Rebalance)
        if each.group_id == "classic-slow-join"
    ]
    assert max(joins) > 8_000


def test_three_brokers_take_partitions_from_each_other() -> None:
    loads = Counter(
        event.moved_from is not None
        for event in of_kind("brokers-killed-4.2", ShardEvent)
        if event.event == "LOADED"
    )
    assert loads[True] > 10
    assert not [
        event for event in of_kind("brokers-killed-4.2", ShardEvent) if event.event == "LOAD_FAILED"
    ]


def test_outages_of_killed_brokers_end() -> None:
    outages = of_kind("brokers-killed-4.2", Outage)
    assert outages
    assert all((outage.until_at or outage.last_at) - outage.since_at < 30_000 for outage in outages)


@pytest.mark.parametrize("recording", RECORDINGS)
def test_software_is_known_of_all_who_talked(recording: str) -> None:
    for contact in of_kind(recording, Contact):
        assert contact.software_name
        assert (
            contact.heartbeats == 0
            or contact.last_heartbeat_at is not None
            or contact.protocol is None
        )


@pytest.mark.parametrize("recording", RECORDINGS)
def test_nights_give_what_one_run_gives(recording: str) -> None:
    """State goes to bytes and back at random places, and the facts stay the same."""
    newest, chance = newest_ms(recording), random.Random(recording)
    for (group_id, _), lines in recorded_lines(recording).items():
        cuts = tuple(sorted(chance.sample(range(len(lines)), min(5, len(lines)))))
        cut, whole = (
            proved(group_id or "", lines, newest, cuts),
            proved(group_id or "", lines, newest),
        )
        assert sorted(map(repr, cut)) == sorted(map(repr, whole))


@pytest.mark.parametrize("recording", RECORDINGS)
def test_details_belong_to_outcomes(recording: str) -> None:
    for departure in of_kind(recording, Departure):
        is_fence = departure.end_detail == "SESSION_EXPIRED" or departure.end_detail.endswith(
            "TIMEOUT"
        )
        assert is_fence == (departure.outcome == "FENCED")
