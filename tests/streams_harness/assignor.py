"""Kafka's own StreamsPartitionAssignor, driven from here: a process of Java that takes lines and
gives lines, as the README says. Needs a JDK, 17 or later.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.support.kafka_jars import CACHE, only_one, resolved

VERSION: Final = "4.3.1"
SOURCES: Final = Path(__file__).parent / "java"
HOME: Final = CACHE / "streams-harness" / VERSION
NOT_NEEDED: Final = "org.rocksdb:*,com.*:*,at.*:*,org.lz4:*,org.xerial*:*"
LEADER_CLOCK: Final = 1_700_000_000_000


@dataclass(frozen=True, slots=True)
class Settings:
    """Of an application; lags are records.

    subtopologies: topic -> (partitions, stores), in the order of their numbers.
    """

    subtopologies: Mapping[str, tuple[int, int]]
    acceptable_recovery_lag: int = 0
    max_warmup_replicas: int = 2
    num_standby_replicas: int = 0
    probing_interval_ms: int = 600_000


@dataclass(frozen=True, slots=True)
class Thread:
    """What a stream thread says as it joins. owned: `topic-partition`. sums: by task."""

    member_id: str
    process_id: str
    owned: tuple[str, ...] = ()
    generation: int = -1
    unique_field: int = 2
    sums: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """What a thread is given, as Kafka's own classes read it.

    next_ms: None for no rebalance. said, data: base64 of the user data of its subscription and of
        its assignment.
    """

    partitions: tuple[str, ...]
    active: tuple[str, ...]
    standby: tuple[str, ...]
    next_ms: int | None
    said: str
    data: str


@dataclass(frozen=True, slots=True)
class Decision:
    """decided: process id -> active tasks and replicas, before tasks that others own were taken out
    again. given: by member id. probes: whether HighAvailabilityTaskAssignor asks for a probing
    rebalance.
    """

    decided: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
    given: Mapping[str, Given]
    probes: bool


class Assignor:
    """One process; `with` ends it."""

    def __init__(self) -> None:
        path = f"{_compiled()}:{_jars()}/*"
        self._java = subprocess.Popen(
            ["java", "-Xmx256m", "-XX:+UseSerialGC", "-cp", path, "harness.Main"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._java.kill()
        self._java.communicate()

    def configure(self, settings: Settings) -> None:
        self._say(
            "application",
            settings.acceptable_recovery_lag,
            settings.max_warmup_replicas,
            settings.num_standby_replicas,
            settings.probing_interval_ms,
            _joined(f"{name}:{n}:{m}" for name, (n, m) in settings.subtopologies.items()),
        )

    def assign(
        self, leader: str, now_ms: int, ends: Mapping[str, int], threads: Iterable[Thread]
    ) -> Decision:
        """ends: task -> end offset of its changelog."""
        self._say("generation", now_ms, leader, _numbers(ends))
        for thread in threads:
            self._say(
                "member",
                thread.member_id,
                thread.process_id,
                _joined(thread.owned),
                thread.generation,
                thread.unique_field,
                _numbers(thread.sums or {}),
            )
        self._say("assign")
        return self._decision()

    def _say(self, *words: object) -> None:
        assert self._java.stdin is not None
        self._java.stdin.write("\t".join(map(str, words)) + "\n")
        self._java.stdin.flush()

    def _decision(self) -> Decision:
        assert self._java.stdout is not None
        decided: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        given: dict[str, Given] = {}
        for line in self._java.stdout:
            word, *words = line.rstrip("\n").split("\t")
            if word == "done":
                return Decision(decided, given, words[0] == "true")
            if word == "decided":
                decided[words[0]] = _listed(words[1]), _listed(words[2])
            else:
                member, partitions, active, standby, next_ms, said, data = words
                given[member] = Given(
                    _listed(partitions),
                    _listed(active),
                    _listed(standby),
                    int(next_ms) if next_ms else None,
                    said,
                    data,
                )
        assert self._java.stderr is not None
        raise RuntimeError(self._java.stderr.read()[-4000:])


def _joined(words: Iterable[str]) -> str:
    return ",".join(words)


def _numbers(numbers: Mapping[str, int]) -> str:
    return _joined(f"{name}={number}" for name, number in sorted(numbers.items()))


def _listed(joined: str) -> tuple[str, ...]:
    return tuple(joined.split(",")) if joined else ()


def _jars() -> Path:
    packages = f"org.apache.kafka:kafka-streams:{VERSION}"
    return resolved(packages, HOME / "jars", without=NOT_NEEDED)


def _compiled() -> Path:
    """The folder of the classes, compiled anew when a source changed."""
    sources = sorted(SOURCES.rglob("*.java"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    classes, jars = HOME / f"classes-{digest}", _jars()
    with only_one(classes):
        if not classes.exists():
            with tempfile.TemporaryDirectory(dir=HOME) as scratch:
                made = Path(scratch) / "classes"
                command = ["javac", "-nowarn", "-d", str(made), "-cp", f"{jars}/*"]
                done = subprocess.run(
                    [*command, *map(str, sources)], capture_output=True, text=True
                )
                if done.returncode != 0:
                    raise RuntimeError(done.stderr[-4000:])
                shutil.move(made, classes)
    return classes
