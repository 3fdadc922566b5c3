"""Commits of transactions that are open: they count from their COMMIT marker on, or never.

The tombstone of a commit also takes out what open transactions have of its key: the group, the
topic or the offset was deleted, and a COMMIT that comes later does not bring it back. Source:
OffsetMetadataManager.replay, replayEndTransactionMarker.
"""

from __future__ import annotations

from collections.abc import Iterator

from groupreplay.wire.segments.row_origins import Origin

OpenCommit = tuple[Origin, int, int, bytes, bytes]
"""A commit inside a transaction: origin, offset, time after the origin's base, key, value."""


class OpenCommits:
    """Commits whose transaction's marker has not come, by producer.

    keys: their keys, and some whose transaction ended since.
    """

    def __init__(self) -> None:
        self._of_producers: dict[int, list[OpenCommit]] = {}
        self.keys: set[bytes] = set()

    def add(self, commit: OpenCommit) -> None:
        self.keys.add(commit[3])
        self._of_producers.setdefault(commit[0][5], []).append(commit)

    def end(self, producer_id: int) -> list[OpenCommit]:
        """The marker of a producer: its open commits, in order."""
        ended = self._of_producers.pop(producer_id, [])
        if not self._of_producers:
            self.keys.clear()
        return ended

    def cancel(self, key: bytes, encoding: str) -> int:
        """The tombstone of a commit. Returns how many it takes out."""
        taken = 0
        for commits in self._of_producers.values():
            left = [one for one in commits if one[3] != key or one[0][6] != encoding]
            taken += len(commits) - len(left)
            commits[:] = left
        return taken

    def take(self) -> Iterator[OpenCommit]:
        """All that are left."""
        of_producers, self._of_producers = self._of_producers, {}
        self.keys.clear()
        for commits in of_producers.values():
            yield from commits
