"""What a contact keeps of a member's requests: how often it sent heartbeats, and which errors it
was answered with.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from groupreplay.evidence.evidence_facts import Contact, Outage, Refusal, Silence
from groupreplay.evidence.evidence_replay import EvidenceReplay
from groupreplay.evidence.memory import Line
from groupreplay.records.log_events import (
    HEARTBEATS_WITH_EPOCH,
    REQUEST_LOG,
    SERVER_LOG,
    LogEvent,
)
from tests.support.log_lines import proved, recorded_evidence


def request(
    at: int, api: str, error: int = 0, requests: int = 1, last: int | None = None, **said: int
) -> Line:
    event = LogEvent(
        event=api,
        at_ms=at,
        group_id="g",
        member_id="m",
        protocol="consumer" if api == "CONSUMER_GROUP_HEARTBEAT" else "classic",
        epoch=said.get("epoch", 3),
        started_ms=said.get("came"),
        error_code=error,
        heartbeat_interval_ms=said.get("interval"),
    )
    return Line(event, 1, REQUEST_LOG, "requests", at, last or at, requests, said.get("gap", 0))


def said_that_it_left(at: int) -> Line:
    """What the coordinator logs of it."""
    event = LogEvent(event="MEMBER_LEFT", at_ms=at, group_id="g", member_id="m", protocol="classic")
    return Line(event, 1, SERVER_LOG, "broker-1", at, at)


LINES = [
    request(1_000, "JOIN_GROUP"),
    request(1_500, "SYNC_GROUP"),
    request(2_000, "HEARTBEAT", requests=4, last=5_030),
    request(2_100, "OFFSET_COMMIT", requests=3, last=4_100),
    request(6_040, "HEARTBEAT", error=27),
    request(6_050, "JOIN_GROUP", error=27),
    request(6_060, "JOIN_GROUP"),
    request(9_000, "SYNC_GROUP"),
    request(10_000, "HEARTBEAT"),
    request(11_010, "HEARTBEAT"),
    request(11_500, "HEARTBEAT", error=25),
    request(11_600, "OFFSET_COMMIT", error=25, requests=2),
    request(11_700, "OFFSET_COMMIT", error=25),
    request(12_000, "HEARTBEAT"),
]


def contact(cuts: tuple[int, ...] = ()) -> Contact:
    found = proved("g", LINES, 10**9, cuts)
    (one,) = (each for each in found if isinstance(each, Contact))
    return one


def test_times_between_heartbeats_that_nothing_interrupts() -> None:
    """3,030 ms in three, 1,010 to the answer that the group rebalances, 1,010 after it."""
    one = contact()
    assert (one.beats, one.beats_ms, one.last_beat_at) == (5, 5_050, 12_000)


def test_errors_are_counted_by_request() -> None:
    one = contact()
    assert list(zip(one.error_apis, one.error_codes, one.error_counts, strict=True)) == [
        ("HEARTBEAT", 27, 1),
        ("JOIN_GROUP", 27, 1),
        ("HEARTBEAT", 25, 1),
        ("OFFSET_COMMIT", 25, 3),
    ]


def test_errors_have_a_first_and_a_last_time() -> None:
    one = contact()
    assert list(zip(one.error_first_at, one.error_last_at, strict=True)) == [
        (6_040, 6_040),
        (6_050, 6_050),
        (11_500, 11_500),
        (11_600, 11_700),
    ]


@pytest.mark.parametrize("code", [14, 15, 16])
def test_a_coordinator_that_is_not_there_is_an_error_of_its_members_and_no_refusal(
    code: int,
) -> None:
    """COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR."""
    lines = [
        request(1_000, "JOIN_GROUP"),
        request(2_000, "HEARTBEAT", error=code, requests=3, last=4_000),
        request(5_000, "OFFSET_COMMIT", error=code),
        request(6_000, "HEARTBEAT"),
    ]
    found = proved("g", lines, 10**9)
    (one,) = (each for each in found if isinstance(each, Contact))
    assert list(zip(one.error_apis, one.error_codes, one.error_counts, strict=True)) == [
        ("HEARTBEAT", code, 3),
        ("OFFSET_COMMIT", code, 1),
    ]
    assert (one.error_first_at, one.error_last_at) == ([2_000, 5_000], [4_000, 5_000])
    assert one.heartbeats == 2
    (outage,) = (each for each in found if isinstance(each, Outage))
    assert (outage.attempts, outage.since_at, outage.until_at) == (4, 2_000, 6_000)
    assert not [each for each in found if isinstance(each, Refusal)]


def test_heartbeats_that_went_on_elsewhere_end_what_they_lie_around() -> None:
    """As where clocks of brokers differ: nobody knows which of the run came first."""
    lines = [
        request(1_000, "JOIN_GROUP"),
        request(2_000, "HEARTBEAT", requests=9, last=26_000, gap=3_000),
        request(8_000, "HEARTBEAT", error=16),
        request(9_000, "HEARTBEAT", error=16),
        request(20_000, "HEARTBEAT", error=16),
        request(21_000, "HEARTBEAT"),
        request(25_000, "HEARTBEAT", error=16),
    ]
    outages = [each for each in proved("g", lines, 10**9) if isinstance(each, Outage)]
    told = [(each.since_at, each.last_at, each.until_at, each.attempts) for each in outages]
    assert told == [
        (8_000, 9_000, 12_000, 2),
        (20_000, 20_000, 21_000, 1),
        (25_000, 25_000, 26_000, 1),
    ]


@pytest.mark.parametrize(
    ("api", "code"),
    [
        *(("HEARTBEAT", code) for code in (15, 25, 27)),
        *(("JOIN_GROUP", code) for code in (15, 23, 25, 26)),
        *(("OFFSET_COMMIT", code) for code in (15, 22, 25, 27)),
    ],
)
def test_errors_of_the_design_of_0_9_are_told_by_request(api: str, code: int) -> None:
    """Kafka 0.9 Consumer Rewrite Design: what each request may be answered with. One run of two,
    one more, each beside the request that the broker granted.
    """
    lines = [
        request(1_000, "JOIN_GROUP"),
        request(2_000, api, error=code, requests=2, last=3_000),
        request(4_000, api),
        request(5_000, api, error=code),
        request(6_000, "HEARTBEAT"),
    ]
    found = proved("g", lines, 10**9)
    (one,) = (each for each in found if isinstance(each, Contact))
    assert (one.error_apis, one.error_codes, one.error_counts) == ([api], [code], [3])
    assert (one.error_first_at, one.error_last_at) == ([2_000], [5_000])
    assert one.last_heartbeat_at == 6_000


@pytest.mark.parametrize("api", ["JOIN_GROUP", "SYNC_GROUP"])
def test_what_waits_for_its_answer_shows_that_its_member_lived_when_it_came(api: str) -> None:
    """GroupMetadataManager: the answer is the coordinator's own act, and arms the session anew."""
    lines = [
        request(1_000, "JOIN_GROUP", came=990),
        request(4_000, "HEARTBEAT"),
        request(40_000, api, came=7_000),
        request(41_000, "OFFSET_COMMIT"),
        request(43_000, "HEARTBEAT", came=42_998, requests=2, last=46_000),
        request(60_000, api, came=45_999),
    ]
    times = []
    for end in range(1, len(lines) + 1):
        for cuts in ((), (end - 1,)):
            found = proved("g", lines[:end], 10**9, cuts)
            (one,) = (each for each in found if isinstance(each, Contact))
        times.append((one.last_heartbeat_at, one.last_alive_at))
    assert times == [
        (1_000, 990),
        (4_000, 4_000),
        (40_000, 7_000),
        (40_000, 7_000),
        (46_000, 46_000),
        (60_000, 46_000),
    ]


@pytest.mark.parametrize("code", [23, 25, 26])
def test_who_was_never_let_in_is_refused_and_no_member(code: int) -> None:
    found = proved("g", [request(1_000, "JOIN_GROUP", error=code)], 10**9)
    assert not [each for each in found if isinstance(each, Contact)]
    assert [each.error_code for each in found if isinstance(each, Refusal)] == [code]


@pytest.mark.parametrize("cut", range(1, len(LINES)))
def test_a_night_that_ends_anywhere_changes_nothing(cut: int) -> None:
    assert contact((cut,)) == contact()


def test_members_of_the_consumer_protocol_beat_as_the_broker_says() -> None:
    lines = [
        request(1_000, "CONSUMER_GROUP_HEARTBEAT", interval=5_000),
        request(6_000, "CONSUMER_GROUP_HEARTBEAT", interval=2_000),
        request(7_000, "CONSUMER_GROUP_HEARTBEAT", error=110),
    ]
    found = [each for each in proved("g", lines, 10**9) if isinstance(each, Contact)]
    assert [each.heartbeat_interval_ms for each in found] == [2_000]
    assert [(each.beats, each.last_beat_at) for each in found] == [(0, None)]


@pytest.mark.parametrize("api", sorted(HEARTBEATS_WITH_EPOCH))
def test_a_leave_of_the_newer_protocols_ends_a_contact(api: str) -> None:
    """And is no sign of life: who comes back under the same id later has a contact of its own."""
    lines = [
        request(1_000, api, epoch=0),
        request(3_000, api),
        said_that_it_left(4_999),
        request(5_000, api, epoch=-1, came=4_998),
        request(9_000, api, epoch=0),
        request(11_000, api),
    ]
    for told in (lines, [each for each in lines if each.source == REQUEST_LOG]):
        found = [each for each in proved("g", told, 10**9) if isinstance(each, Contact)]
        lives = [(each.first_at, each.last_heartbeat_at) for each in found]
        assert sorted(lives) == [(1_000, 3_000), (9_000, 11_000)]
        assert [each.longest_gap_ms for each in found] == [2_000, 2_000]


def test_a_heartbeat_that_is_answered_after_the_member_left_begins_no_contact() -> None:
    """brokers-killed-4.2, churn-mixed-a: the coordinator could not write for three seconds."""
    lines = [
        request(1_000, "JOIN_GROUP"),
        request(2_000, "HEARTBEAT"),
        said_that_it_left(3_500),
        request(5_700, "HEARTBEAT", error=27, came=2_700),
        request(5_701, "HEARTBEAT", error=25),
    ]
    found = [each for each in proved("g", lines, 10**9) if isinstance(each, Contact)]
    assert [(each.first_at, each.last_heartbeat_at, each.ended_at) for each in found] == [
        (1_000, 3_500, 3_500)
    ]
    assert [each.error_codes for each in found] == [[27, 25]]


def test_heartbeats_of_recorded_members_are_as_they_were_set() -> None:
    """Some ms late; to hundreds of ms they are what clients had. Kafka Streams left Kafka's 3 s."""
    found: dict[str, set[int]] = {}
    for each in recorded_evidence("classic-3.9"):
        if isinstance(each, Contact) and each.beats >= 10:
            mean = int(round(each.beats_ms / each.beats, -2))
            found.setdefault(each.group_id, set()).add(mean)
    assert found.pop("streams-classic") == {3_000}
    assert len(found) >= 5
    assert set(map(frozenset, found.values())) == {frozenset({1_000})}


def test_recorded_members_were_told_their_interval() -> None:
    contacts = [each for each in recorded_evidence("consumer-4.3") if isinstance(each, Contact)]
    told = {each.heartbeat_interval_ms for each in contacts if each.protocol == "consumer"}
    assert told == {2_000}


def leave(at: int, came: int) -> Line:
    return request(at, "CONSUMER_GROUP_HEARTBEAT", epoch=-1, came=came)


def test_what_a_member_sent_right_before_it_left_is_of_that_life() -> None:
    """Lines tell to whole ms when a request came: its last heartbeat, its last commit and its leave
    seem to come when the coordinator logs that it left."""
    lines = [
        request(1_000, "CONSUMER_GROUP_HEARTBEAT", epoch=0),
        said_that_it_left(5_000),
        request(5_003, "CONSUMER_GROUP_HEARTBEAT", epoch=3, came=5_000),
        request(5_014, "OFFSET_COMMIT", came=5_001),
        leave(5_014, came=5_000),
        request(5_014, "CONSUMER_GROUP_HEARTBEAT", epoch=0, came=5_000),
    ]
    found = [each for each in proved("g", lines, 10**9) if isinstance(each, Contact)]
    assert [(each.first_at, each.heartbeats) for each in found] == [(1_000, 4), (5_000, 1)]


@pytest.mark.parametrize("cut", range(1, 8))
def test_who_left_by_a_clock_behind_said_all_in_one_contact(cut: int) -> None:
    """Another broker's clock is ahead: what it answered before seems to come after."""
    lines = [
        request(1_000, "JOIN_GROUP"),
        request(2_000, "HEARTBEAT"),
        request(3_000, "JOIN_GROUP", error=25),
        said_that_it_left(3_000),
        request(4_000, "JOIN_GROUP", came=3_990),
        request(4_010, "SYNC_GROUP", error=27),
        request(4_050, "JOIN_GROUP"),
        request(4_060, "SYNC_GROUP"),
    ]
    (one,) = (each for each in proved("g", lines, 10_000, (cut,)) if isinstance(each, Contact))
    assert (one.heartbeats, one.last_heartbeat_at, one.ended_at) == (6, 3_000, 3_000)
    assert one.error_codes == [25, 27]


@pytest.mark.parametrize(("back_at", "heartbeats"), [(24_000, [3]), (19_000, [2, 1])])
def test_a_removal_that_its_leader_never_wrote_ends_no_contact(
    back_at: int, heartbeats: list[int]
) -> None:
    """A member's session runs out, and the next leader knows it still. What another broker has a
    moment after the removal may have come before it, by its clock."""
    removed = LogEvent(
        event="MEMBER_FAILED", at_ms=17_000, group_id="g", member_id="m", protocol="classic"
    )
    lines = [
        request(1_000, "JOIN_GROUP"),
        request(2_000, "SYNC_GROUP"),
        Line(removed, 1, SERVER_LOG, "broker-1", 17_000, 17_000),
        replace(request(back_at, "HEARTBEAT", error=27), broker=2),
    ]
    assert [
        each.heartbeats for each in proved("g", lines, 40_000) if isinstance(each, Contact)
    ] == heartbeats


@pytest.mark.parametrize(("error", "silences"), [(0, 1), (22, 1), (82, 0)])
def test_who_finds_its_instance_taken_over_was_no_member_for_all_of_a_silence(
    error: int, silences: int
) -> None:
    """Simulated (troubled 4.4.0, seed 991050010): a static member stood still for 56 s, and another
    process had its instance after 29 s."""
    lines = [
        request(1_000, "JOIN_GROUP"),
        request(4_000, "HEARTBEAT"),
        request(60_000, "HEARTBEAT", error=error),
    ]
    for line in lines:
        line.event.connection = "10.0.0.1:5"
    found = proved("g", lines, 60_000)
    assert len([each for each in found if isinstance(each, Silence)]) == silences


def test_a_commit_lets_nobody_in_again() -> None:
    lines = [
        request(1_000, "CONSUMER_GROUP_HEARTBEAT", epoch=0),
        said_that_it_left(5_000),
        request(9_000, "OFFSET_COMMIT"),
        request(9_500, "CONSUMER_GROUP_HEARTBEAT", epoch=3),
    ]
    found = [each for each in proved("g", lines, 10**9) if isinstance(each, Contact)]
    assert [(each.first_at, each.heartbeats) for each in found] == [(1_000, 2), (9_500, 1)]


def test_errors_of_who_left_are_counted_for_a_minute_wherever_a_night_ends() -> None:
    """As a night does that ends meanwhile."""
    late = 62_000
    lines = [
        request(1_000, "JOIN_GROUP"),
        said_that_it_left(2_000),
        request(2_500, "HEARTBEAT", error=25),
        request(2_500 + late, "HEARTBEAT", error=25),
    ]
    machine = EvidenceReplay("g")
    for line in lines[:3]:
        machine.replay(line)
    machine.forget(late + 2_000)
    (by_nights,) = (each for each in machine.take_facts() if isinstance(each, Contact))
    (at_once,) = (each for each in proved("g", lines, 10**9) if isinstance(each, Contact))
    assert at_once == by_nights
    assert at_once.error_counts == [1]
