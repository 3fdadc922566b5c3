"""Rows of `stuck_groups` that only logs show: ASSIGNOR_FAILED (measures.md, Stuck; evidence.md,
Assignors that fail), by what the operator's own assignor reported each time that it was asked."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from tests.simulator.compare import Key, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.rebalances import newest_line_at
from tests.simulator.expected.refusals import HOUR_MS
from tests.simulator.expected.stuck_by_lines import key_of, rows_of, values_of
from tests.simulator.tables import Row

REASON: Final = "ASSIGNOR_FAILED"
COMPUTED: Final = "Computed a new target assignment for epoch"
_FAILED: Final = re.compile(r"Failed to compute a new target assignment for epoch (\d+): .*")


class Asked(NamedTuple):
    """An assignor was asked for a target. at: by the clock of the broker; place: of equal times. why:
    it reported, None where it gave one. epoch: that was to get the target, as the broker says."""

    at: int
    place: tuple[int, int]
    why: str | None
    epoch: str | None


@dataclass(slots=True)
class Failures:
    """One after the other, for one reason. computed_at: when there was a target; is_over: nothing more
    belongs to it."""

    asked: list[Asked]
    computed_at: int | None = None
    is_over: bool = False


def failures_of(asked: Sequence[Asked]) -> Iterator[Failures]:
    """Of one group, in the order of the brokers' clocks."""
    current: Failures | None = None
    for each in sorted(asked):
        last = current.asked[-1] if current is not None else None
        is_other = last is not None and (each.why != last.why or each.at - last.at > HOUR_MS)
        if current is not None and is_other:
            current.is_over = True
            current.computed_at = each.at if each.why is None else None
            yield current
            current = None
        if each.why is not None:
            current = current or Failures([])
            current.asked.append(each)
    if current is not None:
        yield current


def _asked(history: History) -> dict[str, list[Asked]]:
    """By group: failures as the assignor itself tells them, and targets as brokers do."""
    found: dict[str, list[Asked]] = defaultdict(list)
    said: dict[tuple[str, int], list[tuple[tuple[int, int], str]]] = defaultdict(list)
    for call in history.truth.logged.all:
        place = call.broker, call.position
        if COMPUTED in call.says:
            found[call.values[0]].append(Asked(call.broker_at, place, None, None))
        elif len(call.values) > 1 and (told := _FAILED.fullmatch(call.values[1])):
            said[call.values[0], call.at].append((place, told[1]))
    for event in history.truth.injected:
        if event.what == "assignor reported" and event.group_id is not None:
            lines = said[event.group_id, event.at]
            place, epoch = lines.pop(0) if lines else ((event.broker, -1), "no line")
            found[event.group_id].append(Asked(event.broker_at, place, event.detail, epoch))
    return found


def _wanted(history: History) -> dict[Key, Wanted]:
    newest = newest_line_at(history)
    return {
        (group_id, each.asked[0].at): Wanted(_row(history, group_id, each, newest), ())
        for group_id, asked in _asked(history).items()
        for each in failures_of(asked)
    }


def _row(history: History, group_id: str, failures: Failures, newest: int) -> dict[str, Any]:
    first, last = failures.asked[0], failures.asked[-1]
    is_final = failures.is_over or newest - last.at > HOUR_MS
    params = {"attempts": str(len(failures.asked)), "epoch": last.epoch, "reason": f"{last.why}."}
    return values_of(
        history,
        group_id,
        reason=REASON,
        since_at=first.at,
        until_at=failures.computed_at or (last.at if is_final else None),
        is_final=is_final,
        detail=("NO_TARGET", params),
    )


def _gathered(history: History, rows: Sequence[Row]) -> list[Row]:
    return rows_of(rows, REASON)


CHECK: Final = Check("assignor_failures", _wanted, key_of, gathered=_gathered)
