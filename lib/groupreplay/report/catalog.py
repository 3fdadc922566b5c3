"""Every table that a night publishes. A table is one module, which has its spec; here it has a line
among the imports and one in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Final

from groupreplay.report.table_spec import TableSpec
from groupreplay.report.tables import (
    anomalies,
    coordinator_events,
    coordinator_failovers,
    coverage,
    departure_waves,
    group_conversions,
    group_days,
    group_epochs,
    group_state,
    member_assignments,
    member_states,
    members,
    migration_progress,
    readiness,
    rebalances,
    refusals,
    rejoins,
    revocation_latencies,
    static_accounting,
    streams_processes,
    streams_rebalances,
    streams_subtopologies,
    stuck_groups,
    stuck_members,
    task_assignments,
    task_handovers,
    topics,
    undecoded,
    what_if,
)
from groupreplay.tables.schemas import INTERNAL


def specs_by_name(specs: Iterable[TableSpec]) -> Mapping[str, TableSpec]:
    """Name -> spec, in the order given.

    Raises ValueError where two specs have one name, where a table is made of an unknown table or of
    one that holds clients in clear, and where tables wait for each other in a circle.
    """
    found: dict[str, TableSpec] = {}
    for spec in specs:
        if spec.name in found:
            raise ValueError(f"two specs are called {spec.name}")
        found[spec.name] = spec
    for spec in found.values():
        for name in (*spec.tables, *spec.earlier):
            if name not in found:
                raise ValueError(f"{spec.name} is made of {name}, and no spec is called so")
            if name in INTERNAL:
                raise ValueError(f"{spec.name} is made of {name}, which holds clients in clear")
    try:
        TopologicalSorter(waits(found.values())).prepare()
    except CycleError as error:
        circle = " -> ".join(error.args[1])
        raise ValueError(f"tables wait for each other: {circle}") from error
    return found


def waits(specs: Iterable[TableSpec]) -> dict[str, tuple[str, ...]]:
    """Table -> those that are committed before it is built."""
    return {spec.name: spec.tables for spec in specs}


SPECS: Final = specs_by_name(
    (
        # Of the tables that can be built, the first here is built first. One that others wait for
        # stands at the top; then those that take longest, so that threads end together.
        topics.SPEC,
        coverage.SPEC,
        member_states.SPEC,
        group_epochs.SPEC,
        group_state.SPEC,
        stuck_members.SPEC,
        stuck_groups.SPEC,
        group_conversions.SPEC,
        members.SPEC,
        static_accounting.SPEC,
        departure_waves.SPEC,
        migration_progress.SPEC,
        member_assignments.SPEC,
        revocation_latencies.SPEC,
        task_assignments.SPEC,
        task_handovers.SPEC,
        streams_rebalances.SPEC,
        what_if.SPEC,
        readiness.SPEC,
        group_days.SPEC,
        anomalies.SPEC,
        undecoded.SPEC,
        refusals.SPEC,
        rebalances.SPEC,
        rejoins.SPEC,
        streams_processes.SPEC,
        streams_subtopologies.SPEC,
        coordinator_failovers.SPEC,
        coordinator_events.SPEC,
    )
)
