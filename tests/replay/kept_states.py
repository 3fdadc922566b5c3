"""States as each release wrote them, kept so that every later one can be shown to read them.

A release adds its own, run in its own checkout:

    PYTHONPATH=lib:. python -m tests.replay.kept_states VERSION

`states/VERSION.jsonl.gz` then has, on its first line, what the fields of the classes in states are;
on each other line a state of one recorded group, where most is under way in the middle of its log.
What is kept is never written anew.
"""

from __future__ import annotations

import base64
import dataclasses
import gzip
import json
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from groupreplay.evidence.evidence_replay import EvidenceReplay
from groupreplay.evidence.memory import Evidence, Line
from groupreplay.replay.group_replay import GroupReplay
from groupreplay.replay.life import Life
from groupreplay.state_codec import classes_of, field_version, kept_fields
from tests.support.log_lines import Subject, recorded_lines
from tests.support.recordings import REPOSITORY, RecordedGroup, groups, recordings

STATES = Path(__file__).parent / "states"
LIFE, EVIDENCE = "life", "evidence"
ROOTS: dict[str, type[Any]] = {LIFE: Life, EVIDENCE: Evidence}
OF_LINES = ("brokers-killed-4.2", "classic-3.9", "info-4.3", "migration-4.3")
"""Recordings of which evidence is kept."""

REQUIRED = "required"
Fields = dict[str, dict[str, dict[str, list[Any]]]]
"""kind of state -> class -> field -> [version, type, default]."""


@dataclasses.dataclass(frozen=True)
class KeptState:
    """after: where the log was cut: offset of the last record, or `place` of the last line."""

    kind: str
    recording: str
    group_id: str
    partition: int | None
    after: list[Any]
    state: str

    @property
    def data(self) -> bytes:
        return base64.b64decode(self.state)


def releases() -> list[str]:
    return sorted(path.name.removesuffix(".jsonl.gz") for path in STATES.glob("*.jsonl.gz"))


def kept(release: str) -> tuple[Fields, list[KeptState]]:
    with gzip.open(STATES / f"{release}.jsonl.gz", "rt", encoding="ascii") as lines:
        fields: Fields = json.loads(next(lines))
        return fields, [KeptState(**json.loads(line)) for line in lines]


def fields_now() -> Fields:
    """What the fields of today's classes are."""
    return {kind: _classes_under(root) for kind, root in ROOTS.items()}


def _classes_under(root: type[Any]) -> dict[str, dict[str, list[Any]]]:
    return {cls.__name__: _fields_of(cls) for cls in classes_of(root)}


def _fields_of(cls: type[Any]) -> dict[str, list[Any]]:
    return {f.name: [field_version(f), str(f.type), _default(f)] for f in kept_fields(cls)}


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return repr(field.default)
    return repr(field.default_factory()) if callable(field.default_factory) else REQUIRED


def own_recordings() -> list[str]:
    """Those of the repository itself."""
    home = REPOSITORY / "tests" / "recordings"
    return [name for name, path in recordings().items() if path.parent == home]


def place(line: Line) -> list[Any]:
    """What lines are ordered by."""
    return [line.event.at_ms, line.broker, line.input, line.position]


def lines_of(recording: str) -> dict[Subject, list[Line]]:
    return {subject: _named(lines) for subject, lines in recorded_lines(recording).items()}


def _named(lines: list[Line]) -> list[Line]:
    """With inputs that are named alike wherever the recording lies."""
    return [dataclasses.replace(line, input=Path(line.input).name) for line in lines]


def _lives() -> Iterator[KeptState]:
    for recorded in (each for name in own_recordings() for each in groups(name)):
        if found := list(_middle_states(recorded)):
            offset, data = max(found, key=lambda each: len(each[1]))
            yield _kept(LIFE, recorded.recording, recorded.group_id, None, [offset], data)


def _middle_states(recorded: RecordedGroup) -> Iterator[tuple[int, bytes]]:
    """(last offset, state) wherever a batch ends in the middle third of the log: batches end
    operations for every release."""
    machine, entries = machine_of(recorded), recorded.entries
    for index, (entry, following) in enumerate(pairwise(entries)):
        machine.replay(entry)
        in_middle = len(entries) <= 3 * (index + 1) <= 2 * len(entries)
        if in_middle and entry.batch_base_offset != following.batch_base_offset:
            machine.flush()
            if (data := machine.state()) is not None:
                yield entry.offset, data


def machine_of(recorded: RecordedGroup) -> GroupReplay:
    return GroupReplay(recorded.group_id, recorded.offsets_partition, recorded.names)


def _evidence() -> Iterator[KeptState]:
    for recording in OF_LINES:
        for (group_id, partition), lines in lines_of(recording).items():
            if found := list(_middle_evidence(group_id or "", lines)):
                line, data = max(found, key=lambda each: len(each[1]))
                yield _kept(EVIDENCE, recording, group_id or "", partition, place(line), data)


def _middle_evidence(group_id: str, lines: list[Line]) -> Iterator[tuple[Line, bytes]]:
    """(last line, state) at some places in the middle third of the lines."""
    machine, third = EvidenceReplay(group_id), len(lines) // 3
    for index, line in enumerate(lines):
        machine.replay(line)
        in_middle = third <= index <= 2 * third and index % (third // 10 + 1) == 0
        if in_middle and (data := machine.state()) is not None:
            yield line, data


def _kept(
    kind: str,
    recording: str,
    group_id: str,
    partition: int | None,
    after: list[Any],
    data: bytes,
) -> KeptState:
    state = base64.b64encode(data).decode()
    return KeptState(kind, recording, group_id, partition, after, state)


def write(release: str) -> None:
    rows = [fields_now(), *(dataclasses.asdict(each) for each in (*_lives(), *_evidence()))]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    STATES.mkdir(exist_ok=True)
    with (STATES / f"{release}.jsonl.gz").open("xb") as file:
        file.write(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    write(sys.argv[1])
