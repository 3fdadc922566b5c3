"""When members committed last before they ended (measures.md, Members, `silent_ms`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from tests.simulator.expected.history import History
from tests.simulator.expected.holdings import Span, named
from tests.simulator.expected.untold import COMMITS_OF_DELETED
from tests.simulator.lives import Life
from tests.simulator.truth import Operation
from tests.simulator.truth_log import Commit, CommitKey

_END: Final = 1 << 62


class LastCommits:
    """Of the members of one life."""

    def __init__(self, history: History, life: Life) -> None:
        self._history, self._life = history, life
        self._spans: Mapping[str, list[Span]] = defaultdict(list)
        for span in history.holdings(life).spans:
            self._spans[span.member_id].append(span)

    def silent_ms(self, member_id: str, opened: Operation, ended: Operation) -> Any:
        """From its last commit of what it held to its end; None without one since it last had
        nothing, and where a clock went back since. opened, ended: the operations between which it
        was a member."""
        own = [
            span
            for span in self._spans[member_id]
            if opened.first_offset <= self._operation(span.opened).first_offset < ended.first_offset
        ]
        if any(span.partition.topic in self._history.truth.deleted for span in own):
            return COMMITS_OF_DELETED
        commits = [each for each in map(self._last_commit, self._last_hold(own, ended)) if each]
        last = max(commits, key=lambda each: each.offset, default=None)
        if last is None:
            return None
        return ended.at - last.at if ended.at >= last.at else None

    def _last_hold(self, own: list[Span], ended: Operation) -> list[Span]:
        """The spans since a member last lost all that it had; none where it had nothing then."""
        held: list[Span] = []
        until = -1
        for span in sorted(own, key=lambda each: each.opened):
            if held and until <= span.opened:
                held = []
            held.append(span)
            until = max(until, _END if span.closed is None else span.closed)
        is_held = held and (until == _END or self._operation(until) is ended)
        return held if is_held else []

    def _operation(self, place: int) -> Operation:
        return self._life.operations[place]

    def _last_commit(self, span: Span) -> Commit | None:
        """Of the partition, while its member had it."""
        key = CommitKey(self._life.group_id, *named(span.partition))
        since = self._operation(span.opened).last_offset
        until = None if span.closed is None else self._operation(span.closed).first_offset
        of_span = [
            each
            for each in self._history.truth.commits.get(key, [])
            if each.offset > since and (until is None or each.offset < until)
        ]
        return of_span[-1] if of_span else None
