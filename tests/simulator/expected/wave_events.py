"""The events of a wave, as other scenarios are priced by them: by the coordinator's memory
(measures.md, What if)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from tests.simulator.expected.comings import GONE, REPLACED
from tests.simulator.expected.group_modes import MIXED, mode_of_all, modes_of
from tests.simulator.expected.history import History
from tests.simulator.expected.holdings import Named, Span, named
from tests.simulator.expected.wave_steps import EXPIRED, LEFT, UNKNOWN, Gap, Happened
from tests.simulator.expected.waves import Event, lives_of
from tests.simulator.lives import Life
from tests.simulator.truth import CLASSIC, CONSUMER, Operation, Partition


def happened(history: History, event: Event, gap: Gap | None) -> Happened:
    """An event, whose member left if it went."""
    coming = event.coming
    said = coming.member.said if coming.member.is_classic else None
    held = len(coming.member.held) if coming.kind in (GONE, REPLACED) else 0
    left_out = _left_out_of(history, event)
    return Happened(
        kind=coming.kind,
        at=event.at,
        held=held - left_out,
        left_out=left_out,
        session_ms=None if said is None else said.session_timeout_ms,
        members=event.members,
        partitions=partitions_of(history, event, 0),
        gap=gap,
    )


def partitions_of(history: History, event: Event, since: int, *, knows_names: bool = True) -> int:
    """That the group had to read before the event: held, or let go and not given yet; or after
    it. since: 0 where the target that came with the release may leave it out, 1 where only a
    later one may: what a generation of a cooperative group takes, the next one gives. Of a topic
    that was deleted and made again some may still hold the partitions, beside the new ones.
    knows_names: of topics that were deleted; without them nobody sees over a conversion that what
    was let go before is in the target after it.
    """
    holdings, life = history.holdings(event.life), event.life
    operations = life.operations
    place = next(i for i, each in enumerate(operations) if each is event.coming.operation)
    emptied = [i for i, each in enumerate(operations[:place]) if not each.members]
    to_read: dict[Named, set[str]] = defaultdict(set)
    for span in holdings.spans:
        closed = place if span.closed is None else span.closed
        if span.opened >= place:
            continue
        is_missed = (
            closed > max(emptied, default=-1)
            and not holdings.left_out(span.partition, closed + since, place + 1)
            and (knows_names or not _is_nameless(history, event, span))
        )
        if _is_left_out(history, life, span, place):
            to_read.pop(named(span.partition), None)
        elif closed >= place or is_missed:
            topic_id = span.partition.topic_id
            to_read[named(span.partition)].update(() if topic_id is None else (topic_id,))
    count = sum(max(1, len(ids)) for ids in to_read.values())
    return max(count, len(_target(event.coming.operation)))


def _is_nameless(history: History, event: Event, span: Span) -> bool:
    """Whether a topic that is deleted by now goes by the other of its name and its id since a
    partition of it was let go."""
    is_by_name = span.partition.topic_id is None
    is_classic = event.coming.operation.protocol == CLASSIC
    return is_by_name != is_classic and span.partition.topic in history.truth.deleted


def _left_out_of(history: History, event: Event) -> int:
    """Partitions that a member had which went, or was taken over, and that nobody was to read then:
    the next target gives them to nobody."""
    coming, life = event.coming, event.life
    if coming.kind not in (GONE, REPLACED) or coming.heir == coming.member_id:
        return 0
    place = next(i for i, each in enumerate(life.operations) if each is coming.operation)
    return sum(
        span.member_id == coming.member_id
        and span.closed == place
        and _is_left_out(history, life, span, place)
        for span in history.holdings(life).spans
    )


def _is_left_out(history: History, life: Life, span: Span, place: int) -> bool:
    """Whether a span's member is gone after an operation, and nobody had its partition since, until a
    target gave it to nobody."""
    if span.closed is None or span.closed > place:
        return False
    holdings, last = history.holdings(life), len(life.operations)
    is_gone = span.member_id not in life.operations[span.closed].members
    return (
        is_gone
        and holdings.next_after(span) is None
        and holdings.left_out(span.partition, span.closed + 1, last)
    )


def mode_of(history: History, events: Sequence[Event]) -> str:
    """From before the first event to the last."""
    found = []
    for life in lives_of(events):
        modes = modes_of(history, life)
        places = [
            place
            for place, each in enumerate(life.operations)
            if events[0].coming.operation.first_offset
            <= each.first_offset
            <= events[-1].coming.operation.first_offset
        ]
        found += modes[max(0, places[0] - 1) : places[-1] + 1]
    protocols = {CLASSIC if e.coming.member.is_classic else CONSUMER for e in events}
    mode = mode_of_all(found)
    return mode if protocols == {CONSUMER if mode == "CONSUMER" else CLASSIC} else MIXED


def kinds_of(ends: frozenset[str]) -> set[str]:
    """As which a departure may be priced. Of one that no line tells anything may be said."""
    if not ends:
        return {LEFT, EXPIRED, UNKNOWN}
    return {EXPIRED if each in ("SESSION_EXPIRED", "EXPIRED") else LEFT for each in ends}


def are_unknown(events: Sequence[Happened]) -> bool:
    """Whether more than a tenth of what those who went held is of who went nobody knows how."""
    went = [each for each in events if each.kind in (GONE, REPLACED)]
    unknown = sum(
        each.held
        for each in went
        if (each.end == UNKNOWN if each.kind == GONE else each.gap is None)
    )
    return 10 * unknown > sum(each.held for each in went)


def _target(operation: Operation) -> frozenset[Partition]:
    members = operation.members.values()
    is_classic = operation.protocol == CLASSIC
    targets = (each.assigned if is_classic else each.target for each in members)
    return frozenset[Partition]().union(*targets)
