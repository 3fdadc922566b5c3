"""Step report: what was staged -> one frame for each table, with nothing computed yet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from groupreplay.evidence.evidence_facts import (
    AssignorFailure,
    Contact,
    Outage,
    Rebalance,
    Refusal,
    ShardEvent,
    Silence,
)
from groupreplay.replay.facts import (
    FACTS,
    Anomaly,
    Chain,
    Conversion,
    Epoch,
    GroupSnapshot,
    HandOver,
    HeldPartition,
    MemberLife,
    MemberState,
    Stall,
    TopicSeen,
)
from groupreplay.report.joins.context import ReportContext
from groupreplay.report.joins.owners import OWNED, with_owners
from groupreplay.report.tables.anomalies import anomalies
from groupreplay.report.tables.coordinator_events import coordinator_events
from groupreplay.report.tables.coverage import coverage
from groupreplay.report.tables.group_conversions import group_conversions
from groupreplay.report.tables.group_epochs import group_epochs
from groupreplay.report.tables.group_state import group_state
from groupreplay.report.tables.member_assignments import member_assignments
from groupreplay.report.tables.member_states import member_states
from groupreplay.report.tables.members import members
from groupreplay.report.tables.migration_progress import migration_progress
from groupreplay.report.tables.rebalances import rebalances
from groupreplay.report.tables.refusals import refusals
from groupreplay.report.tables.revocation_latencies import revocation_latencies
from groupreplay.report.tables.stuck_groups import stuck_groups
from groupreplay.report.tables.stuck_members import stuck_members
from groupreplay.report.tables.undecoded import undecoded
from groupreplay.wire.segments.raw_rows import CLOCK, CONFLICT, DAMAGE, LATE, OTHER_LOG
from groupreplay.workers.fact_frames import KINDS as STAGED_KINDS
from groupreplay.workers.fact_frames import Counts, GroupState, Undecoded, UnionSchema
from groupreplay.workers.packed import unpacking

OF_STAGED: Final[Mapping[str, Callable[[DataFrame, ReportContext], DataFrame]]] = {
    # The ones that take longest come first, so that threads end together.
    "member_states": member_states,
    "group_epochs": group_epochs,
    "group_state": group_state,
    "stuck_members": stuck_members,
    "stuck_groups": stuck_groups,
    "group_conversions": group_conversions,
    "members": members,
    "migration_progress": migration_progress,
    "member_assignments": member_assignments,
    "revocation_latencies": revocation_latencies,
}
OF_STAGED_AND_RAW: Final[
    Mapping[str, Callable[[DataFrame, DataFrame, DataFrame | None, ReportContext], DataFrame]]
] = {
    "coverage": lambda staged, raw, lines, context: coverage(staged, raw, context, lines),
    "anomalies": lambda staged, raw, _, context: anomalies(staged, raw, context),
    "undecoded": lambda staged, raw, lines, context: undecoded(staged, raw, context, lines),
}
OF_EVIDENCE: Final[Mapping[str, Callable[[DataFrame, DataFrame, ReportContext], DataFrame]]] = {
    "refusals": lambda _, evidence, context: refusals(evidence, context),
    "rebalances": lambda _, evidence, context: rebalances(evidence, context),
    "coordinator_events": coordinator_events,
}
"""Tables of broker logs alone: without them they stay empty."""

NAME_TOPICS: Final = frozenset({"member_assignments", "revocation_latencies"})
"""Tables that ask `ReportContext.topics` for names."""

KINDS: Final[Mapping[str, frozenset[str]]] = {
    "member_states": frozenset({MemberState.KIND}),
    "group_epochs": frozenset({Epoch.KIND}),
    "group_state": frozenset({GroupState.KIND}),
    "members": frozenset({MemberLife.KIND}),
    "refusals": frozenset({Refusal.KIND}),
    "rebalances": frozenset({Rebalance.KIND}),
    "coordinator_events": frozenset({ShardEvent.KIND}),
    "stuck_members": frozenset({Stall.KIND, Chain.KIND, Contact.KIND, Silence.KIND, Refusal.KIND}),
    "stuck_groups": frozenset(
        {Stall.KIND, Chain.KIND, Refusal.KIND, Rebalance.KIND, Outage.KIND, AssignorFailure.KIND}
    ),
    "group_conversions": frozenset({Conversion.KIND}),
    "migration_progress": frozenset({GroupSnapshot.KIND}),
    "member_assignments": frozenset({HeldPartition.KIND}),
    "revocation_latencies": frozenset({HandOver.KIND}),
    "anomalies": frozenset({Anomaly.KIND, CONFLICT, CLOCK, LATE, OTHER_LOG}),
    "undecoded": frozenset({Undecoded.KIND, DAMAGE}),
}
"""Table -> kinds of staged, raw and evidence rows that can give it rows; a table that is not here
always has some.
"""

_STAGED: Final[Mapping[str, tuple[type[Any], ...]]] = {
    "member_states": (MemberState,),
    "group_epochs": (Epoch,),
    "group_state": (GroupState,),
    "members": (MemberLife,),
    "rebalances": (),
    "refusals": (),
    "coordinator_events": (GroupSnapshot, Epoch),
    "stuck_members": (Stall, Chain),
    "stuck_groups": (Stall, Chain),
    "group_conversions": (Conversion,),
    "migration_progress": (GroupSnapshot,),
    "member_assignments": (HeldPartition,),
    "revocation_latencies": (HandOver,),
    "topics": (TopicSeen,),
    "anomalies": (Anomaly,),
    "undecoded": (Undecoded,),
    "coverage": (Counts,),
}
"""Table -> kinds of staged facts that it is made of."""

_STUCK: Final = frozenset({"stuck_members", "stuck_groups"})
_STUCK_COLUMNS: Final = frozenset(UnionSchema((Stall, Chain, MemberLife, GroupSnapshot)).columns)
"""What these ask of all facts where lines of broker logs tell of groups: which life of a group
there is, and who is in it.
"""


def unpacked(
    replayed: DataFrame, kinds: Sequence[type[Any]], names: Collection[str] | None = None
) -> DataFrame:
    """Rows of table `replayed` -> `kind` and the fields of these kinds, a row each fact; NULL where
    a kind has no such field.

    names: of the fields that are wanted, None: all. Spark asks for a column that nobody reads too.
    """
    schema = UnionSchema(kinds, names)
    packed = replayed.where(sf.col("kind").isin(*[kind.KIND for kind in kinds]))
    return packed.select("kind", "frame").mapInArrow(unpacking(schema), schema.ddl)


@dataclass(frozen=True, slots=True)
class Sources:
    """What tables are made of.

    replayed: the night's rows of that table.
    raw: the raw rows it replayed (`replay.night_records`).
    lines: the rows of `raw_lines` that it landed, None if there are none.
    """

    replayed: DataFrame
    raw: DataFrame
    lines: DataFrame | None = None

    def frame(self, name: str, context: ReportContext) -> DataFrame:
        """The rows of one table, `topics` and `runs` excepted; nothing is computed yet."""
        frame = self._frame(name, context)
        return with_owners(frame, context.owners) if name in OWNED else frame

    def group_ids(self, evidence_tonight: DataFrame | None) -> DataFrame:
        """Of all groups that a table can have a row of, with repetitions.

        evidence_tonight: of the context.
        """
        staged = unpacked(self.replayed, STAGED_KINDS, ("group_id",)).select("group_id")
        return (
            staged
            if evidence_tonight is None
            else staged.unionByName(evidence_tonight.select("group_id"))
        )

    def staged(self, name: str, context: ReportContext) -> DataFrame:
        """The night's facts that one table is made of, a row each, with the columns of their
        kinds.
        """
        if name in _STUCK and context.evidence_tonight is not None:
            return unpacked(self.replayed, FACTS, _STUCK_COLUMNS)
        return unpacked(self.replayed, _STAGED[name])

    def _frame(self, name: str, context: ReportContext) -> DataFrame:
        staged = self.staged(name, context)
        if name in OF_STAGED:
            return OF_STAGED[name](staged, context)
        if name in OF_EVIDENCE:
            assert context.evidence_tonight is not None, (
                "their kinds are there only where evidence is"
            )
            return OF_EVIDENCE[name](staged, context.evidence_tonight, context)
        return OF_STAGED_AND_RAW[name](staged, self.raw, self.lines, context)
