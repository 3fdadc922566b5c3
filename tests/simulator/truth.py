"""What a simulated coordinator's own memory held after each operation, as a recording's `truth/`
tells it.

Nothing here reads a segment or knows the product. Times are ms since the epoch, UTC, of simulated
time. Fields that a later simulator adds are passed over. The README says what the files hold.
"""

from __future__ import annotations

import gzip
import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tests.simulator.answers import Answers
from tests.simulator.injected import Injected, injected_of, standstills
from tests.simulator.logged import Calls
from tests.simulator.readers import Readers
from tests.simulator.said import Said, said_of
from tests.simulator.truth_log import Commit, CommitKey, Log, OtherGroup, commit_key

CONSUMER, CLASSIC, STREAMS = "consumer", "classic", "streams"
STABLE, UNREVOKED, UNRELEASED = "STABLE", "UNREVOKED_PARTITIONS", "UNRELEASED_PARTITIONS"
AWAY_EPOCH = -2
"""Epoch of a static member that left for a while (KIP-848)."""


class Partition(NamedTuple):
    """One partition of a topic. topic_id: None where a classic group names the topic alone."""

    topic_id: str | None
    topic: str
    number: int


@dataclass(frozen=True, slots=True)
class Member:
    """One member as the coordinator held it after an operation.

    epoch: member epoch, or the generation of a classic group. previous_epoch, rebalance_timeout_ms:
    None where the truth does not tell. host: its address, as Kafka has it. is_classic: speaks the
    classic protocol, whatever its group's is; said: what it then said. subscription: names of
    topics, in a consumer group; regex: the pattern, assignor: of the server that it asks for,
    rack_id: client.rack, None without one. held: assigned or pending revocation (docs/measures.md,
    Who holds what).
    """

    epoch: int
    previous_epoch: int | None
    state: str
    instance_id: str | None
    client_id: str | None
    host: str | None
    rebalance_timeout_ms: int | None
    is_classic: bool
    subscription: frozenset[str]
    regex: str | None
    assignor: str | None
    assigned: frozenset[Partition]
    pending: frozenset[Partition]
    target: frozenset[Partition]
    held: frozenset[Partition]
    rack_id: str | None = None
    said: Said | None = None

    @property
    def protocol(self) -> str:
        return CLASSIC if self.is_classic else CONSUMER

    @property
    def client(self) -> tuple[str | None, str | None]:
        """Client id and host, which are a process where one member has them."""
        return self.client_id, self.host

    @property
    def is_away(self) -> bool:
        return self.epoch == AWAY_EPOCH


@dataclass(slots=True)
class Operation:
    """What one action of the coordinator wrote of one group, and the group as it was then.

    at: time of its records, by the clock of the broker that led; true_at: by the one true clock.
    first_offset, last_offset: of the action's records. kind: what was asked (join, heartbeat, sync,
    leave, commit, delete group, ..), or `internal`: then reason names the timer or task. asked_by:
    member that asked. records: each in short, in order; empty where other groups' are among them.
    protocol: None where the group is gone. epoch: group epoch or generation. target_epoch: of the
    assignment; None for classic groups. Of classic groups alone: protocol_type, protocol_name,
    leader, the member that assigned, and joined_at, when the join phase ended, by its K2.
    """

    at: int
    true_at: int
    offsets_partition: int
    first_offset: int
    last_offset: int
    kind: str
    asked_by: str | None
    reason: str
    answer: Sequence[Any]
    records: tuple[str, ...]
    group_id: str
    protocol: str | None
    epoch: int
    target_epoch: int | None
    protocol_type: str | None
    protocol_name: str | None
    members: Mapping[str, Member]
    leader: str | None = None
    joined_at: int | None = None

    def has(self, record: str) -> bool:
        """Whether one of its records begins so."""
        return any(each.startswith(record) for each in self.records)

    @property
    def target_epochs(self) -> list[int]:
        """Epochs of the targets that it completed (K6), in order."""
        return [int(each.split()[3]) for each in self.records if each.startswith("K6 target epoch")]

    @property
    def topics_hash(self) -> str | None:
        """Of the subscribed topics, in its last K3 (4.1 and later); None without one."""
        hashes = [each.split(" hash ")[1] for each in self.records if " hash " in each]
        return hashes[-1] if hashes else None

    @property
    def group_epochs(self) -> list[int]:
        """Group epochs that it began (K3), in order."""
        return [int(each.split()[2]) for each in self.records if each.startswith("K3 epoch")]

    def __str__(self) -> str:
        told = [
            each if len(each) < 48 else f"{each[:20]}..{each[-22:]}" for each in self.records[:14]
        ]
        more = f" ..{len(self.records)}" if len(self.records) > 14 else ""
        place = f"{self.at} p{self.offsets_partition}:{self.first_offset}-{self.last_offset}"
        asked = f"{self.kind} {self.asked_by or ''} {self.reason} answer={list(self.answer)}"
        group = f"{self.protocol} epoch={self.epoch} target={self.target_epoch}"
        return f"{place} {asked} {group} {' | '.join(told)}{more}"


@dataclass(slots=True)
class Truth:
    """One recording's truth. version: of Kafka.

    operations: group -> its operations in the order of the log. commits: in the order in which they
    came to count. names: topic id -> name, of all that ever were. tombstones: of commits, by
    offset. commit_offsets: group -> records of commits, tombstones too. deleted: name -> (deleted
    at, topic id). elected: partition of the offsets topic -> when a new leader took it over;
    leader_epochs: the epoch of each of these. transactional: groups that commit in transactions.
    as_of_ms: time of the newest record. lines: operations of all groups, those that commit alone
    included. logs: by partition. readers: when nobody read what. answers: of requests. logged: of
    coordinators' loggers. other_groups: share and streams groups that live, and of which kind they
    are. ended_at: true time of the newest record. clocks_differ_ms: of two brokers, at most.
    broker_config: what is not as Kafka has it.
    """

    version: str
    names: Mapping[str, str]
    injected: Sequence[Injected]
    readers: Readers
    answers: Answers
    logged: Calls
    operations: dict[str, list[Operation]] = field(default_factory=lambda: defaultdict(list))
    commits: dict[CommitKey, list[Commit]] = field(default_factory=lambda: defaultdict(list))
    tombstones: dict[CommitKey, list[int]] = field(default_factory=lambda: defaultdict(list))
    live_offsets: dict[str, set[CommitKey]] = field(default_factory=lambda: defaultdict(set))
    commit_offsets: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    deleted: dict[str, list[tuple[int, str]]] = field(default_factory=lambda: defaultdict(list))
    elected: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    leader_epochs: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    logs: dict[int, Log] = field(default_factory=lambda: defaultdict(Log))
    other_groups: dict[str, OtherGroup] = field(default_factory=dict)
    transactional: set[str] = field(default_factory=set)
    brokers: int = 1
    clocks_differ_ms: int = 0
    broker_config: Mapping[str, str] = field(default_factory=dict)
    as_of_ms: int = 0
    ended_at: int = 0
    lines: int = 0

    @property
    def prints_config(self) -> bool:
        """Whether brokers print what they were started with."""
        return "group.min.session.timeout.ms" in self.broker_config

    def leader_epoch(self, offsets_partition: int, true_at: int) -> int:
        """Leader epoch of a partition at a true time; -1 where no election is told of."""
        place = bisect_right(self.elected.get(offsets_partition, ()), true_at)
        return self.leader_epochs[offsets_partition][place - 1] if place else -1

    def commit_after(self, key: CommitKey, offset: int, before: int | None) -> int | None:
        """Time of the first commit above an offset, and below another if there is one; None without
        one."""
        found = self.first_commit_after(key, offset, before)
        return None if found is None else found.at

    def first_commit_after(self, key: CommitKey, offset: int, before: int | None) -> Commit | None:
        """The same commit."""
        commits = self.commits.get(key, [])
        place = bisect_right(commits, offset, key=lambda each: each.offset)
        found = commits[place] if place < len(commits) else None
        return found if found is not None and (before is None or found.offset < before) else None

    def commit_before(self, key: CommitKey, offset: int) -> int | None:
        """Time of the last commit below an offset; None without one, or where it was deleted."""
        found = self.last_commit_before(key, offset)
        return None if found is None else found.at

    def last_commit_before(self, key: CommitKey, offset: int, since: int = -1) -> Commit | None:
        """The same commit, if it is from another offset on."""
        commits, tombstones = self.commits.get(key, []), self.tombstones.get(key, [])
        place = bisect_right(commits, offset - 1, key=lambda each: each.offset)
        deleted = bisect_right(tombstones, offset - 1)
        if not place or (deleted and tombstones[deleted - 1] > commits[place - 1].offset):
            return None
        return commits[place - 1] if commits[place - 1].offset >= since else None

    def has_tombstone(self, group_id: str, after: int, before: int) -> bool:
        """Whether a committed offset of a group was deleted between two offsets of the log."""
        return any(
            key.group_id == group_id and any(after < each < before for each in offsets)
            for key, offsets in self.tombstones.items()
        )

    def near(self, group_id: str, offset: int, before: int = 2, after: int = 3) -> list[Operation]:
        """The operations of a group around an offset of its log."""
        operations = self.operations.get(group_id, [])
        place = bisect_right(operations, offset, key=lambda each: each.first_offset)
        return operations[max(0, place - 1 - before) : place + after]


def read_truth(recording: Path) -> Truth:
    """The truth of a recording. Raises what json and KeyError raise where a file is damaged."""
    home = recording / "truth"
    injected = standstills(map(injected_of, _lines(home / "timeline.jsonl.gz")))
    names = json.loads((home / "topic_names.json").read_text())
    told = json.loads((recording / "recording.json").read_text())
    readers, answers = Readers(recording, names), Answers(recording)
    logged = Calls(recording)
    truth = Truth(told.get("kafka", ""), names, injected, readers, answers, logged)
    truth.brokers = told["brokers"]
    clocks = told["simulated"]["clocks_ms"].values()
    truth.clocks_differ_ms = max(clocks) - min(clocks)
    truth.broker_config = told["broker_config"]
    for event in injected:
        if event.what == "delete":
            name, topic_id = event.detail.rsplit(" ", 1)
            truth.deleted[name].append((event.at, topic_id))
        elif event.what == "elect":
            partition, leader_epoch = map(int, event.detail.split())
            truth.elected[partition].append(event.at)
            truth.leader_epochs[partition].append(leader_epoch)
    lines = sorted(recorded_lines(recording), key=lambda line: (line["p"], line["b"]))
    _Reader(truth).read(lines)
    return truth


def recorded_lines(recording: Path) -> Iterator[dict[str, Any]]:
    """The operations of a recording, as they were written down."""
    return _lines(recording / "truth" / "operations.jsonl.gz")


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as text:
        for line in text:
            yield json.loads(line)


class _Reader:
    """Turns lines, which tell what changed, into operations, which tell the whole state."""

    def __init__(self, truth: Truth) -> None:
        self._truth = truth
        self._members: dict[str, dict[str, Member]] = {}
        self._in_transactions: dict[tuple[int, str], dict[CommitKey, int]] = defaultdict(dict)
        self._positions: dict[tuple[CommitKey, int], int] = {}

    def read(self, lines: Sequence[dict[str, Any]]) -> None:
        truth = self._truth
        truth.lines = len(lines)
        for line in lines:
            truth.as_of_ms = max(truth.as_of_ms, line["t"])
            truth.ended_at = max(truth.ended_at, line.get("tt", line["t"]))
            leader_epoch = truth.leader_epoch(line["p"], line.get("tt", line["t"]))
            truth.logs[line["p"]].feed(line, leader_epoch)
            if line["op"] == "marker":
                self._end_transaction(line)
            elif "s" in line:
                self._read_states(line)
            else:
                self._read_commits(line)
        for log in truth.logs.values():
            log.finish()

    def _end_transaction(self, line: dict[str, Any]) -> None:
        outcome, producer = line["why"].split()
        for key, own_offset in self._in_transactions.pop((line["p"], producer), {}).items():
            if outcome == "COMMIT":
                position = self._positions[key, own_offset]
                self._add_commit(key, Commit(line["b"], line["t"], position), own_offset)

    def _outdo(self, key: CommitKey, own_offset: int) -> None:
        """A record counts: open commits of its key, written before it, never will."""
        for keys in self._in_transactions.values():
            if keys.get(key, own_offset) < own_offset:
                del keys[key]

    def _add_commit(self, key: CommitKey, commit: Commit, own_offset: int) -> None:
        self._outdo(key, own_offset)
        self._truth.commits[key].append(commit)
        self._truth.commit_offsets[key.group_id].append(commit.offset)
        self._truth.live_offsets[key.group_id].add(key)

    def _read_commits(self, line: dict[str, Any]) -> None:
        for offset, told in enumerate(line.get("c", ()), line["b"]):
            if (key := commit_key(told)) is None:
                continue
            if told.endswith(" gone"):
                self._truth.commit_offsets[key.group_id].append(offset)
                self._delete_offset(key, offset)
            elif line["op"] == "txn commit":
                self._in_transactions[line["p"], line["why"]][key] = offset
                self._positions[key, offset] = int(told.rsplit(" ", 1)[1])
                self._truth.transactional.add(key.group_id)
            else:
                self._add_commit(
                    key, Commit(offset, line["t"], int(told.rsplit(" ", 1)[1])), offset
                )

    def _delete_offset(self, key: CommitKey, offset: int) -> None:
        self._truth.live_offsets[key.group_id].discard(key)
        self._truth.tombstones[key].append(offset)
        self._outdo(key, offset)

    def _read_states(self, line: dict[str, Any]) -> None:
        states: dict[str, dict[str, Any]] = line["s"]
        for place, told in enumerate(line["recs"]):
            if (key := commit_key(told)) is not None and told.endswith(" gone"):
                self._delete_offset(key, line["b"] + place)
        records = (
            tuple(record for record in line["recs"] if not record.startswith("K1 "))
            if len(states) == 1
            else ()
        )
        for group_id, state in states.items():
            members = {
                name: each
                for name, each in self._members.get(group_id, {}).items()
                if name not in state.get("gone", ())
            }
            if state["type"] != STREAMS:
                members |= {name: self._member(told) for name, told in state.get("ms", {}).items()}
            self._members[group_id] = members
            # A classic group of which the action wrote no K2 is not told: its memory runs ahead.
            self._note_other(group_id, line, state, len(members))
            if "nok2" not in state and state["type"] in (CONSUMER, CLASSIC, STREAMS, None):
                self._truth.operations[group_id].append(
                    _operation(line, group_id, state, records, members)
                )

    def _note_other(
        self, group_id: str, line: dict[str, Any], state: dict[str, Any], members: int
    ) -> None:
        others, kind = self._truth.other_groups, state["type"]
        if kind in (CONSUMER, CLASSIC, None):
            others.pop(group_id, None)
            return
        if group_id not in others:
            others[group_id] = OtherGroup(kind.lower(), line["p"], line["b"], line["e"])
        if kind == STREAMS or "K11" in line["recs"]:
            others[group_id].epoch = state["ge"]
        others[group_id].members = members

    def _member(self, told: dict[str, Any]) -> Member:
        by_name = "an" in told
        assigned = self._partitions(told["an" if by_name else "a"], by_name)
        pending = self._partitions(told.get("pr", {}), False)
        return Member(
            epoch=told["e"],
            previous_epoch=told.get("pe"),
            state=told["st"],
            instance_id=told.get("i"),
            client_id=told.get("cl"),
            host=told.get("ho"),
            rebalance_timeout_ms=told.get("rt"),
            is_classic=bool(told.get("classic")),
            subscription=frozenset(told.get("sub", ())),
            regex=told.get("re"),
            assignor=told.get("sa"),
            assigned=assigned,
            pending=pending,
            target=self._partitions(told.get("ta", {}), False),
            held=assigned | pending,
            rack_id=told.get("rk"),
            said=said_of(told.get("said")),
        )

    def _partitions(self, told: dict[str, list[int]], by_name: bool) -> frozenset[Partition]:
        names = self._truth.names
        if by_name:
            return frozenset(
                Partition(None, topic, number)
                for topic, numbers in told.items()
                for number in numbers
            )
        return frozenset(
            Partition(topic_id, names.get(topic_id, topic_id), number)
            for topic_id, numbers in told.items()
            for number in numbers
        )


def _operation(
    line: dict[str, Any],
    group_id: str,
    state: dict[str, Any],
    records: tuple[str, ...],
    members: Mapping[str, Member],
) -> Operation:
    return Operation(
        at=line["t"],
        true_at=line.get("tt", line["t"]),
        offsets_partition=line["p"],
        first_offset=line["b"],
        last_offset=line["e"],
        kind=line["op"],
        asked_by=line["m"],
        reason=line.get("why") or "",
        answer=line.get("ans") or (),
        records=records,
        group_id=group_id,
        protocol=state["type"],
        epoch=state.get("ge", 0),
        target_epoch=state.get("te"),
        protocol_type=state.get("ptype"),
        protocol_name=state.get("proto"),
        members=members if state["type"] is not None else {},
        leader=state.get("lead"),
        joined_at=state.get("since"),
    )
