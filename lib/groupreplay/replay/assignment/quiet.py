"""Members that own partitions and commit nothing while others of their group do: the reason
ASSIGNED_NOT_CONSUMING. Source: docs/measures.md, Stuck.
"""

from __future__ import annotations

from collections.abc import Collection

from groupreplay.limits import MIN_QUIET_MS
from groupreplay.replay.assignment.new_stall import new_stall
from groupreplay.replay.change import Change, Moment
from groupreplay.replay.fact import Client
from groupreplay.replay.life import CLASSIC, Life, Member, TopicPartition
from groupreplay.replay.names import Names
from groupreplay.replay.output import Output


class QuietMembers:
    """Commits, and their absence, of one life's members."""

    def __init__(self, life: Life, names: Names, output: Output) -> None:
        self._life = life
        self._names = names
        self._output = output

    def committed(self, member: Member, at: int, offset: int, last_hole: int) -> None:
        """A member's partition was committed. The silence before it is exact only where a change of
        the group lies in it (reduced commits).
        """
        if member.last_commit_offset < self._life.last_change_offset:
            self._emit_quiet(member, at, offset, last_hole)
        member.last_commit_at, member.last_commit_offset = at, offset
        committers = self._life.committers
        if committers and committers[0][0] == member.member_id:
            committers[0] = (member.member_id, at)
        else:
            self._life.committers = [
                (member.member_id, at),
                *[c for c in committers if c[0] != member.member_id][:1],
            ]

    def lost_everything(self, change: Change, member: Member, moment: Moment) -> None:
        """A member loses its last partition: it was quiet until now, if it was."""
        client = change.client_before(member)
        self._emit_quiet(member, moment.at, moment.offset, moment.last_hole, client)
        if member.member_id not in change.left_behind:
            member.last_commit_at, member.last_commit_offset = -1, -1

    def _emit_quiet(
        self,
        member: Member,
        at: int,
        offset: int,
        last_hole: int,
        client: Client | None = None,
    ) -> None:
        quiet = self.quiet_since(member, last_hole)
        if quiet is None or at - quiet[0] < MIN_QUIET_MS or self._hides_commits(member, quiet[1]):
            return
        if self.others_committed_after(member.member_id, quiet[0]):
            stall = new_stall(
                self._life,
                "ASSIGNED_NOT_CONSUMING",
                member,
                quiet[0],
                quiet[1],
                [member.member_id],
                len(member.spans),
                client,
            )
            self._output.emit_stall(stall, at, offset)

    @staticmethod
    def quiet_since(member: Member, last_hole: int) -> tuple[int, int] | None:
        """Since when, in ms and by which record, a member has committed nothing of what it holds:
        since its last commit, or since it got the first partition. None where neither was seen, or
        where commits may have been lost in a hole, or be nobody's, since.
        """
        since = max(
            (member.last_commit_at, member.last_commit_offset),
            (member.owns_since_at, member.owns_since_offset),
        )
        is_seen = max(last_hole, member.unseen_offset) <= since[1]
        return since if since[0] >= 0 and is_seen else None

    def silent_ms(self, change: Change, member: Member) -> int | None:
        """For how long a member has committed nothing of what it holds, or held when an upgrade
        left it behind; None where it never did, or where commits may be unseen. Negative where a
        clock went back.
        """
        at, since, offset = change.at, member.last_commit_at, member.last_commit_offset
        has_any = bool(member.spans) or member.member_id in change.left_behind
        is_unseen = max(change.last_hole, member.unseen_offset) > offset or not has_any
        is_unseen = is_unseen or self._hides_commits(member, offset)
        return at - since if since >= 0 and not is_unseen else None

    def lets_go(self, member: Member, units: Collection[TopicPartition], offset: int) -> None:
        """A member loses partitions, or at a downgrade their ids: whether it committed them unseen
        until then cannot be asked any more.
        """
        if self._hides_commits_of(member, units, member.last_commit_offset):
            member.unseen_offset = offset

    @staticmethod
    def may_have_committed(member: Member, offset: int) -> None:
        """A commit was its own, or of who holds the partition by another id of its topic's name."""
        member.unseen_offset = offset

    def _hides_commits(self, member: Member, since_offset: int) -> bool:
        return self._hides_commits_of(member, member.spans, since_offset)

    def _hides_commits_of(
        self, member: Member, units: Collection[TopicPartition], since_offset: int
    ) -> bool:
        """Whether the member may have committed some of what it holds since, unseen: commits that
        name a topic whose id is not known to be one it holds are nobody's.
        """
        if self._life.protocol == CLASSIC:
            return False
        names = {topic: self._names.name(topic) for topic in {topic for topic, _ in units}}
        if None in names.values():
            return True
        commits = self._life.commits
        return any(
            commits.get((names[topic] or "", partition), (-1, -1))[1]
            > max(since_offset, member.spans[topic, partition].from_offset)
            for topic, partition in units
        )

    def is_quiet(self, member: Member, last_hole: int) -> tuple[int, int] | None:
        """`quiet_since` of a member that holds something, where others committed for MIN_QUIET_MS
        after it; else None.
        """
        quiet = self.quiet_since(member, last_hole)
        if (
            quiet is None
            or not member.spans
            or not self.others_committed_after(member.member_id, quiet[0] + MIN_QUIET_MS)
        ):
            return None
        return None if self._hides_commits(member, quiet[1]) else quiet

    def others_committed_after(self, member_id: str, since: int) -> bool:
        return any(m != member_id and at >= since for m, at in self._life.committers)
