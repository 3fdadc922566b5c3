"""Logs of brokers of which some are missing: whatever lines still prove must be true.

    python -m tests.simulator.check_missing_logs RECORDING... [--seeds 0 10] [-n DIFFERENCES]

Each seed takes one log, or all of a broker's, away, or a half of it; what is left is read, and every
fact of it is held against the truth. What is false of all logs too is told apart. Exit status 1 on
any other false statement.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from groupreplay.evidence.evidence_facts import EvidenceFact
from groupreplay.evidence.memory import Line
from groupreplay.records.log_events import REQUEST_LOG
from tests.simulator.expected.history import History
from tests.simulator.expected.member_ends import CHECK as ENDS
from tests.simulator.holes.ends import is_lost_leave
from tests.simulator.holes.judge import Judge
from tests.simulator.holes.lines import JUDGES, LineTruth
from tests.simulator.missing import leave, plan_of
from tests.simulator.proved import ProvedTables
from tests.simulator.tables import FactTables, Tables
from tests.simulator.truth import read_truth
from tests.support.log_lines import Subject, evidence_of, lines_in

OPEN_QUESTION = "LEFT_OR_FENCED"


def judge_lines(history: History, of_topic: Tables, lines: Mapping[Subject, list[Line]]) -> Judge:
    """Every fact of these lines, and the ends of members that they tell."""
    facts, heard_until = evidence_of(dict(lines)), heard_until_of(lines)
    judge, truth = Judge(), LineTruth(history, heard_until)
    for fact in facts:
        judge.rows[fact.KIND] += 1
        if (rules := JUDGES.get(type(fact))) is not None:
            rules(judge, truth, fact)
    _judge_ends(judge, history, ProvedTables(Path(), of_topic, facts), facts)
    return judge


def _judge_ends(
    judge: Judge, history: History, tables: Tables, facts: Sequence[EvidenceFact]
) -> None:
    wanted = ENDS.wanted(history)
    for row in ENDS.gathered(history, tables.rows(ENDS.table)):
        must = wanted.get(ENDS.key_of(history, row))
        is_open = row["end_reason"] == OPEN_QUESTION
        if must is None or must.left_out or is_open or row["ended_at"] is None:
            continue
        if is_lost_leave(history, facts, row, must):
            continue
        for name in ("end_reason", "end_detail"):
            so: Any = must.values.get(name)
            said = row[name]
            is_so = so == said or (hasattr(so, "admits") and so.admits(said))
            judge.holds_row(name, row, is_so, said, so)


def heard_until_of(lines: Mapping[Subject, list[Line]]) -> dict[int, int]:
    """Broker -> time of the last line of its request log."""
    found: dict[int, int] = {}
    for line in (each for of_subject in lines.values() for each in of_subject):
        if line.source == REQUEST_LOG:
            found[line.broker] = max(found.get(line.broker, -1), line.last_ms)
    return found


def left_of(recording: Path, seed: int) -> Mapping[Subject, list[Line]]:
    """Lines of what a seed leaves."""
    with tempfile.TemporaryDirectory() as scratch:
        leave(recording, plan_of(recording, seed), Path(scratch))
        return lines_in(Path(scratch))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("recordings", type=Path, nargs="+")
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 10), metavar=("FROM", "TO"))
    parser.add_argument("-n", type=int, default=3, help="false statements to show of each rule")
    told = parser.parse_args()
    result = Judge()
    for recording in told.recordings:
        history, of_topic = History(read_truth(recording)), FactTables(recording)
        whole = judge_lines(history, of_topic, lines_in(recording))
        known = {each.place for each in whole.findings}
        result.findings += whole.findings
        for each in whole.findings[: told.n]:
            print(f"{recording.name}, all logs\n  {each}")
        for seed in range(*told.seeds):
            judge = judge_lines(history, of_topic, left_of(recording, seed))
            result.rows += judge.rows
            result.judged += judge.judged
            for each in judge.findings:
                if each.place not in known:
                    result.findings.append(each)
                    if sum(one.rule == each.rule for one in result.findings) <= told.n:
                        print(
                            f"{recording.name}, seed {seed}: {plan_of(recording, seed)}\n  {each}"
                        )
    print(*result.told(), sep="\n")
    return int(bool(result.findings))


if __name__ == "__main__":
    sys.exit(main())
