"""Which history was played: what the simulator is asked for."""

from __future__ import annotations

from dataclasses import dataclass


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

    @property
    def command(self) -> str:
        """What plays and checks it again."""
        options = f"--profile {self.profile} --version {self.version}"
        sizes = f"--groups {self.groups} --hours {self.hours}"
        return f"python -m tests.simulator.soak --seed {self.seed} {options} {sizes}"
