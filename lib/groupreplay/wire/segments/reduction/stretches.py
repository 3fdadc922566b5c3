"""Stretches of commits between two other records of their group: of each key the latest commit that
is not kept yet.

Commits of transactions, which count at a marker, have stretches of their own: their records do not
name the topic's id, so the first and the last of the others stay where a group has both. Keys that
open transactions commit are watched: they stand elsewhere, so that each commit of theirs is met.
"""

from __future__ import annotations

from groupreplay.wire.segments.row_origins import Origin

Pending = tuple[Origin, int, int, bytes | None]
"""The latest commit of a key: origin, offset, time after the origin's base, value (raw: with its
length and what follows).
"""

KEPT: tuple[()] = ()
"""In place of a pending commit: the latest of its key is a row already."""

Latest = dict[bytes, Pending | tuple[()]]


class Stretches:
    """plain, marked: key -> its latest commit, or KEPT, since its group's last other record; marked
    are those of transactions. Neither holds a key that is watched.
    """

    def __init__(self) -> None:
        self.plain: Latest = {}
        self.marked: Latest = {}
        self._watched_plain: Latest = {}
        self._watched_marked: Latest = {}
        self._keys: dict[str, list[bytes]] = {}

    def watch(self, key: bytes) -> None:
        """An open transaction commits the key."""
        if key in self.plain:
            self._watched_plain[key] = self.plain.pop(key)
        if key in self.marked:
            self._watched_marked[key] = self.marked.pop(key)

    def meet(self, group: str, key: bytes, latest: Latest, last: Pending, is_open: bool) -> bool:
        """A commit of a key that `latest` (plain or marked) does not hold. Returns whether it
        begins a stretch: then it is kept. is_open: whether the key is watched from now on.
        """
        watched = self._watched_marked if latest is self.marked else self._watched_plain
        is_first = key not in watched
        if not is_first:
            del watched[key]
        (watched if is_open else latest)[key] = KEPT if is_first else last
        if is_first:
            self._keys.setdefault(group, []).append(key)
        return is_first

    def groups(self) -> list[str]:
        """Groups that have any."""
        return list(self._keys)

    def end(self, group: str) -> list[tuple[bytes, Pending]]:
        """Another record of a group: its last commits that are not kept yet."""
        found: list[tuple[bytes, Pending]] = []
        keys = self._keys.pop(group, None)
        if keys is not None:
            every = (self.plain, self.marked, self._watched_plain, self._watched_marked)
            for key in keys:
                for latest in every:
                    last = latest.pop(key, KEPT)
                    if last:
                        found.append((key, last))
        return found
