"""Rows of `stuck_members` that only logs show: NOT_HEARTBEATING and LATE_LEAVE, from a silence of
10 s on (measures.md, Stuck).

The truth tells which requests were answered, over which connection, and which sessions ran out.
What a member had to say to a broker that was not its coordinator counts too: it was there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.simulator.answers import NOBODY_THERE, Answer
from tests.simulator.compare import Between, Key, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.rebalances import newest_line_at
from tests.simulator.expected.unavailable import life_of
from tests.simulator.injected import Injected
from tests.simulator.tables import Row
from tests.simulator.truth import CLASSIC

NOT_HEARTBEATING, LATE_LEAVE = "NOT_HEARTBEATING", "LATE_LEAVE"
REASONS: Final = (NOT_HEARTBEATING, LATE_LEAVE)
THRESHOLD_MS: Final = 10_000
LATE_MS: Final = 60_000
"""Who is not heard of for so long is gone for good."""

OTHER_LEADER: Final = "silences over a change of leader, or soon after one"
OPEN: Final = "members that are silent at the end"
_SETTLES_MS: Final = 120_000
_WRITTEN_WITHIN_MS: Final = 20
_SLOW_MS: Final = 40_000
"""Twice the interval of groups that heartbeat slowly; that of others is 5 s."""
_SIGNS: Final = frozenset({"join", "sync", "heartbeat"})
_REBALANCES: Final = 27
_NO_REFUSALS: Final = NOBODY_THERE | {0}
_UNKNOWN_MEMBER_ID: Final = 25
_GROUP_MAX_SIZE_REACHED: Final = 81
_ILLEGAL_GENERATION: Final = 22
"""Of a static member that generations passed by: it is one still."""


@dataclass(slots=True)
class Silence:
    """since_at, until_at: by clocks of brokers. last: the answer that it begins with. session_ms:
    the session timeout that a member of the classic protocol gave when it joined last. reason: ""
    where members of the classic protocol never say goodbye. is_over: what follows is in the log.
    """

    member_id: str
    last: Answer
    session_ms: int | None
    since_at: int
    until_at: int
    reason: str
    is_fenced: bool = False
    is_over: bool = True


def silences_of(
    answers: Sequence[Answer], ran_out: Iterable[tuple[str, int]], newest: int, least_ms: int
) -> list[Silence]:
    """Of one group. answers: in the order of clocks. ran_out: (member, at), sessions that ended.
    newest: time of the last line of all logs. least_ms: twice the interval that the broker gives to
    members, at least the threshold.
    """
    of_member: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        if answer.about:
            of_member[answer.about].append(answer)
    expired: dict[str, list[int]] = defaultdict(list)
    for member_id, at in ran_out:
        expired[member_id].append(at)
    found: list[Silence] = []
    for member_id, said in of_member.items():
        found += _gaps(member_id, said, expired[member_id], least_ms)
        found += _fenced(member_id, said, expired[member_id], newest)
    return found


def _is_sign(answer: Answer) -> bool:
    return answer.kind in _SIGNS and answer.code in (0, _REBALANCES)


def _is_dropped(answer: Answer) -> bool:
    """A join that waited until its member was removed."""
    return (answer.kind, answer.code) == ("join", _UNKNOWN_MEMBER_ID)


def _gaps(
    member_id: str, said: Sequence[Answer], expired: Sequence[int], least_ms: int
) -> Iterator[Silence]:
    """Until the next request over the same connection, of a member that is one still."""
    last: Answer | None = None
    is_member = False
    session_ms: int | None = None
    for answer in said:
        is_classic_leave = answer.kind == "leave" and answer.protocol == "classic"
        if answer.kind not in _SIGNS | {"leave"} or is_classic_leave:
            is_member = is_member and not is_classic_leave
            continue
        lasted = 0 if last is None else answer.received_at - last.at
        if last is not None and is_member:
            is_fenced = any(last.at < at <= answer.received_at for at in expired)
            is_known = answer.code == _ILLEGAL_GENERATION
            is_leave = answer.kind == "leave" and answer.code in _NO_REFUSALS
            is_one = _is_sign(answer) or is_known or is_leave
            is_long = lasted >= (least_ms if answer.protocol != "classic" else THRESHOLD_MS)
            if is_long and is_one and not is_fenced and last.connection == answer.connection:
                yield Silence(
                    member_id, last, session_ms, last.at, answer.received_at, NOT_HEARTBEATING
                )
        last = answer
        session_ms = answer.session_timeout_ms or session_ms
        is_member = _is_sign(answer) or (
            is_member and answer.kind != "leave" and answer.code in _NO_REFUSALS
        )


def _fenced(
    member_id: str, said: Sequence[Answer], expired: Sequence[int], newest: int
) -> Iterator[Silence]:
    """Until its session ran out; what it says after that tells whether it is gone for good."""
    for at in expired:
        before = [each for each in said if each.at <= at and each.kind in _SIGNS | {"leave"}]
        after = [each for each in said if each.at > at]
        heard = next((each for each in reversed(before) if _is_sign(each)), None)
        if heard is None or at - heard.at < THRESHOLD_MS or before[-1].kind == "leave":
            continue
        # A group that is full forgets who joins again, and its timer runs on (acceptJoiningMember).
        if before[-1].code == _GROUP_MAX_SIZE_REACHED:
            continue
        # Who waits in a rebalance is not removed, though its own leave may answer the join.
        if any(each.received_at <= at and (_is_sign(each) or _is_dropped(each)) for each in after):
            continue
        comes_back = bool(after) and after[0].at - at <= LATE_MS
        reason = NOT_HEARTBEATING if comes_back or newest - at <= LATE_MS else LATE_LEAVE
        is_over = comes_back or newest - at > LATE_MS
        is_static = heard.instance_id is not None and heard.protocol == "classic"
        if not (is_static and (reason == LATE_LEAVE or not is_over)):
            joined = [each.session_timeout_ms for each in before if each.session_timeout_ms]
            session_ms = joined[-1] if joined else None
            yield Silence(member_id, heard, session_ms, heard.at, at, reason, True, is_over)


def _wanted(history: History) -> dict[Key, Wanted]:
    ran_out = _ran_out(history)
    newest = newest_line_at(history)
    slow = {each.group_id for each in history.truth.injected if each.what == "slow heartbeats"}
    wanted: dict[Key, Wanted] = {}
    for group_id, answers in history.truth.answers.of_groups.items():
        least_ms = _SLOW_MS if group_id in slow else THRESHOLD_MS
        for each in silences_of(answers, ran_out[group_id], newest, least_ms):
            key = (group_id, each.member_id, each.since_at)
            is_moved = _is_moved(history, group_id, each.since_at, each.until_at)
            left_out = OTHER_LEADER if is_moved else ""
            wanted[key] = Wanted(_row(each) | life_of(history, group_id), (), left_out)
    return wanted


def _ran_out(history: History) -> Mapping[str, list[tuple[str, int]]]:
    """Group -> (member, when its session ran out)."""
    found: dict[str, list[tuple[str, int]]] = defaultdict(list)
    members = {
        (group_id, answer.about)
        for group_id, answers in history.truth.answers.of_groups.items()
        for answer in answers
        if answer.about
    }
    known = {f"{group_id}-{member_id}": (group_id, member_id) for group_id, member_id in members}
    for event in history.truth.injected:
        if event.what == "ran out":
            timer = event.detail.split("key=")[1].rstrip(")")
            name = timer.removeprefix("session-timeout-").removeprefix("heartbeat-")
            if name in known:
                group_id, member_id = known[name]
                if _counts(history, group_id, member_id, event):
                    found[group_id].append((member_id, event.broker_at))
    return found


def _counts(history: History, group_id: str, member_id: str, event: Injected) -> bool:
    """Whether the session is one of the group as it is: over a downgrade timers of members that are
    gone, or of the other protocol, run on; so do those of a member whom a rebalance went on
    without."""
    operations = history.truth.operations.get(group_id, ())
    if all(each.protocol is None for each in operations):
        return True  # a share group
    if "key=session-timeout-" in event.detail:
        return any((each.at, each.reason) == (event.broker_at, event.detail) for each in operations)
    before = [each for each in operations if each.true_at <= event.at]
    # Its removal may write a K2 at once.
    others = [each.members for each in before if each.true_at < event.at]
    if any(member_id in each for each in others) and member_id not in others[-1]:
        return False
    return not before or before[-1].protocol == CLASSIC


def _is_moved(history: History, group_id: str, since_at: int, until_at: int) -> bool:
    partitions = [
        event.offsets_partition
        for event in history.truth.injected
        if event.group_id == group_id and event.offsets_partition >= 0
    ]
    since, until = since_at - _SETTLES_MS, until_at + _SETTLES_MS
    return any(history.is_elected_between(each, since, until) for each in set(partitions))


def _row(silence: Silence) -> dict[str, Any]:
    last = silence.last
    session_ms = silence.session_ms
    # A line says when it was written and how long the request took, to parts of a ms.
    late_ms = 0 if silence.is_fenced else _WRITTEN_WITHIN_MS
    lasted_ms = silence.until_at - silence.since_at
    return {
        "to_offset": None,
        "start_observed": True,
        "log_incarnation": None,
        "member_id": silence.member_id,
        "instance_id": last.instance_id,
        "client_id": last.client_id,
        "client_host": last.client_host,
        "member_protocol": last.protocol,
        "reason": silence.reason,
        "since_at": silence.since_at,
        "until_at": Between(silence.until_at - late_ms, silence.until_at),
        "stuck_ms": Between(lasted_ms - late_ms, lasted_ms),
        "blocked_by": [silence.member_id],
        "partitions_waiting": None,
        "partitions_held": None,
        "deadline_at": silence.since_at + session_ms if session_ms else None,
        "is_open": False,
        "repetitions": None,
        "detail": None,
        "detail_code": None,
        "detail_params": None,
        "is_final": silence.is_over,
    }


def _gathered(history: History, rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["reason"] in REASONS]


def _key_of(history: History, row: Row) -> Key:
    return row["group_id"], row["member_id"], row["since_at"]


def _excuse(history: History, row: Row) -> str:
    if row["is_open"]:
        return OPEN
    is_moved = _is_moved(history, row["group_id"], row["since_at"], row["until_at"])
    return OTHER_LEADER if is_moved else ""


CHECK: Final = Check("silences", _wanted, _key_of, _excuse, _gathered)
