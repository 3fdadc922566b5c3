"""Facts must not depend on where the log was cut into nights.

    python -m tests.simulator.check_nights RECORDING... [--seeds 0 10] [--no-names]

Each seed rolls the logs into files, lets 2 to 30 nights copy them, each cut at any byte, and
carries the states of all groups on as bytes. What the nights tell must be what one run tells. Works
on any recording with segments; the truth is not asked. Exit status 1 on any difference.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.simulator.growing import PartitionLog, partition_logs, random_sizes, rolled, whole
from tests.simulator.nights import GroupKey, counted, facts_after, in_one_night
from tests.support.replaying import FactKey, difference

MOST_NIGHTS: Final = 30

Told = Mapping[GroupKey, Counter[FactKey]]


def names_of(recording: Path) -> dict[str, str]:
    """Topic id -> name, as the recording's topics.json gives them."""
    topics = json.loads((recording / "topics.json").read_text())
    return {topic["topic_id"]: topic["topic"] for topic in topics}


def told_once(logs: Sequence[PartitionLog], names: Mapping[str, str]) -> Told:
    """What one run over everything tells."""
    return counted(in_one_night(whole(logs), names))


def told_by_nights(
    logs: Sequence[PartitionLog],
    names: Mapping[str, str],
    seed: int,
    most_nights: int = MOST_NIGHTS,
) -> Told:
    """What the nights of a seed tell, 2 to `most_nights` of them."""
    chance = random.Random(seed)
    nights = chance.randint(2, most_nights)
    return counted(facts_after(rolled(logs, chance), names, random_sizes(logs, nights, chance)))


def differing(wanted: Told, got: Told) -> dict[GroupKey, str]:
    """The groups of which something else is told, and what."""
    nothing = Counter[FactKey]()
    return {
        group: difference(wanted.get(group, nothing), got.get(group, nothing))
        for group in sorted(wanted.keys() | got.keys())
        if wanted.get(group) != got.get(group)
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("recordings", type=Path, nargs="+")
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 10), metavar=("FROM", "TO"))
    parser.add_argument("--no-names", action="store_true", help="as without a topics source")
    told = parser.parse_args(arguments)
    found = 0
    for recording in told.recordings:
        names = {} if told.no_names else names_of(recording)
        logs = partition_logs(recording)
        wanted = told_once(logs, names)
        for seed in range(*told.seeds):
            differences = differing(wanted, told_by_nights(logs, names, seed))
            for group, text in differences.items():
                print(f"-- {recording.name}, seed {seed}, {group}\n{text}")
            found += len(differences)
        facts = sum(bag.total() for bag in wanted.values())
        seeds = "{} to {}".format(*told.seeds)
        print(
            f"{recording.name}: {len(wanted)} groups, {facts} facts, seeds {seeds}: {found} differ"
        )
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
