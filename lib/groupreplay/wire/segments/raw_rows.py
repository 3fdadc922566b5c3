"""Rows of `raw_records` under way: gathered as tuples, handed on as column lists of bounded
size.
"""

from __future__ import annotations

import json
from typing import Any

from groupreplay.wire.segments.batches import RAW_CAP, Conflict, Damage
from groupreplay.wire.segments.row_origins import Origin
from groupreplay.wire.segments.units import Unit

COLUMNS = (
    "kind",
    "offsets_partition",
    "offset",
    "ts_ms",
    "leader_epoch",
    "batch_base_offset",
    "last_hole",
    "encoding",
    "group_id",
    "key",
    "value",
    "producer_id",
    "source",
    "input",
    "detail",
)
"""All columns of `raw_records` but cluster and logical_date."""

RECORD = "record"
OPEN_COMMIT = "open_commit"
MARKER = "marker"
DAMAGE = "damage"
CONFLICT = "conflict"
CLOCK = "clock"
UNIT = "unit"
LATE = "late"
OTHER_LOG = "other_log"
LATE_KINDS = {RECORD: "late_record", OPEN_COMMIT: "late_open_commit", MARKER: "late_marker"}
"""Kinds of rows that came late: no night replays them until all are rebuilt."""

ROWS_MAX = 20_000
BYTES_MAX = 8 << 20

Row = tuple[str, int, int, int, int, int, str, str, bytes | None, bytes | None, int, str | None]
"""COLUMNS without the three that are the unit's own."""


class RowBuffer:
    """Rows of one unit. The hot path appends to `rows` itself and adds to `size`."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self.rows: list[Row] = []
        self.size = 0
        self._damage: tuple[Damage, int] | None = None

    def take(self) -> dict[str, list[Any]]:
        """The rows gathered so far, as columns."""
        self._end_damage()
        rows, self.rows, self.size = self.rows, [], 0
        columns: list[list[Any]] = (
            [list(column) for column in zip(*rows, strict=True)]
            if rows
            else [[] for _ in range(len(COLUMNS) - 3)]
        )
        unit = self._unit
        columns.insert(1, [unit.offsets_partition] * len(rows))
        columns[12:12] = [[unit.source] * len(rows), [unit.input] * len(rows)]
        return dict(zip(COLUMNS, columns, strict=True))

    def add(
        self,
        kind: str,
        offset: int,
        detail: dict[str, Any],
        *,
        ts_ms: int = -1,
        leader_epoch: int = -1,
        batch_base_offset: int = -1,
        last_hole: int = -1,
        value: bytes | None = None,
        producer_id: int = -1,
    ) -> None:
        """A row that is not a record."""
        self._end_damage()
        text = json.dumps(detail, separators=(",", ":"))
        self.rows.append(
            (
                kind,
                offset,
                ts_ms,
                leader_epoch,
                batch_base_offset,
                last_hole,
                "",
                "",
                None,
                value,
                producer_id,
                text,
            )
        )
        self.size += len(value or b"") + len(text) + 64

    def add_marker(self, origin: Origin, offset: int, ts_ms: int, committed: bool) -> None:
        """The marker of a transaction."""
        _, _, leader_epoch, base_offset, last_hole, producer_id, _, _, _ = origin
        self.add(
            MARKER,
            offset,
            {"committed": committed},
            ts_ms=ts_ms,
            leader_epoch=leader_epoch,
            batch_base_offset=base_offset,
            last_hole=last_hole,
            producer_id=producer_id,
        )

    def add_damage(self, damage: Damage, last_hole: int) -> None:
        """Stretches that follow each other in one file for one reason become one row: a file of
        another kind is one row, not a million.
        """
        if self._damage is not None:
            held, hole = self._damage
            if damage.size and (held.path, held.reason, held.position + held.size) == (
                damage.path,
                damage.reason,
                damage.position,
            ):
                self._damage = held._replace(size=held.size + damage.size), hole
                return
        self._end_damage()
        self._damage = damage, last_hole

    def _end_damage(self) -> None:
        if self._damage is not None:
            damage, last_hole = self._damage
            self._damage = None
            detail = {
                "reason": damage.reason,
                "path": damage.path,
                "position": damage.position,
                "bytes": damage.size,
            }
            self.add(DAMAGE, damage.offset, detail, value=damage.raw[:RAW_CAP], last_hole=last_hole)

    def add_conflict(self, conflict: Conflict, last_hole: int) -> None:
        detail = {
            "kept_leader_epoch": conflict.kept_leader_epoch,
            "dropped_leader_epoch": conflict.dropped_leader_epoch,
            "path": conflict.path,
        }
        self.add(CONFLICT, conflict.offset, detail, ts_ms=conflict.ts_ms, last_hole=last_hole)
