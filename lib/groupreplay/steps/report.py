"""Step report: what was staged -> one frame for each table, with nothing computed yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pyspark.sql import DataFrame

from groupreplay.transforms.anomalies import anomalies
from groupreplay.transforms.context import ReportContext
from groupreplay.transforms.coverage import coverage
from groupreplay.transforms.group_conversions import group_conversions
from groupreplay.transforms.group_epochs import group_epochs
from groupreplay.transforms.group_state import group_state
from groupreplay.transforms.member_assignments import member_assignments
from groupreplay.transforms.member_states import member_states
from groupreplay.transforms.migration_progress import migration_progress
from groupreplay.transforms.revocation_latencies import revocation_latencies
from groupreplay.transforms.stuck_groups import stuck_groups
from groupreplay.transforms.stuck_members import stuck_members
from groupreplay.transforms.undecoded import undecoded

_OF_STAGED: Final[Mapping[str, Callable[[DataFrame, ReportContext], DataFrame]]] = {
    # The ones that take longest come first, so that threads end together.
    "member_states": member_states,
    "member_assignments": member_assignments,
    "revocation_latencies": revocation_latencies,
    "group_epochs": group_epochs,
    "group_state": group_state,
    "stuck_members": stuck_members,
    "stuck_groups": stuck_groups,
    "group_conversions": group_conversions,
    "migration_progress": migration_progress,
}
_OF_STAGED_AND_RAW: Final[Mapping[str, Callable[[DataFrame, DataFrame, ReportContext], DataFrame]]] = {
    "coverage": coverage,
    "anomalies": anomalies,
    "undecoded": undecoded,
}


def report(staged: DataFrame, raw: DataFrame, context: ReportContext) -> dict[str, DataFrame]:
    """Every published table but `topics`, whose rows the others need, and `runs`.

    staged: the night's rows of `replayed`. raw: the raw rows it replayed (`replay.night_records`).
    """
    frames = {name: transform(staged, context) for name, transform in _OF_STAGED.items()}
    return frames | {name: transform(staged, raw, context) for name, transform in _OF_STAGED_AND_RAW.items()}
