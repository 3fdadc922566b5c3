"""States of every release are read, and go on to the facts of a log that was never cut."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import asdict, replace
from functools import cache
from typing import Any

import pytest

import groupreplay
from groupreplay.evidence import saved_memory as evidence_state
from groupreplay.evidence.evidence_facts import (
    Contact,
    Departure,
    EvidenceFact,
    Outage,
    Rebalance,
    Rejoin,
)
from groupreplay.evidence.evidence_replay import EvidenceReplay
from groupreplay.evidence.memory import Line
from groupreplay.evidence.removals import LEFT
from groupreplay.replay.decision_facts import Absence, Churn, Failover, GroupDay
from groupreplay.replay.facts import (
    Chain,
    Epoch,
    Fact,
    GroupSnapshot,
    HeldPartition,
    MemberLife,
    Stall,
)
from groupreplay.replay.group_replay import GroupReplay
from groupreplay.replay.saved import saved_life as state
from groupreplay.replay.streams_facts import (
    HeldTask,
    StreamsProcess,
    StreamsRebalance,
    StreamsSubtopology,
    TaskHandOver,
)
from groupreplay.state_codec import Converters
from tests.replay.kept_states import (
    EVIDENCE,
    LIFE,
    REQUIRED,
    KeptState,
    fields_now,
    kept,
    lines_of,
    machine_of,
    place,
    releases,
)
from tests.support.log_lines import newest_ms
from tests.support.recordings import RecordedGroup, group
from tests.support.replaying import difference, fact_keys

CONVERTERS: dict[str, Converters] = {LIFE: state.CONVERTERS, EVIDENCE: evidence_state.CONVERTERS}
RENAMED = {LIFE: state.RENAMED, EVIDENCE: evidence_state.RENAMED}

MENDED = {
    # its member waits since a K8 that 0.2.0 took for the beginning of a wait
    ("0.2.0", "brokers-killed-4.2", "churn-a"): ("stall",),
    # their open generation came behind a hole, and 0.2.0 took its start for seen
    ("0.2.0", "compacted-4.3", "classic-static"): ("epoch",),
    ("0.2.0", "compacted-4.3", "rollback"): ("epoch",),
    # a hole lies in their open epoch, which these releases took for converged behind it
    **{
        (release, "compacted-4.3", group_id): ("epoch",)
        for release in ("0.2.0", "0.3.0")
        for group_id in ("scale-up", "slow-revoker", "upgrade-coop")
    },
    # they took it for mixed all through the hole
    **{
        (release, "compacted-4.3", "mixed-stall"): ("epoch", "stall", "group_snapshot")
        for release in ("0.2.0", "0.3.0")
    },
}
"""What a release had told wrongly already, and no state unlearns: the kinds of the facts that
differ until they are closed."""

TASKS = (HeldTask, StreamsProcess, StreamsRebalance, StreamsSubtopology, TaskHandOver)
DECISIONS = (Absence, Churn, Failover, GroupDay)
OF_TASKS = {"FOLLOWUP_MISSING", "LEARNER_NEVER_READY", "PROBE_MISSED", "REBALANCE_LOOP"}

NEWS: dict[type[Fact], dict[str, Any]] = {
    MemberLife: dict.fromkeys(
        [
            *("process_id", "session_timeout_ms", "rebalance_timeout_ms", "protocols"),
            *("server_assignor", "embedded_version", "rack_id", "topics_subscribed"),
            *("subscription_hash", "subscribed_regex", "subscription_user_data"),
            *("assignment_user_data", "lists_owned", "profile_offset", "client_inherited"),
        ]
    ),
    Epoch: dict.fromkeys(
        [
            *("joined_at", "sync_ms", "cooperative", "skipped", "partitions", "stopped"),
            "leader_member_id",
        ]
    ),
    HeldPartition: {"rewound": None},
    GroupSnapshot: {
        **dict.fromkeys(
            [
                *("cooperative", "k2_offset", "unbroken_since_at", "emptied_at", "recreated_at"),
                *("downgrade_offset", "instances_gone"),
            ]
        ),
        "epoch_times_at": [],
        **{f"static_{each}": [] for each in ("ended_at", "gap_low_ms", "gap_high_ms", "outcomes")},
    },
}
"""Fields that no release up to 0.3.0 knew, as a state of those leaves them at worst."""

COUNTED = {(release, "other-groups-4.2", "streams-new") for release in ("0.2.0", "0.3.0")}
"""Groups of the streams protocol (KIP-1071), whose members those releases only counted."""

UNKNOWN_OF_COUNTED = (
    *("process_id", "cause_process_id", "from_process_id", "partitions_moved"),
    *("processes", "tasks", "tasks_active", "tasks_missing", "tasks_revoked"),
    *("outcome", "converged_at", "converge_ms"),
)
"""Columns that say less of such a group, until all of its members were seen again."""

lines_by_subject = cache(lines_of)


def kept_states(kind: str, *, counted: bool = False) -> list[Any]:
    return [
        pytest.param(release, one, id=f"{release}-{one.recording}-{one.group_id or one.partition}")
        for release in releases()
        for one in kept(release)[1]
        if one.kind == kind and ((release, one.recording, one.group_id) in COUNTED) == counted
    ]


def rest_of_log(machine: GroupReplay, recorded: RecordedGroup, after: int) -> list[Fact]:
    """What the log tells after an offset."""
    machine.take_facts()
    for entry in recorded.entries:
        if entry.offset > after:
            machine.replay(entry)
    machine.flush()
    return [*machine.take_facts(), *machine.open_facts()]


def both_rests(one: KeptState) -> tuple[list[Fact], list[Fact]]:
    """What the log tells after a state, to a machine that saw all of it and to one that has the
    state alone.
    """
    recorded, (after,) = group(one.recording, one.group_id), one.after
    whole = machine_of(recorded)
    for entry in recorded.entries:
        if entry.offset <= after:
            whole.replay(entry)
    whole.flush()
    restored = GroupReplay.restore(
        recorded.group_id, recorded.offsets_partition, recorded.names, one.data
    )
    return rest_of_log(whole, recorded, after), rest_of_log(restored, recorded, after)


def of_tasks(fact: Fact) -> bool:
    """No release up to 0.3.0 replayed tasks of Kafka Streams, so its states know none."""
    return (isinstance(fact, (Stall, Chain)) and fact.reason in OF_TASKS) or isinstance(fact, TASKS)


def is_new(fact: Fact) -> bool:
    """No release up to 0.3.0 replayed what decisions are made by."""
    return of_tasks(fact) or isinstance(fact, DECISIONS)


def as_then(fact: Fact) -> Fact:
    """As a release up to 0.3.0 knew it."""
    return replace(fact, **NEWS.get(type(fact), {}))


@pytest.mark.parametrize(("release", "one"), kept_states(LIFE))
def test_a_life_goes_on(release: str, one: KeptState) -> None:
    known = MENDED.get((release, one.recording, one.group_id), ())
    wanted, got = (
        fact_keys(as_then(f) for f in facts if f.KIND not in known and not is_new(f))
        for facts in both_rests(one)
    )
    assert got == wanted, difference(wanted, got)


@pytest.mark.parametrize(("release", "one"), kept_states(LIFE, counted=True))
def test_a_life_that_was_only_counted_goes_on_as_one_seen_from_there(
    release: str, one: KeptState
) -> None:
    wanted, got = both_rests(one)
    (after,) = one.after
    assert any(isinstance(f, MemberLife) and f.client_id for f in got), "it knows its members"
    assert not [f for f in got if f.from_offset <= after and f.start_observed]
    unseen = ("start_observed", *UNKNOWN_OF_COUNTED)
    seen = {_without(fact, unseen) for fact in wanted if fact.from_offset > after}
    told = {_without(f, unseen) for f in got if f.from_offset > after and f.start_observed}
    assert told
    assert told <= seen, sorted(told - seen)


def _without(fact: Fact, names: Collection[str]) -> str:
    return repr([fact.KIND, *(pair for pair in asdict(fact).items() if pair[0] not in names)])


def rest_of_lines(machine: EvidenceReplay, lines: list[Line], recording: str) -> list[EvidenceFact]:
    machine.take_facts()
    for line in lines:
        machine.replay(line)
    machine.forget(newest_ms(recording))
    return [*machine.take_facts(), *machine.open_facts()]


def evidence_then(fact: EvidenceFact, after_ms: int) -> EvidenceFact:
    """As a release up to 0.3.0 knew it when it saved its state.

    Of a contact: no heartbeats, errors by code alone, but for REBALANCE_IN_PROGRESS, which none of
    them counted, not by which broker it was heard, nor that a dynamic member left, nor when it
    joined and with which rebalance timeout. Of a departure: not what the member's requests say of
    it. An outage that was open began for those when its first request came, not when it was
    answered. Who began a rebalance by leaving did not say why.
    """
    if isinstance(fact, Rebalance) and fact.started_at <= after_ms and fact.cause == LEFT:
        return replace(fact, client_reason=None)
    if isinstance(fact, Outage) and fact.since_at <= after_ms:
        return replace(fact, since_at=-1)
    if isinstance(fact, Departure):
        fact = replace(fact, since_at=None)
        if fact.ended_at <= after_ms:
            return replace(fact, instance_id=None, client_id=None, client_host=None)
    if not isinstance(fact, Contact):
        return fact
    errors: Counter[int] = Counter()
    for code, requests in zip(fact.error_codes, fact.error_counts, strict=True):
        errors[code] += requests if code != REBALANCE_IN_PROGRESS else 0
    codes = sorted(+errors)
    later = (
        *("heartbeat_interval_ms", "last_beat_at", "last_alive_at", "joined_at"),
        *("rebalance_timeout_ms", "known_since_at", "sent_away_at"),
    )
    heard: dict[str, Any] = dict.fromkeys(later)
    return replace(
        fact,
        error_codes=codes,
        error_counts=[errors[code] for code in codes],
        error_apis=[],
        error_first_at=[],
        error_last_at=[],
        beats=0,
        beats_ms=0,
        heard_by=-1,
        is_sent_away=False,
        is_away=fact.is_away and fact.instance_id is not None,
        **heard,
    )


REBALANCE_IN_PROGRESS = 27


def began_at(rejoin: Rejoin) -> int:
    return rejoin.told_at or rejoin.joined_at or 0


@pytest.mark.parametrize(("release", "one"), kept_states(EVIDENCE))
def test_evidence_goes_on(release: str, one: KeptState) -> None:
    lines = lines_by_subject(one.recording)[one.group_id or None, one.partition]
    rest = [line for line in lines if place(line) > one.after]
    whole = EvidenceReplay(one.group_id)
    for line in lines[: len(lines) - len(rest)]:
        whole.replay(line)
    restored = EvidenceReplay.restore(one.group_id, one.data)
    wanted, got = (rest_of_lines(each, rest, one.recording) for each in (whole, restored))
    after_ms = one.after[0]
    old_wanted, old_got = (
        Counter(
            repr(evidence_then(each, after_ms)) for each in facts if not isinstance(each, Rejoin)
        )
        for facts in (wanted, got)
    )
    assert old_got == old_wanted
    # No release up to 0.3.0 knew who was on the way into a generation when the log was cut, nor how
    # long who had joined before may take.
    new_wanted, new_got = (
        {
            repr(replace(each, due_at=None))
            for each in facts
            if isinstance(each, Rejoin) and began_at(each) > after_ms
        }
        for facts in (wanted, got)
    )
    assert new_wanted <= new_got


@pytest.mark.parametrize("release", releases())
def test_fields_mean_what_they_meant_or_have_a_converter(release: str) -> None:
    """Of one version a field has the same type and default for ever: where this fails, give it the
    next version and a converter. A default may come to a field that had none."""
    now = fields_now()
    for kind, classes in kept(release)[0].items():
        for name, fields in classes.items():
            today = now[kind].get(RENAMED[kind].get(name, name), {})
            fields = {
                RENAMED[kind].get(f"{name}.{each}", each): is_ for each, is_ in fields.items()
            }
            for field in fields.keys() & today.keys():
                version, type_then, default_then = fields[field]
                if version == today[field][0]:
                    default = REQUIRED if default_then == REQUIRED else today[field][2]
                    for old, new in RENAMED[kind].items():
                        type_then = re.sub(rf"\b{old}\b", new, type_then)
                    assert (type_then, default_then) == (today[field][1], default), (name, field)
                else:
                    assert (name, field, version) in CONVERTERS[kind], (name, field)


def test_the_sentence_of_a_stall_becomes_its_epochs() -> None:
    convert = CONVERTERS[LIFE]["Stall", "epochs", 1]
    assert convert("group epoch 5, target epoch -1", {}) == [5, -1]
    assert convert(None, {}) == []


@pytest.mark.parametrize("release", releases())
def test_fields_that_came_later_have_a_default(release: str) -> None:
    now = fields_now()
    for kind, classes in kept(release)[0].items():
        for name, fields in classes.items():
            today = now[kind].get(RENAMED[kind].get(name, name), {})
            new = {field for field, (_, _, default) in today.items() if default == REQUIRED}
            assert new <= fields.keys(), f"of {name}: states of {release} do not have them"


def test_every_release_has_its_states() -> None:
    """`kept_states` says how they are added."""
    assert groupreplay.__version__ in releases()
    for release in releases():
        kinds = Counter(one.kind for one in kept(release)[1])
        assert kinds[LIFE] >= 80, release
        assert kinds[EVIDENCE] >= 80, release
