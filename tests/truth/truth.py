"""What a recording says truly happened: the broker's own answers, its debug log, and what the
script did. Reads no coordinator record.

Files under `truth/` of a recording (its README says how they were made): timeline, samples of
describe answers, what clients saw, and the log of the coordinator at DEBUG. Times are ms since the
epoch, UTC.
"""

from __future__ import annotations

import datetime as dt
import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.recordings import recordings

Partition = tuple[str, int]
"""(topic's name, number)"""

Sample = dict[str, Any]
"""One describe answer about a group: asked_at, answered_at, type, state, members, .."""

_HEAD = r"^\[(?P<at>[^\]]+)\] \w+ \[GroupCoordinator[^\]]*\] "
_STATE = re.compile(
    _HEAD
    + r"\[GroupId (?P<group>[^\]]+)\] Member (?P<member>\S+) new assignment state: epoch=-?\d+,"
    r" previousEpoch=-?\d+, state=\w+,"
    r" assignedPartitions=\[(?P<assigned>[^\]]*)\] and revokedPartitions=\[(?P<revoked>[^\]]*)\]"
)
_GONE = re.compile(
    _HEAD
    + r"\[Group(?:Id)? (?P<group>[^\]]+)\] (?:Dynamic |Static )?[Mm]ember (?P<member>\S+)(?: with"
    r" instance id \S+)?"
    r" (?P<how>fenced from the group because|(?:temporarily )?left the consumer group|has left"
    r" group through explicit)"
)
_REPLACED = re.compile(
    _HEAD
    + r"\[GroupId (?P<group>[^\]]+)\] Static member with instance id \S+ re-joins .*to replace the"
    r" existing member (?P<member>\S+?)\.? \("
)
_DOWNGRADED = re.compile(
    _HEAD + r"\[GroupId (?P<group>[^\]]+)\] Converted the consumer group to a classic group"
)
_PARTITION = re.compile(r"([A-Za-z0-9_-]{22})-(\d+)(?:@-?\d+)?")

FAR_FROM_A_MOVE_MS = (15_000, 2_000)
"""A broker that starts or stops spoils the answers so long before and after."""


@dataclass(frozen=True, slots=True)
class MemberLine:
    """One line of the debug log about a member.

    gone: how it went, "" where it told a new assignment.
    """

    at: int
    gone: str
    assigned: frozenset[Partition] = frozenset()
    revoked: frozenset[Partition] = frozenset()


@dataclass(frozen=True, slots=True)
class Asked:
    """A partition that was asked back.

    ended: None while open.
    outcome: ACKED, CANCELLED, FENCED, LEFT, ELSE (converted or replaced) or OPEN.
    """

    group: str
    member: str
    partition: Partition
    requested: int
    ended: int | None
    outcome: str


class Truth:
    """One recording's truth. Raises what json raises where a file is damaged."""

    def __init__(self, recording: Path) -> None:
        self.name = recording.name
        self.meta: dict[str, Any] = json.loads((recording / "recording.json").read_text())
        self.kafka = tuple(map(int, self.meta["kafka"].split(".")))
        self.topics = _topics(recording)
        self.timeline = [
            json.loads(line) for line in _lines(recording / "truth" / "timeline.jsonl.gz")
        ]
        self.samples = _samples(recording)
        self.seen = [json.loads(line) for line in _lines(recording / "truth" / "members.jsonl.gz")]
        self.clients = self._clients()
        self.members = self._member_lines(recording)
        self.knows_states = any(recording.glob("truth/*coordinator-debug.log.gz"))
        self.is_compacted = any(
            key.startswith("log.cleaner.min.cleanable") for key in self.meta["broker_config"]
        )
        self.was_upgraded = any(
            event.get("version") for event in self.timeline if event["action"] == "broker_start"
        )

    # ------------------------------------------------------------ what was read

    def _clients(self) -> dict[str, str]:
        """member id -> client id."""
        clients = {
            m["member_id"]: m["client_id"]
            for samples in self.samples.values()
            for s in samples
            for m in s.get("members", [])
        }
        for event in self.seen:
            if event.get("member_id"):
                clients.setdefault(event["member_id"], event["member"])
        return clients

    def _member_lines(self, recording: Path) -> dict[tuple[str, str], list[MemberLine]]:
        """(group, member) -> its lines, in order of time."""
        found: dict[tuple[str, str], list[MemberLine]] = defaultdict(list)
        downgrades: list[tuple[str, int]] = []
        for path in sorted(recording.glob("truth/*coordinator-debug.log.gz")):
            for line in _lines(path):
                if told := _STATE.match(line):
                    new = MemberLine(
                        _ms(told["at"]),
                        "",
                        self._partitions(told["assigned"]),
                        self._partitions(told["revoked"]),
                    )
                    found[told["group"], told["member"]].append(new)
                elif told := _GONE.match(line):
                    found[told["group"], told["member"].rstrip(".")].append(
                        MemberLine(_ms(told["at"]), told["how"])
                    )
                elif told := _REPLACED.match(line):
                    found[told["group"], told["member"]].append(
                        MemberLine(_ms(told["at"]), "converted or replaced")
                    )
                elif told := _DOWNGRADED.match(line):
                    downgrades.append((told["group"], _ms(told["at"])))
        for group, at in downgrades:
            for (other, _), lines in found.items():
                if other == group:
                    lines.append(MemberLine(at, "converted or replaced"))
        return {key: sorted(lines, key=lambda line: line.at) for key, lines in found.items()}

    def _partitions(self, text: str) -> frozenset[Partition]:
        return frozenset(
            (self.topics.get(topic_id, topic_id), int(number))
            for topic_id, number in _PARTITION.findall(text)
        )

    # ------------------------------------------------------------ what is asked of it

    def stories(self) -> list[str]:
        """The scenarios that were played to their end."""
        failed = {failure[0] for failure in self.meta["failures"]}
        return [story for story in self.meta["scenarios"] if story not in failed]

    def at(self, group: str, action: str, member: str | None = None) -> int:
        """When the script first did something to a group."""
        hits = (
            e["at"]
            for e in self.timeline
            if e["scenario"] == group
            and e["action"] == action
            and member in (None, e.get("member"))
        )
        return int(next(hits))

    @property
    def ended(self) -> int:
        """When the script was through, and the brokers with it."""
        return int(max(event["at"] for event in (*self.timeline, *self.seen)))

    def client(self, member_id: str) -> str:
        return self.clients.get(member_id, member_id)

    def broker_moves(self) -> list[int]:
        """Moments around which the coordinator was away."""
        return [
            event["at"]
            for event in self.timeline
            if event["scenario"] == "cluster" and event["action"].startswith("broker_")
        ]

    def probes(self, margin_ms: int = 400) -> Iterator[tuple[str, int, Sample]]:
        """(group, moment, answer): moments at which the answer is known not to have been
        changing.
        """
        ends = [
            event["at"]
            for event in self.timeline
            if event["scenario"] == "cluster" and event["action"] == "end"
        ]
        end = max(ends, default=self.timeline[-1]["at"])
        before, after = FAR_FROM_A_MOVE_MS
        for group, samples in self.samples.items():
            for sample, following in zip(samples, [*samples[1:], None], strict=True):
                low = sample["answered_at"] + margin_ms
                high = (following["asked_at"] if following is not None else end) - margin_ms
                if (
                    sample.get("gone")
                    or high <= low
                    or any(low - before < move < high + after for move in self.broker_moves())
                ):
                    continue
                yield group, (low + high) // 2, sample

    def asked_back(self) -> list[Asked]:
        """Every partition that the debug log shows being asked back from a member."""
        found: list[Asked] = []
        for (group, member), lines in self.members.items():
            pending: dict[Partition, int] = {}
            for line in lines:
                if line.gone:
                    outcome = (
                        "FENCED"
                        if "fenced" in line.gone
                        else "ELSE"
                        if "converted" in line.gone
                        else "LEFT"
                    )
                    found += [
                        Asked(group, member, tp, at, line.at, outcome) for tp, at in pending.items()
                    ]
                    pending = {}
                    continue
                for tp in [tp for tp in pending if tp not in line.revoked]:
                    found.append(
                        Asked(
                            group,
                            member,
                            tp,
                            pending.pop(tp),
                            line.at,
                            "CANCELLED" if tp in line.assigned else "ACKED",
                        )
                    )
                for tp in line.revoked:
                    pending.setdefault(tp, line.at)
            found += [Asked(group, member, tp, at, None, "OPEN") for tp, at in pending.items()]
        return found


KNOWN = sorted(
    name for name, path in recordings().items() if (path / "truth" / "timeline.jsonl.gz").is_file()
)
"""Recordings that know what truly happened."""

OF_CONSUMERS = [name for name in KNOWN if not name.startswith("streams-")]
"""Those of consumers. What is told of Kafka Streams is held against `streams_truth`."""


@cache
def truth_of(recording: str) -> Truth:
    return Truth(recordings()[recording])


def _lines(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8") as text:
        yield from text


def _ms(text: str) -> int:
    return round(
        dt.datetime.strptime(text, "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=dt.UTC).timestamp() * 1000
    )


def _topics(recording: Path) -> dict[str, str]:
    """Topic id -> name, deleted ones included where the recording kept them."""
    topics: dict[str, str] = {}
    for path in (recording / "topics.json", recording / "truth" / "topics-early.json"):
        if path.exists():
            topics |= {topic["topic_id"]: topic["topic"] for topic in json.loads(path.read_text())}
    return topics


def _samples(recording: Path) -> dict[str, list[Sample]]:
    samples: dict[str, list[Sample]] = defaultdict(list)
    for line in _lines(recording / "truth" / "samples.jsonl.gz"):
        try:
            sample = json.loads(line)
        except ValueError:
            continue  # the last line of a recording that was stopped
        samples[sample["group_id"]].append(sample)
    return samples
