"""Which history was played: what the simulator is asked for, and how its brokers were set."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.simulator.simulate import STREAMS_PROFILES

LOW_THRESHOLDS_MS: Final = {"join_never_completes_ms": 10_000, "sync_never_completes_ms": 10_000}
"""Thresholds that short histories reach, where Spark tells what is stuck; the others are usual."""


@dataclass(frozen=True, slots=True)
class Played:
    """The same values give the same recording. hours: of simulated time."""

    seed: int
    groups: int
    hours: float
    profile: str
    version: str

    @property
    def name(self) -> str:
        return f"{self.profile}-{self.version}-{self.seed}"

    def command(self, with_job: bool = False) -> str:
        """What plays and checks it again. with_job: through the real job too."""
        options = f"--profile {self.profile} --version {self.version}"
        sizes = f"--groups {self.groups} --hours {self.hours}"
        only = "" if with_job else " --no-job"
        soak = "GROUPREPLAY_COMPILED=0 python -m tests.simulator.soak"
        return f"{soak} --seed {self.seed} {options} {sizes}{only}"


def brokers_of(recording: Path) -> dict[str, int]:
    """`brokers` of a configuration: no simulated broker prints what it was started with."""
    told = json.loads((recording / "recording.json").read_text())["broker_config"]
    names = ("session_timeout_ms", "heartbeat_interval_ms")
    keys = {name: f"group.consumer.{name.replace('_', '.')}" for name in names}
    return {name: int(told[key]) for name, key in keys.items() if key in told}


def refuse_streams(parser: argparse.ArgumentParser, recordings: Sequence[Path]) -> None:
    """Ends a command that holds rows to what classic and consumer groups were: streams groups have
    a truth of their own, and every row of theirs would seem false."""
    if names := [each.name for each in recordings if _profile_of(each) in STREAMS_PROFILES]:
        parser.error(f"groups of streams, which check_streams looks at: {', '.join(names)}")


def _profile_of(recording: Path) -> str | None:
    """None of one that no simulator made."""
    told = json.loads((recording / "recording.json").read_text())
    found: str | None = told.get("simulated", {}).get("profile")
    return found
