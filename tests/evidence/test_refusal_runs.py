"""Requests that were answered with an error, and what ends a run of them."""

from __future__ import annotations

from typing import Any

import pytest

from groupreplay.evidence.evidence_facts import Refusal
from groupreplay.evidence.memory import Line
from groupreplay.records.log_events import REQUEST_LOG, LogEvent
from tests.support.log_lines import proved

AT = 1_795_300_000_000


@pytest.mark.parametrize(
    ("protocol", "api"),
    [
        ("classic", "JOIN_GROUP"),
        ("consumer", "CONSUMER_GROUP_HEARTBEAT"),
        ("streams", "STREAMS_GROUP_HEARTBEAT"),
    ],
)
def test_a_request_that_met_an_exception_was_refused(protocol: str, api: str) -> None:
    """Whatever an assignor throws: the broker answers UNKNOWN_SERVER_ERROR without a text, and
    writes down why.
    """
    said = "Index 1 out of bounds for length 1."
    events = [
        LogEvent(
            event="OPERATION_FAILED",
            at_ms=AT + after,
            group_id="g",
            member_id="m",
            protocol=protocol,
            detail=said,
        )
        for after in (0, 5_000)
    ]
    lines = [
        Line(event, 1, "server_log", "server.log", event.at_ms - AT, event.at_ms)
        for event in events
    ]
    (run,) = proved("g", lines, AT + 5_000)
    assert isinstance(run, Refusal)
    assert (run.api, run.error_code, run.refusal, run.message) == (
        api,
        -1,
        "UNKNOWN_SERVER_ERROR",
        said,
    )
    assert (run.subject, run.attempts, run.last_at - run.first_at) == ("m", 2, 5_000)


HEARTBEAT, UNRELEASED = "CONSUMER_GROUP_HEARTBEAT", 111
OWNER = {"member_id": "owner", "client_host": "/10.0.0.1"}
INTRUDER = {"member_id": "intruder", "client_host": "/10.0.0.2"}


def asked(after_s: int, who: dict[str, str], **fields: Any) -> Line:
    """A request of a member with instance id i, and its answer."""
    at_ms = AT + 1000 * after_s
    given: dict[str, Any] = {"event": HEARTBEAT, "epoch": 0, "error_code": 0, "client_id": "c"}
    given |= who | fields
    event = LogEvent(at_ms=at_ms, started_ms=at_ms, group_id="g", instance_id="i", **given)
    return Line(event, 1, REQUEST_LOG, "request.log", 1000 * after_s, at_ms)


def runs(*lines: Line) -> list[tuple[int, int, int, bool]]:
    """(first, last, attempts, final) of each run, in seconds; `proved` with a cut behind every
    line gives the same.
    """
    newest = lines[-1].last_ms

    def of(cuts: tuple[int, ...]) -> list[tuple[int, int, int, bool]]:
        return [
            ((f.first_at - AT) // 1000, (f.last_at - AT) // 1000, f.attempts, f.is_final)
            for f in proved("g", list(lines), newest, cuts)
            if isinstance(f, Refusal)
        ]

    assert of(tuple(range(1, len(lines)))) == of(())
    return of(())


KNOCKS = [asked(after, INTRUDER, error_code=UNRELEASED) for after in (10, 20, 30)]


@pytest.mark.parametrize("host", ["/10.0.0.1", "/10.0.0.2"])
@pytest.mark.parametrize("joined", [True, False], ids=["joined", "in before the log began"])
def test_heartbeats_of_the_owner_end_no_run_of_an_intruder(host: str, joined: bool) -> None:
    """On another machine, or beside it on the same one, with the same client id."""
    owner = OWNER | {"client_host": host}
    beats = [asked(after, owner, epoch=3) for after in (12, 22, 32)]
    between = [line for pair in zip(KNOCKS, beats, strict=True) for line in pair]
    first = [asked(0, owner)] if joined else []
    assert runs(*first, *between) == [(10, 30, 3, False)]


def test_intruders_that_a_supervisor_restarts_are_one_asker() -> None:
    knocks = [
        asked(after, INTRUDER, member_id=f"m-{after}", error_code=111) for after in (10, 20, 30)
    ]
    beats = [asked(after, OWNER, epoch=3) for after in (0, 11, 21, 31)]
    lines = sorted((*knocks, *beats), key=lambda line: line.event.at_ms)
    assert runs(*lines) == [(10, 30, 3, False)]


@pytest.mark.parametrize(
    "let_in",
    [
        INTRUDER,
        INTRUDER | {"member_id": "restarted"},
    ],
    ids=["the same member", "the same client, restarted"],
)
def test_an_intruder_that_is_let_in_once_the_owner_left_ends_its_run(
    let_in: dict[str, str],
) -> None:
    owner = [asked(0, OWNER), asked(32, OWNER, epoch=-1)]
    lines = [owner[0], *KNOCKS, owner[1], asked(40, let_in)]
    assert runs(*lines) == [(10, 30, 3, True)]
    again = asked(50, INTRUDER, error_code=UNRELEASED)
    assert runs(*lines, again) == [(10, 30, 3, True), (50, 50, 1, False)]


def test_an_owner_that_comes_back_ends_no_run_of_an_intruder() -> None:
    """Under a new member id, from its own machine."""
    back = OWNER | {"member_id": "owner-2"}
    away, returned = asked(21, OWNER, epoch=-2), asked(22, back)
    lines = [asked(0, OWNER), *KNOCKS[:2], away, returned, KNOCKS[2], asked(35, back, epoch=4)]
    assert runs(*lines) == [(10, 30, 3, False)]


def test_who_owned_the_instance_and_was_fenced_is_not_let_in_by_who_replaced_it() -> None:
    """A classic group: the instance is the newcomer's, and the old one is refused until it ends."""
    new = OWNER | {"member_id": "newcomer"}
    fenced = [asked(after, OWNER, event="HEARTBEAT", epoch=1, error_code=82) for after in (5, 8)]
    beats = [asked(after, new, event="HEARTBEAT", epoch=2) for after in (4, 6, 9)]
    join = asked(3, new, event="JOIN_GROUP", epoch=None)
    assert runs(join, beats[0], fenced[0], beats[1], fenced[1], beats[2]) == [(5, 8, 2, False)]


def test_a_client_without_a_member_id_is_let_in_from_its_own_host_alone() -> None:
    def join(after_s: int, host: str, **fields: Any) -> Line:
        line = asked(after_s, {"client_host": host}, event="JOIN_GROUP", epoch=None, **fields)
        line.event.instance_id = None
        return line

    refused = join(1, "/10.0.0.2", error_code=81)
    other = join(2, "/10.0.0.1", member_id="other")
    own = join(3, "/10.0.0.2", member_id="own")
    assert runs(refused, other) == [(1, 1, 1, False)]
    assert runs(refused, other, own) == [(1, 1, 1, True)]


def test_a_join_that_waited_since_before_a_refusal_is_of_another_client() -> None:
    """The group gets too large while the rebalance goes on that the join waits for."""

    def join(after_s: int, **fields: Any) -> Line:
        line = asked(after_s, {}, event="JOIN_GROUP", epoch=None, **fields)
        line.event.instance_id = None
        return line

    refused = [join(after, error_code=81) for after in (3, 70)]
    waited, came_later = join(62, member_id="a"), join(80, member_id="b")
    waited.event.started_ms = AT + 2_000
    assert runs(refused[0], waited, refused[1]) == [(3, 70, 2, False)]
    assert runs(refused[0], waited, refused[1], came_later) == [(3, 70, 2, True)]


def test_a_member_that_was_removed_and_comes_back_is_not_who_was_refused_meanwhile() -> None:
    """A classic member of a consumer group comes back under its id; a client with the same client
    id was refused beside it. Simulated: migration-24, troubled 4.0.2 seed 992000108.
    """

    def join(after_s: int, **fields: Any) -> Line:
        line = asked(after_s, {}, event="JOIN_GROUP", epoch=None, **fields)
        line.event.instance_id = None
        return line

    first, refused = join(1, member_id="a"), join(30, error_code=26)
    back = [join(after, member_id="a") for after in (60, 65)]
    at_ms = AT + 45_000
    fenced = LogEvent(event="MEMBER_FENCED", at_ms=at_ms, group_id="g", detail="JOIN_TIMEOUT")
    fenced.member_id = "a"
    removed = Line(fenced, 1, "server_log", "broker-1.server.log", 9, at_ms)
    assert runs(first, refused, removed, *back) == [(30, 30, 1, False)]
    assert runs(first, refused, removed, join(61, member_id="b")) == [(30, 30, 1, True)]


# ---------------------------------------------------------------- which errors are refusals


def answered(api: str, code: int) -> list[Refusal]:
    """What a member proves that is answered so three times."""
    lines = [asked(after, OWNER, event=api, epoch=3, error_code=code) for after in (10, 20, 30)]
    return [each for each in proved("g", lines, AT + 30_000) if isinstance(each, Refusal)]


@pytest.mark.parametrize(
    ("api", "code", "refusal"),
    [
        ("OFFSET_COMMIT", 22, "ILLEGAL_GENERATION"),
        ("SYNC_GROUP", 22, "ILLEGAL_GENERATION"),
        ("JOIN_GROUP", 23, "INCONSISTENT_GROUP_PROTOCOL"),
        ("HEARTBEAT", 25, "UNKNOWN_MEMBER_ID"),
        ("JOIN_GROUP", 25, "UNKNOWN_MEMBER_ID"),
        ("OFFSET_COMMIT", 25, "UNKNOWN_MEMBER_ID"),
        ("JOIN_GROUP", 26, "INVALID_SESSION_TIMEOUT"),
        ("HEARTBEAT", 82, "FENCED_INSTANCE_ID"),
        ("OFFSET_COMMIT", 82, "FENCED_INSTANCE_ID"),
        ("DELETE_GROUPS", 68, "NON_EMPTY_GROUP"),
        ("OFFSET_DELETE", 86, "GROUP_SUBSCRIBED_TO_TOPIC"),
        ("TXN_OFFSET_COMMIT", 90, "PRODUCER_FENCED"),
        ("OFFSET_COMMIT", 100, "UNKNOWN_TOPIC_ID"),
        ("STREAMS_GROUP_HEARTBEAT", 130, "STREAMS_INVALID_TOPOLOGY"),
        ("JOIN_GROUP", 999, "ERROR_999"),
    ],
)
def test_a_refusal_has_the_name_of_its_error(api: str, code: int, refusal: str) -> None:
    (run,) = answered(api, code)
    assert (run.api, run.error_code, run.refusal) == (api, code, refusal)
    assert (run.attempts, run.last_at - run.first_at) == (3, 20_000)


@pytest.mark.parametrize("code", [0, 14, 15, 16, 27, 79])
@pytest.mark.parametrize("api", ["JOIN_GROUP", "HEARTBEAT", "OFFSET_COMMIT"])
def test_answers_that_send_a_client_elsewhere_or_back_refuse_nothing(api: str, code: int) -> None:
    """The coordinator is not there (14 to 16), the group rebalances (27), the member is to join
    again with the id that it was given (79).
    """
    assert answered(api, code) == []
