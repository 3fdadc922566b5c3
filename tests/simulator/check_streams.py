"""Every row of streams groups (KIP-1071) against what the coordinator's own memory held after each
operation.

    python -m tests.simulator.check_streams RECORDING... [-n DIFFERENCES] [--table NAME] [--logs]

The rows are those of the replay in pure Python; with --logs they are what lines of broker logs
prove. Exit status 1 on any difference.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from groupreplay.replay.facts import (
    Anomaly,
    Conversion,
    Epoch,
    Fact,
    MemberLife,
    MemberState,
    Stall,
)
from groupreplay.replay.streams_facts import (
    HeldTask,
    StreamsProcess,
    StreamsRebalance,
    StreamsSubtopology,
    TaskHandOver,
)
from tests.simulator.check import counts
from tests.simulator.compare import Comparison, Key, Wanted, compare
from tests.simulator.lives import given_to_several
from tests.simulator.proved import ProvedTables
from tests.simulator.replayed import Replayed, replay_recording
from tests.simulator.streams import epochs, members, processes, stuck, tasks
from tests.simulator.streams.as_consumers import check_as_consumers
from tests.simulator.streams.classic_lives import check_classic_lives
from tests.simulator.streams.history import StreamsHistory, read_streams
from tests.simulator.streams.lines import check_lines
from tests.simulator.streams.progress import check_progress
from tests.simulator.tables import FactTables, Row, Tables
from tests.simulator.truth import STREAMS, read_truth

CLASSIC_LIFE = "lives as a classic group: streams/classic_lives.py has them"


@dataclass(frozen=True, slots=True)
class StreamsCheck:
    """The check of one table. columns: what tells its rows of one group apart, besides the
    operation that they begin in."""

    table: str
    fact: type[Fact]
    wanted: Callable[[StreamsHistory], Mapping[Key, Wanted]]
    columns: tuple[str, ...]

    def key_of(self, history: StreamsHistory, row: Row) -> Key:
        if self.fact is StreamsSubtopology:
            life = history.of_row(row)
            begins = life.steps[0].first_offset if life is not None else -1
            return row["group_id"], row["subtopology"], begins
        if self.fact is Stall:
            who = dict(zip(row["detail_names"], row["detail_values"], strict=False))
            whose = row["member_id"] or ""
            whose = who.get("process", whose)
            if "from_member" in who:
                whose = f"{who['from_member']} {history.opened_by(row)}"
            return row["group_id"], row["reason"], whose, row["since_at"]
        return row["group_id"], *(row[name] for name in self.columns), history.opened_by(row)


TASK: Final = ("subtopology", "partition")
CHECKS: Final = (
    StreamsCheck("member_states", MemberState, members.states, ("member_id",)),
    StreamsCheck("members", MemberLife, members.lives, ("member_id",)),
    StreamsCheck("group_epochs", Epoch, epochs.group_epochs, ("epoch",)),
    StreamsCheck("streams_rebalances", StreamsRebalance, epochs.rebalances, ("epoch",)),
    StreamsCheck("task_assignments", HeldTask, tasks.assignments, ("member_id", *TASK, "role")),
    StreamsCheck("task_handovers", TaskHandOver, tasks.hand_overs, (*TASK, "from_member_id")),
    StreamsCheck("streams_processes", StreamsProcess, processes.processes, ("process_id",)),
    StreamsCheck("streams_subtopologies", StreamsSubtopology, processes.subtopologies, ()),
    StreamsCheck("stuck", Stall, stuck.stretches, ()),
    StreamsCheck("group_conversions", Conversion, processes.conversions, ()),
)


def check_streams(history: StreamsHistory, replayed: Replayed, named: str = "") -> list[Comparison]:
    """Every table whose name has `named` in it."""
    return [
        compared(history, each, each.wanted(history), rows_of(history, replayed, each))
        for each in CHECKS
        if named in each.table
    ]


def rows_of(history: StreamsHistory, replayed: Replayed, check: StreamsCheck) -> list[Row]:
    """The rows of a table that are about groups which once were streams groups."""
    return [asdict(fact) for fact in replayed.of(check.fact) if fact.group_id in history.steps]


def compared(
    history: StreamsHistory, check: StreamsCheck, wanted: Mapping[Key, Wanted], rows: Iterable[Row]
) -> Comparison:
    """What one check says of these rows. wanted: of the check, for this history."""

    def excuse(row: Row) -> str:
        if check.fact is Stall:
            return CLASSIC_LIFE if history.of_row(row) is None else ""
        speaks = row.get("protocol", row.get("member_protocol", STREAMS))
        is_other = row.get("direction", "TO_STREAMS") not in ("TO_STREAMS", "FROM_STREAMS")
        return CLASSIC_LIFE if speaks != STREAMS or is_other else ""

    return compare(check.table, wanted, rows, lambda row: check.key_of(history, row), excuse)


def check_all(
    history: StreamsHistory, replayed: Replayed, tables: Tables, named: str = ""
) -> list[Comparison]:
    """Every table of streams groups, and of their lives as classic groups."""
    of_streams = check_streams(history, replayed, named)
    of_streams += check_progress(history, tables, named)
    of_streams += check_as_consumers(history, tables, named)
    return [*of_streams, *check_classic_lives(history, tables, named)]


def anomalies_of(history: StreamsHistory, replayed: Replayed) -> list[Anomaly]:
    """What is said against streams groups: nothing but clocks of brokers, for it was Kafka, and
    what Kafka does wrong by its own memory (docs/rules.md, T10, T14, T20, I21, I24).
    """
    return [
        each
        for each in replayed.of(Anomaly)
        if each.group_id in history.steps
        and each.rule != "NEGATIVE_DURATION"
        and not (each.rule.startswith("T10_") and _is_so(history, each))
        and not (each.rule.startswith("I21_") and _lost_its_timer(history, each))
        and not (each.rule.startswith("T14_") and _is_twice(history, each))
        and not (each.rule.startswith("T20_") and _is_forgotten(history, each))
        and not (each.rule.startswith("I24_") and _is_given_twice(history, each))
    ]


def _is_so(history: StreamsHistory, anomaly: Anomaly) -> bool:
    """Whether the coordinator held a member of T10 as stable at the target epoch, with other tasks
    than its target.
    """
    offset, member_id = anomaly.evidence_offset, anomaly.detail_values[0]
    return any(
        step.first_offset <= offset <= step.last_offset
        and (member := step.members.get(member_id)) is not None
        and (member.state, member.epoch) == ("STABLE", step.target_epoch)
        and member.assigned != member.target
        for step in history.steps[anomaly.group_id]
    )


def _lost_its_timer(history: StreamsHistory, anomaly: Anomaly) -> bool:
    """Whether a heartbeat of a member of I21 failed in the coordinator while it was asked."""
    member_id, took_ms = anomaly.detail_values[:2]
    since = anomaly.detected_at - int(took_ms)
    return any(
        (event.what, event.member_id) == ("refused", member_id)
        and event.detail.endswith("UNKNOWN_SERVER_ERROR")
        and since <= event.broker_at <= anomaly.detected_at
        for event in history.truth.injected
    )


def _is_twice(history: StreamsHistory, anomaly: Anomaly) -> bool:
    """Whether the coordinator held the members of T14 as threads of one process with one task: a
    static one brings its tasks along from the process that it was of.
    """
    offset, (process_id, named, told) = anomaly.evidence_offset, anomaly.detail_values
    for step in history.steps[anomaly.group_id]:
        if step.first_offset <= offset <= step.last_offset:
            having = {
                member_id: member.instance_id
                for member_id, member in step.members.items()
                if member.process_id == process_id
                and named in {f"{each.subtopology}_{each.partition}" for each in member.held}
            }
            return having.keys() == set(json.loads(told)) and any(having.values())
    return False


def _is_forgotten(history: StreamsHistory, anomaly: Anomaly) -> bool:
    """Whether the coordinator had dropped an empty group from its memory, and wrote no tombstone."""
    return any(
        life.end is not None
        and life.end.first_offset == anomaly.evidence_offset
        and "K17 gone" not in life.end.records
        for life in history.lives
        if life.group_id == anomaly.group_id
    )


def _is_given_twice(history: StreamsHistory, anomaly: Anomaly) -> bool:
    """Whether the leader of a classic generation, as the group was one before or after, gave what
    I24 names to two members.
    """
    _, _, topic, number, _ = anomaly.detail_values
    return any(
        (topic, int(number)) in given_to_several(operation)
        for operation in history.truth.operations[anomaly.group_id]
        if operation.first_offset <= anomaly.evidence_offset <= operation.last_offset
    )


def differences(comparison: Comparison, history: StreamsHistory, most: int) -> Iterable[str]:
    """The first differences of each column, with the operations around them."""
    shown: Counter[str] = Counter()
    for each in comparison.differences:
        if shown[each.column] >= most:
            continue
        shown[each.column] += 1
        yield f"-- {each.table}.{each.column} of {each.key}: truth {each.wanted}; got {each.got}"
        near = {
            step.first_offset: step
            for offset in each.offsets
            for step in history.near(str(each.key[0]), offset)
        }
        yield from (f"      {near[offset]}" for offset in sorted(near))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("recordings", type=Path, nargs="+")
    parser.add_argument("-n", type=int, default=3, help="differences to show of each column")
    parser.add_argument("--table", default="", help="only tables whose names have this in them")
    parser.add_argument("--logs", action="store_true", help="what broker logs prove")
    told = parser.parse_args(arguments)
    totals: dict[str, Comparison] = {}
    found: list[Anomaly] = []
    for recording in told.recordings:
        history = read_streams(recording, read_truth(recording))
        replayed = replay_recording(recording)
        found += anomalies_of(history, replayed)
        tables = FactTables(recording, replayed)
        compared = (
            check_lines(history, ProvedTables(recording, tables), told.table)
            if told.logs
            else check_all(history, replayed, tables, told.table)
        )
        for each in compared:
            for line in differences(each, history, told.n):
                print(f"{recording.name} {line}")
            total = totals.setdefault(each.table, Comparison(each.table))
            total.agree += each.agree
            total.differ += each.differ
            total.left_out += each.left_out
    for each in totals.values():
        print(*counts(each), sep="\n")
    for anomaly in found[: told.n]:
        print(f"-- {anomaly}")
    return int(bool(found) or any(each.differ for each in totals.values()))


if __name__ == "__main__":
    sys.exit(main())
