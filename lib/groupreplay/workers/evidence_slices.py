"""Replay of the lines of one slice: all groups of one hash bucket, one after another, each in the
order of its brokers' clocks.

The function that the second grouped map runs, as `workers.slices` is that of the first. Rows come
sorted by (subject, at_ms, broker, input, position); a subject's state from the night before is its
first row, without an event. A subject is a group, or a partition of the offsets topic for lines
that name no group. Events travel as JSON, because pandas turns columns of numbers with NULLs into
floats.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Final

import pandas as pd

from groupreplay.evidence.evidence_facts import EVIDENCE_FACTS
from groupreplay.evidence.evidence_replay import EvidenceReplay
from groupreplay.evidence.memory import Line
from groupreplay.records.log_events import LogEvent
from groupreplay.workers.fact_frames import FactFrames, UnionSchema
from groupreplay.workers.task import worker_task

GROUP: Final = "g"
PARTITION: Final = "p"
BROKER: Final = "b"
"""First letter of a subject; what follows is the group id, or the partition's or broker's
number.
"""

FRAME_ROWS: Final = 20_000


@dataclasses.dataclass(slots=True, kw_only=True)
class EvidenceState:
    """State of a subject after the night.

    state_bytes: the encoded state, None when nothing of it is kept.
    """

    KIND: ClassVar[str] = "state"
    subject: str
    state_bytes: bytes | None


EVIDENCE: Final = UnionSchema((*EVIDENCE_FACTS, EvidenceState))
"""Columns of table `evidence`, but for the night."""

EVENT_FIELDS: Final = tuple(field.name for field in dataclasses.fields(LogEvent))
"""Columns of `raw_lines` that make an event."""

INPUT: Final = (
    "subject",
    "at_ms",
    "broker",
    "source",
    "input",
    "position",
    "last_ms",
    "requests",
    "longest_gap_ms",
    "event_json",
    "state_bytes",
)
"""Columns of the rows, beside `slice`."""


class EvidenceSlice:
    """Rows in, facts out.

    newest_ms: time of the newest line of all logs, -1 for none.
    """

    def __init__(self, newest_ms: int) -> None:
        self._facts = FactFrames(EVIDENCE)
        self._newest_ms = newest_ms
        self._subject: str | None = None
        self._machine: EvidenceReplay | None = None
        self._restored: bytes | None = None
        self._order: tuple[int, int, str, int] | None = None

    def feed(self, frame: pd.DataFrame) -> Iterator[pd.DataFrame]:
        """Replays one batch; yields frames of facts as they fill."""
        columns = [frame[name].tolist() for name in INPUT]
        for values in zip(*columns, strict=True):
            self._replay_row(values)
            if self._facts.rows >= FRAME_ROWS:
                yield self._facts.take()
        if self._machine is not None:
            self._facts.add(self._machine.take_facts())

    def finish(self) -> Iterator[pd.DataFrame]:
        self._end_subject()
        if self._facts.rows:
            yield self._facts.take()

    def _replay_row(self, values: tuple[Any, ...]) -> None:
        (
            subject,
            at_ms,
            broker,
            source,
            input_,
            position,
            last_ms,
            requests,
            longest_gap_ms,
            event_json,
            state_bytes,
        ) = values
        if subject != self._subject:
            self._begin(subject)
        if event_json is None:
            self._restored = state_bytes
            self._machine = EvidenceReplay.restore(self._group_id, state_bytes)
            return
        order = (at_ms, broker, input_, position)
        if self._order is not None and order < self._order:
            raise AssertionError(
                f"lines of {self._subject!r} are out of order: {order} after {self._order}"
            )
        self._order = order
        if self._machine is None:
            self._machine = EvidenceReplay(self._group_id)
        self._machine.replay(
            Line(
                _event(event_json),
                broker,
                source,
                input_,
                position,
                last_ms,
                requests,
                longest_gap_ms,
            )
        )

    @property
    def _group_id(self) -> str:
        subject = self._subject or ""
        return subject.removeprefix(GROUP) if subject.startswith(GROUP) else ""

    def _begin(self, subject: str) -> None:
        if self._subject is not None and subject <= self._subject:
            raise AssertionError(f"subjects are out of order: {subject!r} after {self._subject!r}")
        self._end_subject()
        self._subject, self._order = subject, None

    def _end_subject(self) -> None:
        machine, subject = self._machine, self._subject
        if machine is None or subject is None:
            return
        machine.forget(self._newest_ms)
        self._facts.add(machine.take_facts())
        self._facts.add(machine.open_facts())
        state = machine.state()
        if state != self._restored:
            self._facts.add([EvidenceState(subject=subject, state_bytes=state)])
        self._machine = self._restored = None


def _event(event_json: str) -> LogEvent:
    fields: dict[str, Any] = json.loads(event_json)
    fields["member_ids"] = tuple(fields.get("member_ids") or ())
    return LogEvent(**fields)


def evidence_slice_replay(
    newest_ms: int,
) -> Callable[[Iterator[pd.DataFrame]], Iterator[pd.DataFrame]]:
    """The function of the grouped map; see `workers.slices.slice_replay`."""

    def replay_slice(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        with worker_task():
            replay = EvidenceSlice(newest_ms)
            for frame in frames:
                yield from replay.feed(frame)
            yield from replay.finish()

    return replay_slice
