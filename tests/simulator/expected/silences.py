"""For how long members had committed nothing when they ended, and whose client a record names
(measures.md, Members)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from tests.simulator.expected.history import History
from tests.simulator.expected.holdings import Span, named
from tests.simulator.expected.untold import COMMITS_OF_DELETED
from tests.simulator.lives import Life
from tests.simulator.truth import CONSUMER, Commit, Member, Operation
from tests.simulator.truth_log import CommitKey

_END: Final = 1 << 62


class Silences:
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


class Inherited:
    """Members of one life whose client id and host may be those of an earlier process that had
    their instance: the coordinator keeps these in a classic group."""

    def __init__(self, life: Life) -> None:
        self._life = life
        self._of: dict[str, tuple[Any, Member]] = {}

    def step(self, before: Operation | None, operation: Operation) -> None:
        was = before.members if before is not None else {}
        for member_id, member in operation.members.items():
            if member_id not in was:
                self._of[member_id] = self._joined(before, operation, member), member
            elif self._of[member_id][1].client != member.client:
                self._of[member_id] = False, member

    def _joined(self, before: Operation | None, operation: Operation, member: Member) -> Any:
        """None where the join was not seen, and where a later generation has another id: its
        process may have joined anew."""
        if before is None:
            return False if self._life.is_seen_to_begin(operation) else None
        former = [
            each
            for member_id, each in before.members.items()
            if each.instance_id == member.instance_id and member_id not in operation.members
        ]
        if not former or operation.protocol == CONSUMER or former[0].client != member.client:
            return False
        return True if before.epoch == operation.epoch else None

    def of(self, member_id: str, member: Member) -> Any:
        """Of a member as it was last."""
        if member.instance_id is None or not member.is_classic:
            return False
        return self._of[member_id][0]
