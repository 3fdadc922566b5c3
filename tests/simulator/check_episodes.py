"""Stuck stretches and repetitions that the machines tell, against the coordinator's own memory.

    python -m tests.simulator.check_episodes RECORDING... [-n DIFFERENCES]

NOT_RECONCILING, ASSIGNED_NOT_CONSUMING, MIGRATION_STALLED, FENCE_LOOP and EPOCH_STORM, and how many
members came back, of the replay in pure Python and from the machines' own floors on, so that short
histories show them: the report's thresholds only choose among them. Exit status 1 on any
difference.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from groupreplay.replay.decision_facts import GroupDay
from groupreplay.replay.facts import Chain, Stall
from tests.simulator.check import counts, differences
from tests.simulator.compare import Comparison, Key, Wanted, compare
from tests.simulator.episodes import mixed, repetitions, silences
from tests.simulator.lives import lives_of
from tests.simulator.played import refuse_streams
from tests.simulator.replayed import Replayed, replay_recording
from tests.simulator.tables import Row
from tests.simulator.truth import Truth, read_truth

_NAMELESS = "commits of a deleted topic, whose id's name need not be known"


def stretches(truth: Truth, reason: str) -> dict[Key, Wanted]:
    """Rows that must be, of a reason that is a stretch."""
    found: dict[Key, Wanted] = {}
    for life in lives_of(truth):
        if reason == silences.NOT_RECONCILING:
            found.update(silences.silences(truth, life))
        elif reason == silences.NOT_CONSUMING:
            found.update(silences.quiet_stretches(truth, life))
        else:
            found.update(mixed.mixed_stretches(life))
    return found


def _nameless(truth: Truth) -> set[str]:
    """Groups that held a topic that was deleted: a commit counts for the id its name had then."""
    return {
        group_id
        for group_id, operations in truth.operations.items()
        for operation in operations
        for member in operation.members.values()
        if any(each.topic in truth.deleted for each in member.held)
    }


def check_stretches(truth: Truth, replayed: Replayed, reason: str) -> Comparison:
    """One reason's stretches."""
    wanted = stretches(truth, reason)
    left_out = _nameless(truth) if reason == silences.NOT_CONSUMING else set[str]()
    for key, row in wanted.items():
        row.left_out = _NAMELESS if key[0] in left_out else ""
    rows = [asdict(stall) for stall in replayed.of(Stall) if stall.reason == reason]

    def excuse(row: Row) -> str:
        return _NAMELESS if row["group_id"] in left_out else ""

    return compare(reason, wanted, rows, _stretch_key, excuse)


def _stretch_key(row: Row) -> Key:
    return row["group_id"], row["reason"], row["member_id"], row["since_at"]


def check_repetitions(truth: Truth, replayed: Replayed, reason: str) -> Comparison:
    """One reason's chains."""
    of_life = (
        repetitions.fence_loops if reason == repetitions.FENCE_LOOP else repetitions.epoch_storms
    )
    wanted = {key: row for life in lives_of(truth) for key, row in of_life(life)}
    incarnations = {key[:-1]: key for key in wanted}
    rows = [asdict(chain) for chain in replayed.of(Chain) if chain.reason == reason]

    def key_of(row: Row) -> Key:
        key = (row["group_id"], row["reason"], row["member_id"], row["times_at"][0])
        return incarnations.get(key, (*key, row["incarnation"]))

    return compare(reason, wanted, rows, key_of, lambda _: "")


def check_returns(truth: Truth, replayed: Replayed) -> Comparison:
    """Members that were removed and came back, over all days of a group."""
    returns = Counter[str]()
    for life in lives_of(truth):
        returns[life.group_id] += repetitions.returns_of(life)
    wanted: dict[Key, Wanted] = {
        (group_id,): Wanted({"cycles": times}, ()) for group_id, times in returns.items()
    }
    told = Counter[str]()
    for day in replayed.of(GroupDay):
        told[day.group_id] += day.cycles
    rows = [{"group_id": group_id, "cycles": times} for group_id, times in told.items()]
    return compare("returns", wanted, rows, lambda row: (row["group_id"],), lambda _: "")


def check_episodes(truth: Truth, replayed: Replayed) -> list[Comparison]:
    """All reasons, one after the other."""
    reasons = (silences.NOT_RECONCILING, silences.NOT_CONSUMING, mixed.MIGRATION_STALLED)
    chains = (repetitions.FENCE_LOOP, repetitions.EPOCH_STORM)
    return [
        *(check_stretches(truth, replayed, reason) for reason in reasons),
        *(check_repetitions(truth, replayed, reason) for reason in chains),
        check_returns(truth, replayed),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("recordings", type=Path, nargs="+")
    parser.add_argument("-n", type=int, default=3, help="differences to show of each column")
    told = parser.parse_args(arguments)
    refuse_streams(parser, told.recordings)
    agree, differ = Counter[str](), Counter[str]()
    for recording in told.recordings:
        truth, replayed = read_truth(recording), replay_recording(recording)
        for each in check_episodes(truth, replayed):
            for line in differences(each, truth, told.n):
                print(f"{recording.name} {line}")
            agree.update({f"{each.table}.{name}": n for name, n in each.agree.items()})
            differ.update({f"{each.table}.{name}": n for name, n in each.differ.items()})
    total = Comparison("", agree, differ)
    print(*counts(total), sep="\n")
    return int(bool(differ))


if __name__ == "__main__":
    sys.exit(main())
