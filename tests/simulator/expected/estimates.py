"""How far estimates of what a change of hands cost are off the truth, by kind
(docs/measures.md, What a change of hands costs).

An estimate is no bound, so a single one may be wrong: what is held is how far all of them are off.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean, median
from typing import Any, Final, NamedTuple

import pytest

from groupreplay.replay.decisions.transitions import Listener, Transitions
from groupreplay.replay.kept.transition import AWAY, GAP, REMOVED, STOP, Transition
from groupreplay.replay.life import Life as ReplayedLife
from tests.simulator.expected.history import History
from tests.simulator.expected.holdings import generation_before, is_new_generation
from tests.simulator.expected.stopped_holders import (
    answer_ms_of,
    asked_itself,
    is_hidden,
    is_of_another,
    quiet_ms_of,
    seen_from,
    since_let_go,
    stood_still,
)
from tests.simulator.expected.stops import Late, called_for
from tests.simulator.expected.told import HOUR_MS, Told, stopped_ms, waited_of
from tests.simulator.expected.unread import Unread, committed_at, is_admin, is_unsure, unread_of
from tests.simulator.lives import Life
from tests.simulator.readers import Gap
from tests.simulator.replayed import replay_recording
from tests.simulator.truth import CLASSIC, Operation


class Estimate(NamedTuple):
    """What the records gave for one partition from one holder to the next, and what was true. ms.

    kind: of the transition; of a classic group with the word in front.
    quiet_ms: from the last commit of the partition to when nobody read it any more, at least 0;
        None without one.
    callback_ms: for how long its holder read nothing, and committed any of its partitions all the
        same: in a callback.
    fetched_ms: from the grant to when the next holder read: it asks for its assignment late.
    answered_ms: from the K2 that took it to its answer, where its holder stays.
    late_ms: for how long its holder knew that it must give up and did not act on it yet: it had not
        polled, or was in another callback.
    told_ms: what a request log makes of est_ms, where it shows that the holder was told to join.
    partitions: of a STOP, which is of a whole generation: est_ms and true_ms are those of one of
        them in the mean.
    """

    kind: str
    est_ms: int
    true_ms: int
    quiet_ms: int | None = None
    callback_ms: int = 0
    fetched_ms: int = 0
    answered_ms: int = 0
    late_ms: int = 0
    told_ms: int | None = None
    partitions: int = 1

    @property
    def error_ms(self) -> int:
        return self.est_ms - self.true_ms


class _Heard(Listener):
    def __init__(self, group_id: str, told: dict[str, list[Transition]]) -> None:
        self._group_id, self._told = group_id, told

    def granted(self, transition: Transition) -> None:
        self._told[self._group_id].append(transition)


@contextmanager
def _listening() -> Iterator[Mapping[str, Sequence[Transition]]]:
    """Group -> each transition that was granted while its log is replayed."""
    told: dict[str, list[Transition]] = defaultdict(list)
    made = Transitions.__init__

    def listened(self: Transitions, life: ReplayedLife, *rest: Any) -> None:
        made(self, life, *rest)
        self.listen(_Heard(life.group_id, told))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Transitions, "__init__", listened)
        yield told


class _Bound(NamedTuple):
    """How far estimates of one kind may be off, ms, either way: the middle one, their mean, and
    nineteen of twenty; and all together, per cent. least: how many there must be.
    """

    median_ms: int
    mean_ms: int
    most_ms: int
    least: int
    sum_pct: float = 100


CLASSIC_GAP: Final = f"classic {GAP}"
AT_ONCE: Final = f"{CLASSIC_GAP} at once"
"""One generation takes it and gives it: its holder did not own it any more."""

BOUNDS: Final = {
    "ASKED": _Bound(15, 50, 250, 100),
    "AWAY": _Bound(100, 250, 250, 20),
    CLASSIC_GAP: _Bound(100, 100, 250, 10, 5),
    STOP: _Bound(20, 20, 50, 20, 1),
}
"""Of recordings the design names: asked, the mean 13 and the worst 233; away, the middle 67; of
cooperative groups all together 0.2 %; of eager generations 0.8 %, and 309 in nineteen
of twenty; but there clients tell the time, and here a request log is all that is between.
"""

SLACK_MS: Final = 250
"""An estimate from a last commit is never less than what was true, but for requests on the way and
the time in a callback, and never more by longer than nobody had committed. Who was told to join
stopped then: with a request log the callback counts too.
"""

ON_THE_WAY_MS: Final = 10
"""Of each estimate so much may be the way of a request, which is per cents of short times: once 21
generations, most of which had stopped for tens of ms, were off by 1 to 8 ms."""

LEAST_REMOVED: Final = 10


def faults(found: Sequence[Estimate]) -> list[str]:
    """What is wrong with estimates of some histories, as sentences; also where there are too few."""
    return [*_too_few(found), *wrong_estimates(found)]


def _too_few(found: Sequence[Estimate]) -> Iterator[str]:
    counts = Counter(REMOVED if is_removed(each) else each.kind for each in found)
    least = {kind: bound.least for kind, bound in BOUNDS.items()} | {REMOVED: LEAST_REMOVED}
    for kind, number in least.items():
        if counts[kind] < number:
            yield f"{kind}: {counts[kind]} of {number} estimates"


def wrong_estimates(found: Sequence[Estimate]) -> list[str]:
    """The same of what there are enough of, and of each member that went."""
    said = []
    for kind, bound in BOUNDS.items():
        errors = sorted((_error_ms(each) for each in found if each.kind == kind), key=abs)
        if len(errors) < bound.least:
            continue
        middle, mean, most = median(errors), fmean(errors), errors[(len(errors) * 19 - 1) // 20]
        if abs(middle) > bound.median_ms or abs(mean) > bound.mean_ms or abs(most) > bound.most_ms:
            said.append(
                f"{kind}: off by {middle} in the middle, {mean} in the mean, {most} of most"
            )
        if (off := _off_pct([each for each in found if each.kind == kind])) > bound.sum_pct:
            said.append(f"{kind}: all together off by {off:.1f} %")
    removed = [each for each in found if is_removed(each)]
    wrong = [each for each in removed if not _is_near(each)]
    if wrong:
        said.append(f"{REMOVED}: {len(wrong)} of {len(removed)} estimates are wrong: {wrong[:3]}")
    return said


def _off_pct(found: Sequence[Estimate]) -> float:
    """How far all together are off by more than requests are on their way."""
    all_ms = sum(_error_ms(each) * each.partitions for each in found)
    on_the_way_ms = ON_THE_WAY_MS * sum(each.partitions for each in found)
    error_ms = max(0, abs(all_ms) - on_the_way_ms)
    true_ms = sum((each.est_ms - _error_ms(each)) * each.partitions for each in found)
    return 100 * error_ms / true_ms if true_ms else 0


def _error_ms(estimate: Estimate) -> int:
    """But for what the next holder takes to begin, where that is on no other side: of what was
    asked back the records know of a request late too. Of two K2s each is answered late, where the
    broker gathers records before it writes: neither counts. Nor does how late a client acts, which no
    log shows."""
    fetched_ms = 0 if estimate.kind == "ASKED" else estimate.fetched_ms
    return estimate.error_ms + fetched_ms - estimate.answered_ms - estimate.late_ms


def is_removed(estimate: Estimate) -> bool:
    """Whether it is of a member that went, of any protocol, or had lost what it was given before."""
    return estimate.kind in (REMOVED, f"classic {REMOVED}", AT_ONCE)


def _is_near(removed: Estimate) -> bool:
    granted_ms = removed.true_ms - removed.fetched_ms
    if removed.told_ms is not None and removed.told_ms - granted_ms < -SLACK_MS:
        return False
    if removed.est_ms + removed.callback_ms - granted_ms < -SLACK_MS:
        return False
    return removed.quiet_ms is None or removed.error_ms <= removed.quiet_ms + SLACK_MS


def estimates_of(recording: Path, history: History, logs: Told) -> list[Estimate]:
    """Of all partitions that clients read before and after, and nobody between. logs: what request
    logs show."""
    with _listening() as told:
        replay_recording(recording)
    found: list[Estimate] = []
    late = Late(history.truth)
    for life in history.lives:
        if is_unsure(history, life):
            continue
        unread = [each for each in unread_of(history, life) if each.gap is not None]
        times = Counter((each.span.partition, each.gap) for each in unread)
        for each in unread:
            if times[each.span.partition, each.gap] == 1:
                found += _estimates(history, life, each, told[life.group_id], logs, late)
            found += _never_read(history, life, each, told[life.group_id])
        found += _stops(history, life, unread, told[life.group_id], logs, late)
    return found


def _never_read(
    history: History, life: Life, unread: Unread, told: Sequence[Transition]
) -> Iterator[Estimate]:
    """Of a member that got a partition, never read it, and went. The time before it had it is not
    its own: it is that of another change of hands, or nobody was to read it.
    """
    gap = unread.gap
    if gap is None or not _is_before(life, unread, gap) or is_admin(history, life.group_id):
        return
    found = {
        (_name(each.kind, unread), each.est_ms)
        for each in _of(life, unread, told)
        if _is_by_commit(each.kind, unread) and None not in (each.stopped_at, each.held_since)
    }
    if len(found) != 1:
        return
    committed = committed_at(history, life, unread)
    opened_at = _had_at(life, unread, told, committed).true_at
    ((name, est_ms),) = found
    true_ms = unread.granted.true_at - opened_at
    callback_ms = 0 if committed is None else max(0, committed - opened_at)
    yield Estimate(name, est_ms or 0, true_ms, quiet_ms=0, callback_ms=callback_ms)


def _had_at(
    life: Life, unread: Unread, told: Sequence[Transition], committed: int | None
) -> Operation:
    """By which operation its holder had a partition: what an eager generation stopped it had once
    more, where it committed nothing since."""
    opened = life.operations[unread.span.opened]
    stops = {
        each.grant_offset
        for each in told
        if each.kind == STOP and each.to_member_id == unread.span.member_id
    }
    for operation in reversed(life.operations[unread.span.opened + 1 : unread.place]):
        if any(_is_in(offset, operation) for offset in stops):
            is_quiet = committed is None or committed < operation.true_at
            return operation if is_quiet else opened
    return opened


def _is_before(life: Life, unread: Unread, gap: Gap) -> bool:
    """Whether nobody read a partition since before its holder had it."""
    return gap.since < life.operations[unread.span.opened].true_at


def _is_by_commit(kind: str, unread: Unread) -> bool:
    """Whether an estimate counts from a last commit."""
    return kind == REMOVED or (kind == GAP and unread.released is unread.granted)


def _name(kind: str, unread: Unread) -> str:
    name = f"classic {kind}" if unread.released.protocol == CLASSIC else kind
    is_at_once = kind == GAP and unread.released is unread.granted
    return f"{name} at once" if is_at_once else name


def _of(life: Life, unread: Unread, told: Sequence[Transition]) -> Iterator[Transition]:
    """Transitions of the same holder between the same operations, of what it got together."""
    opened = life.operations[unread.span.opened]
    for each in told:
        if (
            each.from_member_id == unread.span.member_id
            and (each.held_since is None or each.held_since >= opened.at)
            and each.is_costed
            and _is_in(each.released_offset, unread.released)
            and _is_in(each.grant_offset, unread.granted)
        ):
            yield each


def _stops(
    history: History,
    life: Life,
    unread: Sequence[Unread],
    told: Sequence[Transition],
    logs: Told,
    late: Late,
) -> Iterator[Estimate]:
    """Of each generation that stopped members who were all told. What nobody had read before the
    generation before is not its own."""
    before = life.operations[0]
    for was, operation in life.steps():
        if was is not None and not is_new_generation(was, operation):
            continue
        generation, before = (before, operation), operation
        stopped = [
            each
            for each in told
            if each.kind == STOP and each.is_costed and _is_in(each.grant_offset, operation)
        ]
        gaps = [
            (each.span.member_id, each.gap)
            for each in unread
            if each.released is each.granted is operation
            if each.gap is not None and each.gap.until is not None
        ]
        polled_ms = [late.polled_ms(life.group_id, who, gap.since) for who, gap in gaps]
        late_ms = [each for each in polled_ms if each is not None]
        ended = [gap._replace(since=max(gap.since, generation[0].true_at)) for _, gap in gaps]
        true_ms = [(gap.until or 0) - gap.since for gap in ended]
        fetched_ms = [(gap.until or 0) - max(gap.since, operation.true_at) for gap in ended]
        waited = waited_of(operation, logs)
        are_told = {each.from_member_id for each in stopped} <= waited.keys()
        if stopped and are_told and len(late_ms) == len(true_ms) == len(stopped):
            means = (stopped_ms(stopped, waited), true_ms, fetched_ms, late_ms)
            est, true, fetched, by_late = (round(fmean(each)) for each in means)
            rest = {"fetched_ms": fetched, "late_ms": by_late, "partitions": len(stopped)}
            yield Estimate(STOP, est, true, **rest)


def _estimates(
    history: History,
    life: Life,
    unread: Unread,
    told: Sequence[Transition],
    logs: Told,
    late: Late,
) -> Iterator[Estimate]:
    group_id, gap = life.group_id, unread.gap
    same = {(each.kind, each.est_ms, each.stopped_at is None) for each in _of(life, unread, told)}
    if gap is None or gap.until is None or len(same) != 1 or is_of_another(history, unread, gap):
        return
    ((kind, est_ms, never_committed),) = same
    until = gap.until
    if kind == "ASKED" and unread.lost is not None:
        until = min(until, unread.lost.true_at)  # behind that it is the next change of hands
    by_commit, name = _is_by_commit(kind, unread), _name(kind, unread)
    if est_ms is None or (by_commit and (never_committed or is_admin(history, group_id))):
        return
    if by_commit and _is_before(life, unread, gap):
        return  # `_never_read` has it
    gap = since_let_go(history, life, unread, gap, is_away=kind == AWAY)
    if kind in (AWAY, GAP) and not by_commit and stood_still(history, unread, gap):
        return
    if name == CLASSIC_GAP and is_hidden(
        history, life, unread, gap, never_committed=never_committed
    ):
        return
    if not by_commit and _is_before(life, unread, gap):
        # It never read that: who came and left for a while before its first fetch.
        gap = gap._replace(since=life.operations[unread.span.opened].true_at)
    fetched_ms = until - min(until, max(gap.since, unread.granted.true_at))
    had = _had_at(life, unread, told, committed_at(history, life, unread))
    is_stopped = by_commit and gap.since < had.true_at
    if is_stopped:
        gap = gap._replace(since=had.true_at)
    callback_ms = 0 if kind == AWAY else seen_from(history, life, unread, gap) - gap.since
    answered_ms = answer_ms_of(history, unread.released) if name == CLASSIC_GAP else 0
    late_ms = 0
    if kind == "ASKED":
        asked_at = unread.granted.true_at - est_ms
        late_ms = late.revoked_ms(group_id, unread.span.member_id, asked_at, gap.since)
    quiet_ms = 0 if is_stopped else quiet_ms_of(history, group_id, unread, gap)
    times = quiet_ms, callback_ms, fetched_ms, answered_ms, late_ms
    is_told = kind == REMOVED and not asked_itself(history, unread, gap)
    since = _told_at(history, life, unread, logs) if is_told else None
    told_ms = None if since is None else max(est_ms, unread.granted.at - since)
    yield Estimate(name, est_ms, until - gap.since, *times, told_ms=told_ms)


def _told_at(history: History, life: Life, unread: Unread, logs: Told) -> int | None:
    """As `with_told` of `report/joins/lines/rejoin_times.py`; None of who had stopped before: no
    log shows since when.
    """
    released, gap = unread.released, unread.gap
    asked_at = called_for(history, generation_before(life, released), released) - SLACK_MS
    if released.protocol == CLASSIC and gap is not None and gap.since < asked_at:
        return None
    removed_at = released.at
    told = logs.never_joined.get((unread.released.group_id, unread.span.member_id), ())
    return max((at for at in told if removed_at - HOUR_MS <= at <= removed_at), default=None)


def _is_in(offset: int, operation: Any) -> bool:
    return bool(operation.first_offset <= offset <= operation.last_offset)
