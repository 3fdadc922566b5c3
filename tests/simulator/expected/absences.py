"""What lines of broker logs and configured timeouts add to `static_accounting`: when a process was
last heard of, and what follows from that (measures.md, Absences)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tests.simulator.answers import Answer
from tests.simulator.compare import Between, Bound, Key, OneOf, Untold, Wanted
from tests.simulator.expected import member_ends, static_accounting
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.rejoins import REBALANCE_IN_PROGRESS, WRITTEN_LATE_MS
from tests.simulator.expected.static_accounting import Absence, absences_in
from tests.simulator.tables import Row, elapsed_ms
from tests.simulator.truth import CLASSIC, Operation

FENCED_INSTANCE_ID: Final = 82
HOUR_MS: Final = 3_600_000
CLASSIC_SESSION_MS: Final = (45_000, 1_800_000)
"""Of simulated members; the second one of histories of many hours."""

LONGEST_SESSION_MS: Final = 60_000
"""`brokers.max_session_timeout_ms`, where brokers print none."""

OTHER_CLOCK: Final = Untold("clocks of two brokers told the last request and the removal")


@dataclass(frozen=True, slots=True)
class Follows:
    """A value that follows from others of its row. admits: of the value and its row."""

    rule: Callable[[Row], Any]

    def admits(self, value: Any) -> bool:
        told, row = value
        return bool(told == self.rule(row))

    def __str__(self) -> str:
        return self.rule.__name__


def _gap_ms(row: Row) -> int | None:
    by_sign = row["left_shown_by"] in ("AWAY_RECORD", "LEAVE", "HEARTBEAT")
    return elapsed_ms(row["left_at"], row["returned_at"]) if by_sign else None


def _blind_ms(row: Row) -> int | None:
    if row["outcome"] in ("ABSORBED", "UNOBSERVED"):
        return None
    until = row["read_until"] if row["outcome"] == "AWAY" else row["removed_at"]
    return elapsed_ms(row["left_at"], until)


def _blind_extra_ms(row: Row) -> int | None:
    return _blind_ms(row) if row["membership"] == "STATIC" else None


def _longest_ms(row: Row, slack_ms: int) -> int | None:
    """That it was gone for, and since its last heartbeat before."""
    by_sign = _gap_ms(row)
    gap = row["gap_high_ms"] if by_sign is None else by_sign
    return None if gap is None else gap + slack_ms


def _within(row: Row, timeout_ms: int) -> bool | None:
    longest = _longest_ms(row, 0 if row["member_protocol"] == CLASSIC else row["heartbeat_ms"])
    if longest is not None and longest <= timeout_ms:
        return True
    is_longer = row["gap_low_ms"] is not None and row["gap_low_ms"] > timeout_ms
    return False if is_longer else None


def _absorbed_own(row: Row) -> bool | None:
    known = {"ABSORBED": True, "EXPIRED": False, "EXPIRED_RETURNED": False}
    return known.get(row["outcome"], _within(row, row["own_timeout_ms"]))


def _absorbed_45s(row: Row) -> bool | None:
    return _within(row, 45_000)


def _absorbed_60s(row: Row) -> bool | None:
    return _within(row, 60_000)


def _is_cliff(row: Row) -> bool | None:
    is_static = row["membership"] == "STATIC" and row["outcome"] == "ABSORBED"
    if not is_static or row["member_protocol"] != CLASSIC:
        return False
    longest = _longest_ms(row, row["heartbeat_ms"])
    return None if longest is None else longest > row["longest_session_ms"]


_RULES: Final = {
    "gap_ms": _gap_ms,
    "blind_ms": _blind_ms,
    "blind_extra_ms": _blind_extra_ms,
    "absorbed_own": _absorbed_own,
    "absorbed_45s": _absorbed_45s,
    "absorbed_60s": _absorbed_60s,
    "is_cliff": _is_cliff,
}


def _wanted(history: History) -> dict[Key, Wanted]:
    ends: dict[Key, Wanted] = {
        (key[0], key[1], must.offsets[1]): must
        for key, must in member_ends.CHECK.wanted(history).items()
    }
    wanted: dict[Key, Wanted] = {}
    for key, absence, must in absences_in(history):
        requests = _requests(history, absence)
        values = {**must.values, **{name: Follows(rule) for name, rule in _RULES.items()}}
        values["gap_low_ms"] = _low(history, absence, must.values["gap_low_ms"])
        has_left = _has_left(absence, ends)
        values["outcome"] = _outcome(absence, has_left)
        values |= _left(history, absence, requests, has_left)
        is_classic = absence.went.member.is_classic
        own_ms = (
            OneOf(CLASSIC_SESSION_MS)
            if is_classic
            else _consumer_ms(history, "session.timeout.ms", 45_000)
        )
        values["own_timeout_ms"] = own_ms
        values["owner_was_alive"] = _owner_was_alive(absence, requests)
        for name in ("client_id", "client_host"):
            told = {getattr(each, name) for each in requests}
            values[name] = OneOf((must.values[name], *told))
        wanted[key] = replace(must, values=values)
    return wanted


def _low(history: History, absence: Absence, low: Any) -> Any:
    """Another broker may have answered its last request, by its own clock."""
    back = absence.returned
    if not isinstance(low, Bound) or back is None:
        return low
    since = back.true_at - HOUR_MS
    if not history.is_elected_between(back.offsets_partition, since, back.true_at):
        return low
    return replace(low, slack=low.slack + history.truth.clocks_differ_ms)


def _requests(history: History, absence: Absence) -> list[Answer]:
    """Of the member that went, that are of the group's members."""
    group_id, who = absence.went.operation.group_id, absence.went.member_id
    return [each for each in history.truth.answers.of_groups.get(group_id, ()) if each.about == who]


def _has_left(absence: Absence, ends: Mapping[Key, Wanted]) -> bool | None:
    """Whether a line says so of who was removed; None where the truth does not tell."""
    went, removed = absence.went, absence.removed
    if removed is None:
        return False
    must = ends.get((removed.group_id, went.member_id, removed.first_offset))
    if must is None or must.left_out or not isinstance(must.values["end_reason"], str):
        return None
    return bool(must.values["end_reason"] == "LEFT")


def _outcome(absence: Absence, has_left: bool | None) -> Any:
    outcome = absence.outcome
    if outcome not in ("EXPIRED", "EXPIRED_RETURNED") or absence.removed is None:
        return outcome
    left = outcome.replace("EXPIRED", "LEFT")
    return OneOf((outcome, left)) if has_left is None else left if has_left else outcome


def _left(
    history: History, absence: Absence, requests: Sequence[Answer], has_left: bool | None
) -> dict[str, Any]:
    """When it was heard of last, and by what."""
    went = absence.went.operation
    if absence.left_at is not None:
        return {"left_at": absence.left_at, "left_shown_by": "AWAY_RECORD"}
    by = absence.removed or absence.returned
    assert by is not None, "who is not away was removed, or replaced"
    if has_left is None:
        return dict.fromkeys(("left_at", "left_shown_by"), Untold("whether it left"))
    if has_left:
        left = [
            each
            for each in history.truth.answers.of_groups[went.group_id]
            if each.kind == "leave" and each.at >= by.at - HOUR_MS
        ]
        if not left or _is_of_two_clocks(history, left[0], by):
            return dict.fromkeys(("left_at", "left_shown_by"), OTHER_CLOCK)
        since = min(each.received_at for each in left) - WRITTEN_LATE_MS
        return {"left_at": Between(since, by.at), "left_shown_by": "LEAVE"}
    came = [each for each in granted(requests) if each.came_true_at <= by.true_at]
    heard = max(came, key=lambda each: each.true_at, default=None)
    if heard is not None and _is_of_two_clocks(history, heard, by):
        return dict.fromkeys(("left_at", "left_shown_by"), OTHER_CLOCK)
    if heard is None or heard.at > by.at:
        return {"left_at": Untold("its last commit"), "left_shown_by": OneOf(("COMMIT", "NONE"))}
    may_wait = heard.kind != "heartbeat" and absence.went.member.is_classic
    since = heard.received_at - WRITTEN_LATE_MS if may_wait else heard.at
    return {"left_at": Between(since, heard.at), "left_shown_by": "HEARTBEAT"}


def _is_of_two_clocks(history: History, answer: Answer, by: Operation) -> bool:
    """Whether a broker with another clock may have told what came last before a removal."""
    since = answer.true_at - history.truth.clocks_differ_ms
    return history.is_elected_between(by.offsets_partition, since, by.true_at)


def granted(requests: Sequence[Answer]) -> list[Answer]:
    """Those that were granted, or told that the group rebalances."""
    return [
        each
        for each in requests
        if each.kind in ("join", "heartbeat", "sync")
        and each.code in (0, REBALANCE_IN_PROGRESS)
        and (each.epoch is None or each.epoch >= 0)
    ]


def _owner_was_alive(absence: Absence, requests: Sequence[Answer]) -> Any:
    if absence.outcome != "ABSORBED":
        return None
    return any(each.code == FENCED_INSTANCE_ID for each in requests)


def _consumer_ms(history: History, name: str, otherwise: int) -> int:
    """What brokers set for the consumer protocol."""
    return int(history.truth.broker_config.get(f"group.consumer.{name}", otherwise))


def _longest_session_ms(history: History) -> int:
    if not history.truth.prints_config:
        return LONGEST_SESSION_MS
    return _consumer_ms(history, "max.session.timeout.ms", LONGEST_SESSION_MS)


def _gathered(history: History, rows: Sequence[Row]) -> list[Row]:
    gathered = []
    for row in rows:
        known = {
            **row,
            "read_until": history.truth.logs[row["offsets_partition"]].last_at,
            "heartbeat_ms": _consumer_ms(history, "heartbeat.interval.ms", 5_000),
            "longest_session_ms": _longest_session_ms(history),
        }
        gathered.append({**row, **{name: (row[name], known) for name in _RULES}})
    return gathered


CHECK: Final = Check(
    "absences", _wanted, static_accounting.CHECK.key_of, static_accounting.CHECK.excuse, _gathered
)
