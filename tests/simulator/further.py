"""What else a history shows, beside its rows as they stand: episodes from the machines' floors on,
cleaned logs, logs that are read night by night, and brokers' logs of which some are missing.

Each is bounded: a few cleanings and cuts of a history, by seeds of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.simulator.check import differences
from tests.simulator.check_compaction import cleanings, judge_facts, judge_logs
from tests.simulator.check_episodes import check_episodes
from tests.simulator.check_missing_logs import judge_lines, left_of
from tests.simulator.check_nights import Told, differing, names_of, told_by_nights
from tests.simulator.cleaner import cleaned
from tests.simulator.expected.history import History
from tests.simulator.growing import PartitionLog, partition_logs, whole
from tests.simulator.holes.judge import Judge
from tests.simulator.nights import counted, in_one_night
from tests.simulator.replayed import replay_recording
from tests.simulator.tables import FactTables
from tests.simulator.truth import Truth

CLEANINGS: Final = 2
CUTS: Final = 1
MISSING: Final = 2
MOST_NIGHTS: Final = 12
SHOWN: Final = 3
"""Differences shown of each kind."""


@dataclass(slots=True)
class Found:
    """What was compared, in words, and what is wrong.

    differ: how many values, statements and groups; wrong tells the first of them.
    """

    compared: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    differ: int = 0


def look_further(recording: Path, truth: Truth, seed: int, *, has_truth: bool = True) -> Found:
    """All of it, of one recording.

    has_truth: the truth judges classic and consumer groups; of streams groups what lines prove and
        nights alone are compared.
    """
    found, names, logs = Found(), names_of(recording), partition_logs(recording)
    told = in_one_night(whole(logs), names)
    if has_truth:
        _episodes(found, recording, truth)
        _cleanings(found, judge_facts(truth, told), truth, names, logs, seed)
    _missing_logs(found, recording, truth, seed)
    _nights(found, counted(told), names, logs, seed)
    return found


def _episodes(found: Found, recording: Path, truth: Truth) -> None:
    told = check_episodes(truth, replay_recording(recording))
    found.compared.append(f"{sum(each.agree.total() for each in told)} values of episodes")
    for each in told:
        if each.differ:
            found.differ += each.differ.total()
            found.wrong.append("\n".join(differences(each, truth, SHOWN)))


def _cleanings(
    found: Found,
    of_whole: Judge,
    truth: Truth,
    names: Mapping[str, str],
    logs: Sequence[PartitionLog],
    seed: int,
) -> None:
    known = {finding.place for finding in of_whole.findings}
    wrong, judged = [("whole", each) for each in of_whole.findings], 0
    for cleaning in range(seed, seed + CLEANINGS):
        plan = cleanings(logs, cleaning)
        judge = judge_logs(truth, names, [cleaned(log, plan[log]) for log in logs])
        judged += sum(judge.judged.values())
        wrong += [(f"{cleaning}", each) for each in judge.findings if each.place not in known]
    found.compared.append(f"{judged} statements of {CLEANINGS} cleanings")
    found.differ += len(wrong)
    found.wrong += [f"-- cleaning {of}, {each}" for of, each in wrong]


def _missing_logs(found: Found, recording: Path, truth: Truth, seed: int) -> None:
    history, of_topic, judged = History(truth), FactTables(recording), 0
    for without in range(seed, seed + MISSING):
        judge = judge_lines(history, of_topic, left_of(recording, without))
        judged += sum(judge.judged.values())
        found.differ += len(judge.findings)
        found.wrong += [f"-- without logs {without}, {each}" for each in judge.findings]
    found.compared.append(f"{judged} statements without {MISSING} logs")


def _nights(
    found: Found, wanted: Told, names: Mapping[str, str], logs: Sequence[PartitionLog], seed: int
) -> None:
    for cuts in range(seed, seed + CUTS):
        wrong = differing(wanted, told_by_nights(logs, names, cuts, MOST_NIGHTS))
        found.differ += len(wrong)
        found.wrong += [f"-- nights {cuts}, {group}\n{text}" for group, text in wrong.items()]
    facts = sum(bag.total() for bag in wanted.values())
    found.compared.append(f"{facts} facts of {CUTS} cut into nights")
