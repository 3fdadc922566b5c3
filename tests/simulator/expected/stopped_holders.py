"""When and how the holder of one partition stopped reading it, by what clients did: what the records
cannot show is taken out of what an estimate is held against.
"""

from __future__ import annotations

from typing import Final

from tests.simulator.expected.history import History
from tests.simulator.expected.holdings import named
from tests.simulator.expected.transitions import is_kept
from tests.simulator.expected.unread import Unread, committed_at
from tests.simulator.lives import Life
from tests.simulator.readers import Gap
from tests.simulator.truth import Operation
from tests.simulator.truth_log import CommitKey

POLLED_MS: Final = 8_250
"""A simulated client polls so late, at most."""


def is_of_another(history: History, unread: Unread, gap: Gap) -> bool:
    """Whether the topic was deleted within the gap, and created again: reading goes by its name,
    and nobody could read a partition that was not there."""
    deleted = history.truth.deleted.get(unread.span.partition.topic, ())
    return any(gap.since < at < (gap.until or at) for at, _ in deleted)


def asked_itself(history: History, unread: Unread, gap: Gap) -> bool:
    """Whether the holder stopped since it subscribed to something else: it is told later, in its
    own callback."""
    return any(
        each.what == "subscribe"
        and each.member_id == unread.span.member_id
        and gap.since - POLLED_MS <= each.at <= gap.since
        for each in history.truth.injected
    )


def since_let_go(history: History, life: Life, unread: Unread, gap: Gap, *, is_away: bool) -> Gap:
    """The gap from when the holder let go, or left for a while. Another process that was removed
    while it stood still may thaw after that, and read until it hears of it: it commits nothing, and
    that counts as not read."""
    let_go_at = unread.released.true_at
    for operation in reversed(life.operations[: unread.place] if is_away else ()):
        member = operation.members.get(unread.span.member_id)
        if member is None or not member.is_away:
            break
        let_go_at = operation.true_at
    read = (life.group_id, *named(unread.span.partition))
    begun = history.truth.readers.gap_at(read, let_go_at)
    return gap if begun is None else gap._replace(since=min(begun.since, gap.since))


def stood_still(history: History, unread: Unread, gap: Gap) -> bool:
    """Whether the holder read nothing any more, and wrote that it leaves when it was closed later, or
    gave it up when it joined for other topics: no record shows since when.
    """
    return _was_injected("freeze", history, unread, gap)


def is_hidden(
    history: History, life: Life, unread: Unread, gap: Gap, *, never_committed: bool
) -> bool:
    """Whether no record shows since when the holder, of a cooperative group, did not read. It is a
    static member that was closed while its join waited, or died: it says nothing (KIP-345), and the
    next answers still take from it what others are to have. Or it joined in its callback, and listed
    what it was giving up: other clients than simulated ones join behind that."""
    if is_kept(life, unread) and _was_injected("slow revoke", history, unread, gap):
        return True
    has_died = never_committed and _was_injected("crash", history, unread, gap)
    return has_died or _was_injected("close", history, unread, gap)


def _was_injected(what: str, history: History, unread: Unread, gap: Gap) -> bool:
    return any(
        each.what == what and each.at == gap.since and each.member_id == unread.span.member_id
        for each in history.truth.injected
    )


def quiet_ms_of(history: History, group_id: str, unread: Unread, gap: Gap) -> int | None:
    release = unread.released
    key = CommitKey(group_id, *named(unread.span.partition))
    last = history.truth.commit_before(key, release.first_offset)
    return None if last is None else max(0, gap.since - (last - release.at + release.true_at))


def seen_from(history: History, life: Life, unread: Unread, gap: Gap) -> int:
    """From when on it shows at most that its holder, which commits in a callback, had stopped: by
    its last commit of any that it let go with it."""
    committed = committed_at(history, life, unread)
    return gap.since if committed is None else max(gap.since, committed)


def answer_ms_of(history: History, operation: Operation) -> int:
    """From a K2 to when the members that wait for it are answered."""
    answers = history.truth.answers.of_groups.get(operation.group_id, ())
    waited = [
        each.at - operation.at
        for each in answers
        if each.kind == "sync" and each.received_at <= operation.at <= each.at
    ]
    return min(waited, default=0)
