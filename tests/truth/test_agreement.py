"""What tables say of the same thing agrees, in every recording."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from itertools import pairwise

import pytest

from groupreplay.evidence.evidence_facts import Contact
from groupreplay.replay.decision_facts import GroupDay
from groupreplay.replay.facts import Epoch, Fact, HeldPartition, MemberLife, TopicSeen
from tests.support.log_lines import recorded_evidence
from tests.support.recordings import groups, recordings, topic_names
from tests.support.replaying import replayed

Life = tuple[str, int]


@cache
def facts_of(recording: str) -> tuple[Fact, ...]:
    return tuple(
        fact
        for each in groups(recording)
        for fact in replayed(each.entries, each.names, (), each.group_id, each.offsets_partition)
    )


def life_of(fact: Fact) -> Life:
    return fact.group_id, fact.incarnation


@pytest.mark.parametrize("recording", recordings())
def test_days_count_the_members_and_epochs_that_have_rows(recording: str) -> None:
    counted: Counter[tuple[Life, str]] = Counter()
    rows: Counter[tuple[Life, str]] = Counter()
    for fact in facts_of(recording):
        life = life_of(fact)
        if isinstance(fact, GroupDay):
            counted[life, "joins"] += fact.joins
            counted[life, "replaced"] += fact.replaced
            counted[life, "departures"] += fact.departures
            counted[life, "epochs"] += fact.epochs_begun
        elif isinstance(fact, MemberLife):
            is_heir = fact.replaced_by is not None
            rows[life, "joins"] += fact.start_observed - is_heir
            rows[life, "replaced"] += is_heir
            rows[life, "departures"] += fact.ended_at is not None and not is_heir
        elif isinstance(fact, Epoch):
            rows[life, "epochs"] += fact.start_observed
    assert +counted == +rows


@pytest.mark.parametrize("recording", recordings())
def test_the_next_holder_is_whoever_has_the_next_row(recording: str) -> None:
    facts = facts_of(recording)
    names = topic_names(recording) | {
        fact.topic_id: fact.topic for fact in facts if isinstance(fact, TopicSeen)
    }
    spans: dict[tuple[Life, str, int], list[HeldPartition]] = defaultdict(list)
    for fact in facts:
        if isinstance(fact, HeldPartition):
            topic = fact.topic or names.get(fact.topic_id or "", fact.topic_id or "")
            spans[life_of(fact), topic, fact.partition].append(fact)
    for held in spans.values():
        held.sort(key=lambda fact: fact.from_offset)
        for span, after in zip(held, [*held[1:], None], strict=True):
            told = span.next_member_id, span.next_assigned_at
            assert told == ((after.member_id, after.assigned_at) if after else (None, None)), span


@pytest.mark.parametrize("recording", recordings())
def test_a_member_that_left_is_not_heard_of_before_it_is_back(recording: str) -> None:
    contacts: dict[tuple[str, str], list[Contact]] = defaultdict(list)
    for fact in recorded_evidence(recording):
        if isinstance(fact, Contact):
            contacts[fact.group_id, fact.member_id].append(fact)
    for own in contacts.values():
        own.sort(key=lambda contact: contact.first_at)
        for contact in own:
            ended_at = contact.ended_at
            assert ended_at is None or (contact.last_heartbeat_at or 0) <= ended_at, contact
        for before, after in pairwise(own):
            assert before.ended_at is not None, before
            assert before.ended_at <= after.first_at, (before, after)
