"""Lines of a recording's broker logs as the machines of evidence get them: parsed and reduced by
the product's own reader, in their order.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

from groupreplay.evidence.evidence_facts import EvidenceFact
from groupreplay.evidence.evidence_replay import EvidenceReplay
from groupreplay.evidence.memory import Line
from groupreplay.records.log_events import REQUEST_LOG, SERVER_LOG, LogEvent
from groupreplay.wire.text.line_layout import DEFAULT_PATTERN
from groupreplay.wire.text.read_text_unit import read_text_unit
from groupreplay.wire.text.text_rows import EVENT_FIELDS
from groupreplay.wire.text.text_units import TextUnit
from groupreplay.workers.files import open_file
from tests.support.recordings import recordings

Subject = tuple[str | None, int | None]
"""(group id, None), or (None, partition) for lines that name no group."""


def logs(recording: str) -> list[tuple[str, Path]]:
    """(kind, path) of each log of the recording."""
    return logs_in(recordings()[recording])


def logs_in(folder: Path) -> list[tuple[str, Path]]:
    """(kind, path) of each log of a folder."""
    found = [(SERVER_LOG, path) for path in sorted(folder.glob("broker-*.server.log*"))]
    return found + [(REQUEST_LOG, path) for path in sorted(folder.glob("broker-*.request.log.gz"))]


@cache
def recorded_lines(
    recording: str, kinds: tuple[str, ...] = (SERVER_LOG, REQUEST_LOG)
) -> dict[Subject, list[Line]]:
    """Lines of each subject, in the order in which the grouped map hands them over."""
    return lines_in(recordings()[recording], kinds)


def lines_in(
    folder: Path, kinds: tuple[str, ...] = (SERVER_LOG, REQUEST_LOG)
) -> dict[Subject, list[Line]]:
    """As recorded_lines, of the logs of any folder."""
    found: dict[Subject, list[Line]] = defaultdict(list)
    for kind, path in logs_in(folder):
        if kind not in kinds:
            continue
        broker = int(path.name.split(".")[0].removeprefix("broker-"))
        unit = TextUnit(
            kind, str(path), path.stat().st_size, broker, "UTC", DEFAULT_PATTERN, None, None, "i"
        )
        for columns in read_text_unit(unit, open_file):
            for values in zip(*columns.values(), strict=True):
                row: dict[str, Any] = dict(zip(columns, values, strict=True))
                if row["kind"] == "line":
                    line = _line(row)
                    subject = (
                        (line.event.group_id, None)
                        if line.event.group_id is not None
                        else (None, line.event.offsets_partition)
                    )
                    found[subject].append(line)
    for lines in found.values():
        lines.sort(key=lambda line: (line.event.at_ms, line.broker, line.input, line.position))
    return found


def _line(row: dict[str, Any]) -> Line:
    event = LogEvent(**{name: row[name] for name in EVENT_FIELDS})
    event.member_ids = tuple(event.member_ids or ())
    return Line(
        event,
        row["broker"],
        row["source"],
        row["input"],
        row["position"],
        row["last_ms"],
        row["requests"],
        row["longest_gap_ms"],
    )


def newest_ms(recording: str) -> int:
    return max(line.last_ms for lines in recorded_lines(recording).values() for line in lines)


@cache
def recorded_evidence(recording: str) -> tuple[EvidenceFact, ...]:
    """All that the recording's lines prove."""
    return tuple(evidence_of(recorded_lines(recording)))


def evidence_of(lines_by_subject: dict[Subject, list[Line]]) -> list[EvidenceFact]:
    """All that these lines prove."""
    newest = max(
        (line.last_ms for lines in lines_by_subject.values() for line in lines), default=-1
    )
    return [
        fact
        for (group_id, _), lines in lines_by_subject.items()
        for fact in proved(group_id or "", lines, newest)
    ]


def proved(
    group_id: str, lines: list[Line], newest: int, cuts: tuple[int, ...] = ()
) -> list[EvidenceFact]:
    """Every fact of the lines, the open ones last. At each cut the machine goes to bytes and back,
    as from one night to the next.
    """
    facts: list[EvidenceFact] = []
    machine = EvidenceReplay(group_id)
    begin = 0
    for end in (*sorted(set(cuts)), len(lines)):
        for line in lines[begin:end]:
            machine.replay(line)
        facts += machine.take_facts()
        if end < len(lines):
            state = machine.state()
            machine = (
                EvidenceReplay(group_id)
                if state is None
                else EvidenceReplay.restore(group_id, state)
            )
        begin = end
    machine.forget(newest)
    return facts + machine.take_facts() + machine.open_facts()
