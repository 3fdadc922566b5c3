"""Makes what is kept of the harness: tests/scenarios/streams/*.yaml, one worked example each, and
the placements of random groups beside the test of the placement.

`python -m tests.streams_harness.make` writes them anew. Needs a JDK, 17 or later.
"""

from __future__ import annotations

import json
import random
import re
import sys
from pathlib import Path
from typing import Any, Final

import yaml

from tests.streams_harness.assignor import VERSION, Assignor, Settings, Thread
from tests.streams_harness.examples import EXAMPLES, Example
from tests.streams_harness.world import World

TESTS: Final = Path(__file__).parents[1]
SCENARIOS: Final = TESTS / "scenarios" / "streams"
PLACEMENTS: Final = TESTS / "replay" / "streams" / "classic" / "streams_placements.json"
GROUPS: Final = 400
SOURCE: Final = f"StreamsPartitionAssignor and HighAvailabilityTaskAssignor of Kafka {VERSION}"


def scenario(assignor: Assignor, example: Example) -> str:
    """The text of a scenario file: what is made here ends with `decided`; what the product must
    make of it may follow and stays as it is.
    """
    world = example.world(assignor)
    parts: dict[str, Any] = {"why": example.why, "source": SOURCE, "settings": _settings(world)}
    parts |= {"entries": world.entries, "decided": world.decided}
    return yaml.dump(parts, Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=4096)


def _settings(world: World) -> dict[str, Any]:
    settings = world.settings
    return {
        "acceptable_recovery_lag": settings.acceptable_recovery_lag,
        "max_warmup_replicas": settings.max_warmup_replicas,
        "num_standby_replicas": settings.num_standby_replicas,
        "probing_interval_ms": settings.probing_interval_ms,
        "subtopologies": [
            {"topic": topic, "partitions": partitions, "stores": stores}
            for topic, (partitions, stores) in settings.subtopologies.items()
        ],
    }


class _Dumper(yaml.SafeDumper):
    """Without anchors: every value stands where it is read."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def placements(assignor: Assignor, groups: int = GROUPS) -> str:
    """A line of JSON for each random group: [[process id, threads, its tasks], ..]."""
    chance = random.Random(20_441)
    return "".join(json.dumps(_placed(assignor, chance)) + "\n" for _ in range(groups))


def _placed(assignor: Assignor, chance: random.Random) -> list[tuple[str, int, str]]:
    """1 to 7 processes of 1 to 4 threads, 1 to 27 tasks in up to three subtopologies."""
    counts = [chance.randint(1, 9) for _ in range(chance.randint(1, 3))]
    topics = {f"topic-{number}": (count, 1) for number, count in enumerate(counts)}
    assignor.configure(Settings(topics))
    threads = {_process_id(chance): chance.randint(1, 4) for _ in range(chance.randint(1, 7))}
    members = [
        Thread(f"{number}-{process_id}", process_id)
        for process_id, count in threads.items()
        for number in range(count)
    ]
    decided = assignor.assign(members[0].member_id, 0, {}, members).decided
    return [
        (process_id, count, " ".join(decided[process_id][0]))
        for process_id, count in threads.items()
    ]


def _process_id(chance: random.Random) -> str:
    digits = f"{chance.getrandbits(128):032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


_MADE: Final = ("why", "source", "settings", "entries", "decided")


def parts_of(text: str) -> tuple[str, str]:
    """Of a scenario file: what the harness makes, and what the product must make of it."""
    keys = re.finditer(r"^(\w+):", text, re.MULTILINE)
    end = next((key.start() for key in keys if key[1] not in _MADE), len(text))
    return text[:end], text[end:]


def main() -> int:
    with Assignor() as assignor:
        for name, example in EXAMPLES.items():
            path = SCENARIOS / f"{name}.yaml"
            _, expected = parts_of(path.read_text() if path.exists() else "")
            path.write_text(scenario(assignor, example) + expected)
        PLACEMENTS.write_text(placements(assignor))
    return 0


if __name__ == "__main__":
    sys.exit(main())
