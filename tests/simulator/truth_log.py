"""What each partition's log holds, by the truth: how many records of what kind, and how many
commits no measure needs."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class CommitKey(NamedTuple):
    """Whose committed offset it is."""

    group_id: str
    topic: str
    number: int


class Commit(NamedTuple):
    """A committed offset. offset: of its record in the log; of one in a transaction, of the marker
    that made it count. position: up to where its group has read."""

    offset: int
    at: int
    position: int


class OpenCommit(NamedTuple):
    """A commit of a transaction that has not ended, and the offset of its record."""

    key: CommitKey
    own_offset: int


class Written(NamedTuple):
    """Records of one operation of a log: the first one's offset, their time, who wrote them."""

    first_offset: int
    at: int
    leader_epoch: int


@dataclass(slots=True)
class OtherGroup:
    """A share or streams group that lives. first_offset, last_offset: of its first operation. epoch:
    None of a share group until a record says one."""

    protocol: str
    offsets_partition: int
    first_offset: int
    last_offset: int
    epoch: int | None = None
    members: int = 0


_Stretch = tuple[CommitKey, bool]
"""Of which offset, and whether its commits are those of transactions."""


def commit_key(told: str) -> CommitKey | None:
    """Whose offset a record in short is; None for any other record."""
    words = told.split(" ")
    if words[0] != "K1":
        return None
    topic, number = words[2].rsplit("-", 1)
    return CommitKey(words[1], topic, int(number))


@dataclass(slots=True)
class Log:
    """One partition of the offsets topic, from offset 0.

    first_at, last_at: time of its first record, and the greatest of any. markers: ends of
    transactions. aborted, unsettled: commits of transactions that were aborted, or have not ended;
    what never counted because its offset was deleted, or a commit written later counted, before the
    marker is aborted too. landed: the
    records that are kept; reduced: commits that are left out. A commit is kept if it is the first
    or the last of its key between two other records of its group, of which each leader epoch has
    its own; those of transactions by themselves (measures.md, commits).
    """

    next_offset: int = 0
    first_at: int | None = None
    last_at: int = -1
    markers: int = 0
    aborted: int = 0
    unsettled: int = 0
    landed: int = 0
    reduced: int = 0
    _written: list[Written] = field(default_factory=list)
    _in_transactions: dict[str, list[OpenCommit]] = field(default_factory=lambda: defaultdict(list))
    _stretches: dict[str, Counter[_Stretch]] = field(default_factory=lambda: defaultdict(Counter))

    def feed(self, line: dict[str, Any], leader_epoch: int) -> None:
        """Takes the next operation of the partition."""
        if self._written and leader_epoch != self._written[-1].leader_epoch:
            self._end_stretches()
        self._written.append(Written(line["b"], line["t"], leader_epoch))
        self.next_offset = line["e"] + 1
        self.first_at = line["t"] if self.first_at is None else self.first_at
        self.last_at = max(self.last_at, line["t"])
        if line["op"] == "marker":
            self._settle(line)
        elif line["op"] == "txn commit":
            commits = [
                OpenCommit(key, line["b"] + place)
                for place, told in enumerate(line["c"])
                if (key := commit_key(told)) is not None
            ]
            self._in_transactions[line["why"]] += commits
            self.unsettled += len(commits)
        else:
            self._count(line.get("recs") or line.get("c") or (), line["b"])
            for group_id in line.get("s", ()):
                self._end_stretch(group_id)

    def finish(self) -> None:
        """The end of the log ends every stretch."""
        self._end_stretches()

    def _end_stretches(self) -> None:
        for group_id in list(self._stretches):
            self._end_stretch(group_id)

    def written(self, offset: int) -> Written:
        """What the record at an offset was written with."""
        place = bisect_right(self._written, offset, key=lambda each: each.first_offset)
        return self._written[place - 1]

    def offsets_before(self, leader_epoch: int) -> int:
        """How many there are by earlier leaders: what a leader of this epoch loads."""
        later = (each.first_offset for each in self._written if each.leader_epoch >= leader_epoch)
        return next(later, self.next_offset)

    def _settle(self, line: dict[str, Any]) -> None:
        outcome, producer = line["why"].split()
        commits = self._in_transactions.pop(producer, [])
        self.markers += 1
        self.unsettled -= len(commits)
        if outcome != "COMMIT":
            self.aborted += len(commits)
            return
        # Of several commits of one key in a transaction only the last was ever visible.
        last = dict(commits)
        self.reduced += len(commits) - len(last)
        for key, own_offset in last.items():
            self._outdo(key, own_offset)
            self._stretches[key.group_id][key, True] += 1

    def _count(self, records: Sequence[str], first_offset: int) -> None:
        for offset, told in enumerate(records, first_offset):
            key = commit_key(told)
            if key is not None:
                self._outdo(key, offset)
                if not told.endswith(" gone"):
                    self._stretches[key.group_id][key, False] += 1
                    continue
                self._end_stretch(key.group_id)
            self.landed += 1

    def _outdo(self, key: CommitKey, own_offset: int) -> None:
        """A commit or a deletion that counts takes what open transactions wrote of it before."""
        for commits in self._in_transactions.values():
            left = [each for each in commits if each.key != key or each.own_offset > own_offset]
            taken = len(commits) - len(left)
            commits[:] = left
            self.unsettled -= taken
            self.aborted += taken

    def _end_stretch(self, group_id: str) -> None:
        for commits in self._stretches.pop(group_id, Counter[_Stretch]()).values():
            self.landed += min(commits, 2)
            self.reduced += max(commits - 2, 0)
