"""What a story is asked: one group of one recording, and its rows."""

from __future__ import annotations

from typing import Any

from groupreplay.replay.facts import HeldPartition
from tests.truth.tables import Stuck, Tables
from tests.truth.truth import Truth

BEAT_MS = 2_500
"""One heartbeat of the recordings, and the client's own pace."""

DEFAULT_BEAT_MS = 5_200
"""The same where the recording left the heartbeat at its default."""


class Story:
    """One story of one recording: `name`, or `name:suffix`, played in a group of its own; members'
    client ids are `<group>-<name>`.
    """

    def __init__(self, truth: Truth, tables: Tables, name: str) -> None:
        self.truth = truth
        self.tables = tables
        self.group = name.replace(":", "-").replace("_", "-")
        self.problems: list[str] = []

    def client(self, name: str) -> str:
        return f"{self.group}-{name}"

    def ok(self, what: str, is_so: bool, got: Any = "") -> None:
        if not is_so:
            self.problems.append(f"{self.group}: {what}: {got}")

    # ------------------------------------------------------------ what is asked of a group

    def progress(self, **wanted: Any) -> None:
        """Fields of its row in `migration_progress`; a tuple allows any of its elements. blockers:
        client ids.
        """
        row = self.tables.progress(self.group)
        if row is None:
            self.ok("has a row in migration_progress", False)
            return
        for name, value in wanted.items():
            if name == "blockers":
                got: Any = sorted(client or "" for client in row.blocker_client_ids)
            else:
                got = getattr(row, name)
            allowed = value if isinstance(value, tuple) else (value,)
            if not (
                self.truth.is_compacted and name in ("phase", "conversions")
            ):  # its history was cleaned away
                self.ok(f"{name} is {value}", got in allowed, got)

    def conversions(self, *wanted: tuple[str, str]) -> None:
        got = [(row.direction, row.mode) for row in self.tables.conversions(self.group)]
        self.ok(f"conversions are {wanted}", self.truth.is_compacted or got == list(wanted), got)

    def revokes(
        self,
        client: str,
        low_ms: int,
        high_ms: int,
        outcome: str = "ACKED",
        times: int | None = None,
    ) -> None:
        """The member's requests that took at least half of what was injected: all within the
        bounds.
        """
        rows = [
            r
            for r in self.tables.hand_overs(self.group)
            if self.truth.client(r.member_id) == client and r.outcome == outcome
        ]
        got = [self.tables.revoke_ms(row) for row in rows]
        slow = [ms for ms in got if ms is None or outcome != "ACKED" or ms >= low_ms / 2]
        is_so = (
            bool(slow)
            and all(ms is not None and low_ms <= ms <= high_ms for ms in slow)
            and times in (None, len(slow))
        )
        self.ok(
            f"{client} takes {low_ms} to {high_ms} ms, {outcome}, {times or 'some'} times",
            is_so,
            got,
        )

    def stuck(
        self, client: str, reason: str, is_open: bool | None = None, blocked_by: str | None = None
    ) -> None:
        def fits(row: Stuck) -> bool:
            blockers = [self.truth.client(member) for member in row.blocked_by]
            return (
                row.reason == reason
                and is_open in (None, row.is_open)
                and (blocked_by is None or blocked_by in blockers)
            )

        rows = [
            row
            for row in self.tables.stuck_members(self.group)
            if self.truth.client(row.member_id) == client
        ]
        self.ok(f"{client} is stuck, {reason}", any(map(fits, rows)), rows)

    def nobody_stuck(self) -> None:
        rows = self.tables.stuck_members(self.group)
        self.ok("nobody is stuck", not rows, rows)

    def released_by(self, client: str) -> list[HeldPartition]:
        spans = self.tables.spans(self.group)
        return [
            span
            for span in spans
            if self.truth.client(span.member_id) == client and span.released_at is not None
        ]

    def epochs_between(self, first: int, last: int) -> int:
        return sum(first <= epoch.started_at <= last for epoch in self.tables.epochs(self.group))
