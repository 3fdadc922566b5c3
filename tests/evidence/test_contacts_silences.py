"""When a member was silent: until what, with which interval, and from where."""

from __future__ import annotations

from groupreplay.evidence.evidence_facts import Silence
from groupreplay.evidence.memory import Line
from groupreplay.records.log_events import REQUEST_LOG, SERVER_LOG, LogEvent
from tests.support.log_lines import proved


def heartbeat(
    at: int,
    *,
    came: int | None = None,
    error: int = 0,
    epoch: int = 3,
    interval: int = 5_000,
    host: str = "/h1",
) -> Line:
    event = LogEvent(
        event="CONSUMER_GROUP_HEARTBEAT",
        at_ms=at,
        group_id="g",
        member_id="m",
        protocol="consumer",
        client_host=host,
        epoch=epoch,
        started_ms=came,
        error_code=error,
        heartbeat_interval_ms=interval,
        connection="c",
    )
    return Line(event, 1, REQUEST_LOG, "requests", at, at)


def line(at: int, event: str) -> Line:
    said = LogEvent(event=event, at_ms=at, group_id="g", member_id="m", protocol="consumer")
    return Line(said, 1, SERVER_LOG, "broker-1", at, at)


def silences(*lines: Line) -> list[Silence]:
    return [each for each in proved("g", list(lines), 10**9) if isinstance(each, Silence)]


def test_a_member_that_heartbeats_as_rarely_as_it_is_told_is_not_silent() -> None:
    rarely = [heartbeat(at, interval=15_000) for at in range(1_000, 100_000, 15_000)]
    assert silences(*rarely) == []
    (told,) = silences(*rarely, heartbeat(121_000, interval=15_000))
    assert (told.since_at, told.until_at, told.ended_by) == (91_000, 121_000, "HEARTBEAT")


def test_who_leaves_was_silent_until_then() -> None:
    """The line of a leave is older than that of its request, which waited for the log."""
    left = line(20_010, "MEMBER_LEFT")
    (told,) = silences(heartbeat(1_000), left, heartbeat(20_080, came=20_009, epoch=-1))
    assert (told.since_at, told.until_at) == (1_000, 20_009)


def test_who_was_removed_is_not_silent_after_that() -> None:
    removed = line(15_000, "MEMBER_LEFT")
    assert silences(heartbeat(1_000), removed, heartbeat(20_080, error=25)) == []


def test_who_comes_back_after_a_minute_was_gone() -> None:
    """As where a night ends meanwhile."""
    fenced = line(46_000, "MEMBER_FENCED")
    ends = {
        at: silences(heartbeat(1_000), fenced, heartbeat(at, error=25)) for at in (106_000, 106_001)
    }
    assert [each.ended_by for told in ends.values() for each in told] == ["FENCED", "LATE"]


def test_a_silence_has_the_host_that_it_began_at() -> None:
    lines = [heartbeat(1_000), heartbeat(2_000, host="/h2"), heartbeat(20_000, host="/h3")]
    assert [each.client_host for each in silences(*lines)] == ["/h2"]
