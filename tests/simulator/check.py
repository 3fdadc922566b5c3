"""Every row of the product's tables against what the coordinator's own memory held after each
operation.

    python -m tests.simulator.check RECORDING [--warehouse DIR] [--logs]
    python -m tests.simulator.check RECORDING [-n DIFFERENCES] [--table NAME]

Without a warehouse the rows are those of the replay in pure Python. With --logs they are what lines
of broker logs prove, of a warehouse that was made with the logs too. Says for each table and column
how many values agree, and shows the first differences with the operations around them. Exit status
1 on any difference.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from tests.simulator.compare import ROWS, Comparison, Key, Wanted, compare
from tests.simulator.expected import (
    absences,
    assignment_ends,
    assignor_failures,
    contacts,
    coordinator_events,
    coordinator_failovers,
    departure_waves,
    end_evidence,
    epoch_lines,
    event_groups,
    failover_lines,
    flap_scores,
    flips,
    group_conversions,
    group_days,
    group_epochs,
    log,
    member_assignments,
    member_ends,
    member_states,
    members,
    migration_progress,
    mixed,
    outages,
    phases,
    readiness,
    rebalance_joins,
    rebalances,
    refusals,
    rejected,
    rejoins,
    revocation_latencies,
    silences,
    static_accounting,
    stuck,
    stuck_lines,
    stuck_words,
    topics,
    unavailable,
    upgrades,
    wave_classes,
    wave_estimates,
    what_if,
)
from tests.simulator.expected.history import Check, History
from tests.simulator.proved import ProvedTables
from tests.simulator.tables import DeltaTables, FactTables, Row, Tables
from tests.simulator.truth import Truth, read_truth

CHECKS: Final[tuple[Check, ...]] = (
    member_states.CHECK,
    member_assignments.CHECK,
    group_epochs.CHECK,
    revocation_latencies.CHECK,
    group_conversions.CHECK,
    migration_progress.CHECK,
    members.CHECK,
    stuck.MEMBERS,
    stuck.GROUPS,
    coordinator_failovers.CHECK,
    departure_waves.CHECK,
    static_accounting.CHECK,
    group_days.CHECK,
    readiness.CHECK,
    topics.CHECK,
    log.ANOMALIES,
    log.UNDECODED,
    log.COVERAGE,
)

STORED_CHECKS: Final = tuple(each for each in CHECKS if each is not readiness.CHECK)
"""Of these, what a warehouse has too: a night judges groups by one configuration."""

LOG_CHECKS: Final[tuple[Check, ...]] = (
    member_ends.CHECK,
    rebalances.CHECK,
    phases.CHECK,
    refusals.CHECK,
    coordinator_events.CHECK,
    rejoins.CHECK,
)
"""What lines of broker logs prove."""

PROVED_CHECKS: Final[tuple[Check, ...]] = (*LOG_CHECKS, outages.CHECK)
"""The same, and what tables tell where it lasts."""

ROW_CHECKS: Final[tuple[Check, ...]] = (
    member_ends.CHECK,
    contacts.CHECK,
    assignment_ends.CHECK,
    epoch_lines.CHECK,
    mixed.CHECK,
    topics.CHECK,
    flips.CHECK,
)
"""What the job adds to rows that records make."""

JOB_CHECKS: Final[tuple[Check, ...]] = (
    wave_classes.CHECK,
    wave_estimates.CHECK,
    what_if.CHECK,
    failover_lines.CHECK,
    rebalance_joins.CHECK,
    event_groups.CHECK,
    unavailable.CHECK,
    *ROW_CHECKS,
    phases.STUCK,
    silences.CHECK,
    rejected.CHECK,
    upgrades.CHECK,
    assignor_failures.CHECK,
    stuck_words.PHASES,
    stuck_words.LOOPS,
    stuck_words.REFUSALS,
    rejoins.CHECK,
    departure_waves.CHECK,
    group_days.CHECK,
    absences.CHECK,
    end_evidence.MEMBERS,
    end_evidence.SPANS,
    end_evidence.ABSENCES,
    stuck_lines.MEMBERS,
    stuck_lines.GROUPS,
    flap_scores.CHECK,
)
"""What the job makes, given the logs of brokers too."""


def check_tables(
    truth: Truth, tables: Tables, only: str = "", checks: Sequence[Check] = CHECKS
) -> list[Comparison]:
    """What each check says. only: a part of the names of the tables to look at, "" for all."""
    return check_history(History(truth), tables, only, checks)


def check_history(
    history: History, tables: Tables, only: str = "", checks: Sequence[Check] = CHECKS
) -> list[Comparison]:
    """The same of a history that was made before."""
    return [
        compared(check, history, check.wanted(history), tables.rows(check.table))
        for check in checks
        if only in check.table
    ]


def compared(
    check: Check, history: History, wanted: Mapping[Key, Wanted], rows: Sequence[Row]
) -> Comparison:
    """What one check says of these rows. wanted: of the check, for this history."""
    key_of, excuse = partial(check.key_of, history), partial(check.excuse, history)
    return compare(check.table, wanted, check.gathered(history, rows), key_of, excuse)


def differences(comparison: Comparison, truth: Truth, most: int) -> Iterable[str]:
    """The first differences of each column, as lines to be read."""
    shown: Counter[str] = Counter()
    for each in comparison.differences:
        if shown[each.column] >= most:
            continue
        shown[each.column] += 1
        yield f"-- {each.table}.{each.column} of {each.key}: truth {each.wanted}; got {each.got}"
        group_id = str(each.key[0])
        near = {
            operation.first_offset: operation
            for offset in each.offsets
            for operation in truth.near(group_id, offset)
        }
        yield from (f"      {near[offset]}" for offset in sorted(near))


def counts(comparison: Comparison) -> Iterable[str]:
    """One line a column: how many values agree and differ."""
    table = comparison.table
    for column in sorted(
        comparison.agree | comparison.differ, key=lambda name: (name != ROWS, name)
    ):
        good, bad = comparison.agree[column], comparison.differ[column]
        yield f"{'BAD' if bad else 'ok '} {table}.{column}: {good} agree, {bad} differ"
    for why, rows in sorted(comparison.left_out.items()):
        yield f"    {table}: {rows} rows left out: {why}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("recording", type=Path)
    parser.add_argument(
        "--warehouse", type=Path, help="check Delta tables, not the replay in Python"
    )
    parser.add_argument("--logs", action="store_true", help="what broker logs prove")
    parser.add_argument("-n", type=int, default=3, help="differences to show of each column")
    parser.add_argument("--table", default="", help="only tables whose names have this in them")
    told = parser.parse_args(arguments)
    truth = read_truth(told.recording)
    tables: Tables
    if told.warehouse:
        tables = DeltaTables(told.warehouse)
    else:
        tables = FactTables(told.recording)
        tables = ProvedTables(told.recording, tables) if told.logs else tables
    of_logs = LOG_CHECKS if told.warehouse else PROVED_CHECKS
    of_topic = STORED_CHECKS if told.warehouse else CHECKS
    checks = of_logs if told.logs else of_topic
    comparisons = check_tables(truth, tables, told.table, checks)
    for each in comparisons:
        print(*differences(each, truth, told.n), sep="\n")
    for each in comparisons:
        print(*counts(each), sep="\n")
    return int(any(each.differ for each in comparisons))


if __name__ == "__main__":
    sys.exit(main())
