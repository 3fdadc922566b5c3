"""Logs as the cleaner leaves them: whatever the product still says of them must be true.

    python -m tests.simulator.check_compaction RECORDING... [--seeds 0 10] [-n DIFFERENCES]

Each seed cleans every partition's log up to some batch, with or without its tombstones, half of
them after an earlier night had read a part; the replay in pure Python reads what is left, and every
row is held against the truth of the whole log. What is false of the whole log too is told apart: no
hole made it so. Exit status 1 on any other false statement.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from groupreplay.replay.decision_facts import Absence, Churn, GroupDay
from groupreplay.replay.facts import (
    Anomaly,
    Chain,
    Conversion,
    Epoch,
    Fact,
    GroupSnapshot,
    HandOver,
    HeldPartition,
    MemberLife,
    MemberState,
    Stall,
    TopicSeen,
)
from tests.simulator.check_nights import names_of
from tests.simulator.cleaner import Cleaning, batch_offsets, cleaned, stable_end
from tests.simulator.growing import PartitionLog, partition_logs, whole
from tests.simulator.holes import decisions, groups, members, ownership, stuck
from tests.simulator.holes.judge import Finding, Judge
from tests.simulator.holes.stretches import GroupTruth
from tests.simulator.nights import GroupKey, in_one_night
from tests.simulator.played import refuse_streams
from tests.simulator.truth import Truth, read_truth

JUDGES: Final[dict[type[Fact], Any]] = {
    MemberState: members.judge_state,
    MemberLife: members.judge_life,
    HeldPartition: ownership.judge_span,
    HandOver: ownership.judge_hand_over,
    Epoch: groups.judge_epoch,
    Conversion: groups.judge_conversion,
    GroupSnapshot: groups.judge_snapshot,
    Anomaly: groups.judge_anomaly,
    Stall: stuck.judge_stall,
    Chain: stuck.judge_chain,
    Churn: decisions.judge_churn,
    Absence: decisions.judge_absence,
    GroupDay: decisions.judge_day,
    TopicSeen: decisions.judge_topic,
}
"""Kind of fact -> its rules."""


def cleanings(logs: Sequence[PartitionLog], seed: int) -> dict[PartitionLog, Cleaning]:
    """How far each log is cleaned, by a seed. Tombstones that an earlier night has not read yet
    stay: delete.retention.ms is a day, and nights are not further apart."""
    chance, found = random.Random(seed), {}
    for log in logs:
        offsets = batch_offsets(log)
        end = stable_end(log, chance.choice(offsets))
        read = stable_end(log, chance.choice(offsets)) if chance.random() < 0.5 else 0
        gone = chance.choice((0, end, chance.randint(0, end)))
        found[log] = Cleaning(end, min(read, end), gone if read == 0 else 0)
    return found


def judge_logs(truth: Truth, names: Mapping[str, str], logs: Sequence[PartitionLog]) -> Judge:
    """Every fact of these logs, held against the truth."""
    return judge_facts(truth, in_one_night(whole(logs), names))


def judge_facts(truth: Truth, told: Mapping[GroupKey, Sequence[Fact]]) -> Judge:
    """The same of facts that were told of these groups."""
    judge = Judge()
    for group, facts in told.items():
        of_group = GroupTruth(truth, group.group_id)
        for fact in facts:
            rules = JUDGES.get(type(fact))
            judge.rows[fact.KIND] += 1
            if rules is not None and of_group.operations:
                rules(judge, of_group, fact)
    return judge


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("recordings", type=Path, nargs="+")
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 10), metavar=("FROM", "TO"))
    parser.add_argument("-n", type=int, default=3, help="false statements to show of each rule")
    told = parser.parse_args(arguments)
    refuse_streams(parser, told.recordings)
    result = Judge()
    for recording in told.recordings:
        truth, names, logs = read_truth(recording), names_of(recording), partition_logs(recording)
        of_whole = judge_logs(truth, names, logs)
        for finding in of_whole.findings:
            _show(result, finding, f"{recording.name}, whole log", told.n)
        known = {finding.place for finding in of_whole.findings}
        for seed in range(*told.seeds):
            plan = cleanings(logs, seed)
            judge = judge_logs(truth, names, [cleaned(log, plan[log]) for log in logs])
            result.rows += judge.rows
            result.judged += judge.judged
            for finding in judge.findings:
                if finding.place not in known:
                    partition = truth.operations[finding.group_id][0].offsets_partition
                    where = f"{recording.name}, seed {seed}, p{partition}"
                    _show(result, finding, f"{where} {_how(plan, partition)}", told.n)
    for line in result.told():
        print(line)
    return int(bool(result.findings))


def _how(plan: Mapping[PartitionLog, Cleaning], partition: int) -> str:
    """How a partition's log was cleaned, on every replica."""
    replicas = [(log.replica, each) for log, each in plan.items() if log.partition == partition]
    return "; ".join(f"{replica}: {cleaning}" for replica, cleaning in replicas)


def _show(result: Judge, finding: Finding, where: str, most: int) -> None:
    result.findings.append(finding)
    if sum(each.rule == finding.rule for each in result.findings) <= most:
        print(f"{where}\n  {finding}")


if __name__ == "__main__":
    sys.exit(main())
