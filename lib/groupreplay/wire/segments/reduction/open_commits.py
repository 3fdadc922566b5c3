"""Commits of transactions that are open: they count from their COMMIT marker on, or never.

A partition keeps the commit that was written last. So a commit of a transaction never counts where
another of its key, written after it, counts by the time that the marker comes. The tombstone of a
commit also takes out what open transactions have of its key: the group, the topic or the offset was
deleted, and a COMMIT that comes later does not bring it back. Source: OffsetMetadataManager.replay,
replayEndTransactionMarker.
"""

from __future__ import annotations

from collections.abc import Iterator

from groupreplay.wire.segments.row_origins import Origin

OpenCommit = tuple[Origin, int, int, bytes, bytes]
"""A commit inside a transaction: origin, offset, time after the origin's base, key, value."""


class OpenCommits:
    """Commits whose transaction's marker has not come, by producer.

    keys: how many there are of each key, of those that have any.
    """

    def __init__(self) -> None:
        self._of_producers: dict[int, list[OpenCommit]] = {}
        self.keys: dict[bytes, int] = {}

    def add(self, commit: OpenCommit) -> None:
        self.keys[commit[3]] = self.keys.get(commit[3], 0) + 1
        self._of_producers.setdefault(commit[0][5], []).append(commit)

    def end(self, producer_id: int) -> list[OpenCommit]:
        """The marker of a producer: its open commits, in order."""
        ended = self._of_producers.pop(producer_id, [])
        for commit in ended:
            self._count_down(commit[3], 1)
        return ended

    def outdo(self, key: bytes, encoding: str, own_offset: int) -> int:
        """A commit or its tombstone, written at own_offset, counts from now on: takes out those of
        its key that were written before it. Returns how many.
        """
        taken = 0
        for commits in self._of_producers.values():
            left = [
                one
                for one in commits
                if one[3] != key or one[0][6] != encoding or one[1] > own_offset
            ]
            taken += len(commits) - len(left)
            commits[:] = left
        self._count_down(key, taken)
        return taken

    def take(self) -> Iterator[OpenCommit]:
        """All that are left."""
        of_producers, self._of_producers = self._of_producers, {}
        self.keys.clear()
        for commits in of_producers.values():
            yield from commits

    def _count_down(self, key: bytes, ended: int) -> None:
        left = self.keys[key] - ended
        if left:
            self.keys[key] = left
        else:
            del self.keys[key]
