"""What rows of stuck groups and members and of `refusals` say in words: who was missing in a phase of
a rebalance, and what askers were told (measures.md, Stuck; evidence.md, Refusals)."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tests.simulator.answers import Answer
from tests.simulator.compare import Key, OneOf, Untold, Wanted
from tests.simulator.expected import phases, rejected
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.rebalances import CHECK as REBALANCES
from tests.simulator.expected.rebalances import rebalances_of
from tests.simulator.expected.refusals import Run, came_of, runs_of
from tests.simulator.logged import Logged
from tests.simulator.tables import Row

INVALID_SESSION_TIMEOUT: Final = 26
UNKNOWN_SERVER_ERROR: Final = -1
FENCED_INSTANCE_ID: Final = 82
_LEAST, _MOST = "group.min.session.timeout.ms", "group.max.session.timeout.ms"
_FAILED: Final = "hit an unexpected exception"
_FENCED: Final = "is fenced by existing memberId"
_GIVEN: Final = re.compile(r"(groupId|memberId|instanceId|groupInstanceId)='([^']*)'")

Asker = tuple[str, str, int, str]
"""(group, request, error code, who asks); which request of a fenced instance no line says."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Parameters of REFUSED. message: a text, None for none, or what it may be."""

    error: str | None
    message: Any

    def admits(self, value: Any) -> bool:
        said = dict(value)
        error, message = said.pop("error", None), said.pop("message", None)
        is_so = hasattr(self.message, "admits") and self.message.admits(message)
        return not said and error == self.error and (is_so or message == self.message)

    def __str__(self) -> str:
        return f"{self.error}: {self.message}"


def words_of(history: History) -> Mapping[Asker, Any]:
    """What lines of brokers say to askers who are answered without a text: what the lines say that
    begin runs, None where these differ. A run of lines may end where that of the requests goes on:
    lines do not say from which client they are."""
    texts: dict[Asker, dict[int, str]] = defaultdict(dict)
    for call in history.truth.logged.all:
        for asker, at, text in _said(call):
            texts[asker][at] = text
    said: dict[Asker, set[str]] = defaultdict(set)
    for run in _runs(history):
        asker = run.group_id, run.first.api, run.first.code, run.subject
        if (begins := texts[asker].get(run.first.at)) is not None:
            said[asker].add(begins)
    words: dict[Asker, Any] = {}
    for asker, first in said.items():
        (one, *others), every = sorted(first), set(texts[asker].values())
        words[asker] = None if others else one if len(every) == 1 else OneOf((one, None))
    return words


def _said(call: Logged) -> Iterator[tuple[Asker, int, str]]:
    if _FAILED in call.says and len(call.values) > 2:
        given = dict(_GIVEN.findall(call.values[1]))
        who = given.get("instanceId") or given.get("groupInstanceId") or given.get("memberId")
        api = _REQUESTS.get(call.values[0])
        if api is not None and "groupId" in given:
            asker = given["groupId"], api, UNKNOWN_SERVER_ERROR, who or ""
            yield asker, call.broker_at, f"{call.values[2]}."


_REQUESTS: Final = {
    "consumer-group-heartbeat": "CONSUMER_GROUP_HEARTBEAT",
    "classic-group-join": "JOIN_GROUP",
}


def _message(run: Run, words: Mapping[Asker, Any]) -> Any:
    first = run.first
    if first.message is not None:
        return first.message
    return words.get((run.group_id, first.api, first.code, run.subject))


def _runs(history: History) -> Iterator[Run]:
    for group_id, answers in history.truth.answers.of_groups.items():
        yield from runs_of(group_id, answers, came_of(answers))


def _refused(history: History) -> dict[Key, Wanted]:
    """Of fenced instances alone the words are those of lines that name no group."""
    words = words_of(history)
    wanted = {}
    for run in _runs(history):
        values: dict[str, Any] = {"broken_bound_ms": _broken_bound(history, run)}
        if run.first.code != FENCED_INSTANCE_ID:
            values["message"] = _message(run, words)
        wanted[run.key] = Wanted(values, ())
    return wanted


def _broken_bound(history: History, run: Run) -> int | None:
    """As the broker printed it when it started, if it did."""
    asked_ms, config = _session_of(run.attempts), history.truth.broker_config
    if run.first.code != INVALID_SESSION_TIMEOUT or asked_ms is None:
        return None
    if not history.truth.prints_config:
        return None
    least_ms, most_ms = int(config[_LEAST]), int(config[_MOST])
    if asked_ms < least_ms:
        return least_ms
    return most_ms if asked_ms > most_ms else None


def _session_of(attempts: Sequence[Answer]) -> int | None:
    told = [each.session_timeout_ms for each in attempts if each.session_timeout_ms is not None]
    return told[-1] if told else None


def _refusal_key(history: History, row: Row) -> Key:
    return tuple(row[name] for name in ("group_id", "api", "error_code", "subject", "first_at"))


REFUSALS: Final = Check("refusal_words", _refused, _refusal_key)


def _loops(history: History) -> dict[Key, Wanted]:
    words = words_of(history)
    said: dict[tuple[Any, ...], list[Run]] = defaultdict(list)
    for run in _runs(history):
        said[run.group_id, run.subject, run.first.error_name].append(run)
    wanted: dict[Key, Wanted] = {}
    for key, must in rejected.CHECK.wanted(history).items():
        run = _run_at(said[key[:3]], key[3])
        is_told = run.first.code != FENCED_INSTANCE_ID
        message = _message(run, words) if is_told else Untold("lines that name no group")
        values = {"detail_params": Refused(run.first.error_name, message)}
        wanted[key] = replace(must, values=values)
    return wanted


def _run_at(runs: Sequence[Run], at: Any) -> Run:
    return next(run for run in runs if any(each.at == at for each in run.attempts))


def _params_of(rows: Sequence[Row]) -> list[Row]:
    return [{**row, "detail_params": dict(row["detail_params"] or ())} for row in rows]


def _gathered_loops(history: History, rows: Sequence[Row]) -> list[Row]:
    return _params_of(rejected.CHECK.gathered(history, rows))


LOOPS: Final = Check("rejected_words", _loops, rejected.CHECK.key_of, gathered=_gathered_loops)


def _phases(history: History) -> dict[Key, Wanted]:
    """Of rows of JOIN_NEVER_COMPLETES and SYNC_NEVER_COMPLETES: why, and whom it waited for."""
    told = REBALANCES.wanted(history)
    values: dict[Key, dict[str, Any]] = {}
    for each in rebalances_of(history):
        row = told[each.key].values
        params = {"reason": row["reason"]} | ({"joined": "nobody"} if row["nobody_joined"] else {})
        for name in ("members_missing", "members_dropped"):
            if row[name]:
                params[name] = json.dumps(row[name], separators=(",", ":"))
        since = (each.begun.broker_at, each.joined.broker_at if each.joined else None)
        values[each.group_id, "JOIN_NEVER_COMPLETES", since[0]] = params
        values[each.group_id, "SYNC_NEVER_COMPLETES", since[1]] = params
    return {
        key: replace(must, values={"detail_params": values.get(key, "no such rebalance")})
        for key, must in phases.STUCK.wanted(history).items()
    }


def _gathered_phases(history: History, rows: Sequence[Row]) -> list[Row]:
    return _params_of(phases.STUCK.gathered(history, rows))


PHASES: Final = Check(
    "phase_words", _phases, phases.STUCK.key_of, phases.STUCK.excuse, _gathered_phases
)
