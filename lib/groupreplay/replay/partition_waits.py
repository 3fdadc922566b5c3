"""For which partitions a member waits, and for whom."""

from __future__ import annotations

from groupreplay.replay.life import Life, Member, TopicPartition


class PartitionWaits:
    """What a member in UNRELEASED_PARTITIONS waits for, and whom: of a consumer group."""

    def __init__(self, life: Life) -> None:
        self._life = life

    def missing(self, member: Member) -> set[TopicPartition]:
        """What it has not got of its target."""
        return set(member.target - member.assigned) if member.target is not None else set()

    def holding(self, tp: TopicPartition, member: Member) -> list[str]:
        """The others that have it."""
        return [m for m in self._life.holders.get(tp, ()) if m != member.member_id]
