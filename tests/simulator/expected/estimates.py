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
from groupreplay.replay.kept.transition import REMOVED, Transition
from groupreplay.replay.life import Life as ReplayedLife
from tests.simulator.expected.history import History
from tests.simulator.expected.holdings import named
from tests.simulator.expected.unread import Unread, is_admin, is_unsure, unread_of
from tests.simulator.replayed import replay_recording
from tests.simulator.truth import CLASSIC
from tests.simulator.truth_log import CommitKey


class Estimate(NamedTuple):
    """What the records gave for one partition from one holder to the next, and what was true. ms.

    kind: of the transition; of a classic group with the word in front.
    quiet_ms: from the last commit of the partition to when nobody read it any more, at least 0;
        None without one.
    """

    kind: str
    est_ms: int
    true_ms: int
    quiet_ms: int | None = None

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
    nineteen of twenty. least: how many there must be.
    """

    median_ms: int
    mean_ms: int
    most_ms: int
    least: int


BOUNDS: Final = {
    "ASKED": _Bound(15, 50, 250, 100),
    "AWAY": _Bound(100, 250, 250, 20),
}
"""Of recordings the design names: asked, the mean 13 and the worst 233; away, the middle 67. One
of 102 that were away was 9 s off, and why is not known: so nineteen of twenty are held, not all.
"""

SLACK_MS: Final = 250
"""An estimate from a last commit is never less than what was true, but for requests on the way, and
never more by longer than nobody had committed.
"""

LEAST_REMOVED: Final = 10


def faults(found: Sequence[Estimate]) -> list[str]:
    """What is wrong with estimates of some histories, as sentences. Of cooperative groups (GAP)
    simulated clients play too few to say anything.
    """
    said = []
    for kind, bound in BOUNDS.items():
        errors = sorted((each.error_ms for each in found if each.kind == kind), key=abs)
        if len(errors) < bound.least:
            said.append(f"{kind}: {len(errors)} of {bound.least} estimates")
            continue
        middle, mean, most = median(errors), fmean(errors), errors[(len(errors) * 19 - 1) // 20]
        if abs(middle) > bound.median_ms or abs(mean) > bound.mean_ms or abs(most) > bound.most_ms:
            said.append(
                f"{kind}: off by {middle} in the middle, {mean} in the mean, {most} of most"
            )
    removed = [each for each in found if each.kind in (REMOVED, f"classic {REMOVED}")]
    wrong = [each for each in removed if not _is_near(each)]
    if wrong or len(removed) < LEAST_REMOVED:
        said.append(f"{REMOVED}: {len(wrong)} of {len(removed)} estimates are wrong: {wrong[:3]}")
    return said


def _is_near(removed: Estimate) -> bool:
    if removed.error_ms < -SLACK_MS:
        return False
    return removed.quiet_ms is None or removed.error_ms <= removed.quiet_ms + SLACK_MS


def estimates_of(recording: Path, history: History) -> list[Estimate]:
    """Of all partitions that clients read before and after, and nobody between."""
    with _listening() as told:
        replay_recording(recording)
    found: list[Estimate] = []
    for life in history.lives:
        if is_unsure(history, life):
            continue
        unread = [each for each in unread_of(history, life) if each.gap is not None]
        times = Counter((each.span.partition, each.gap) for each in unread)
        for each in unread:
            if times[each.span.partition, each.gap] == 1:
                found += _estimates(history, life.group_id, each, told[life.group_id])
    return found


def _estimates(
    history: History, group_id: str, unread: Unread, told: Sequence[Transition]
) -> Iterator[Estimate]:
    gap = unread.gap
    same = {
        (transition.kind, transition.est_ms, transition.stopped_at is None)
        for transition in told
        if transition.from_member_id == unread.span.member_id
        and transition.is_costed
        and _is_in(transition.released_offset, unread.released)
        and _is_in(transition.grant_offset, unread.granted)
    }
    if gap is None or gap.until is None or len(same) != 1:
        return
    ((kind, est_ms, never_committed),) = same
    if est_ms is None or (kind == REMOVED and (never_committed or is_admin(history, group_id))):
        return
    name = f"classic {kind}" if unread.released.protocol == CLASSIC else kind
    key = CommitKey(group_id, *named(unread.span.partition))
    release = unread.released
    last = history.truth.commit_before(key, release.first_offset)
    quiet = None
    if last is not None:
        quiet = max(0, gap.since - (last - release.at + release.true_at))
    yield Estimate(name, est_ms, gap.until - gap.since, quiet)


def _is_in(offset: int, operation: Any) -> bool:
    return bool(operation.first_offset <= offset <= operation.last_offset)
