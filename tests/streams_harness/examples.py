"""Worked examples: the situations of the design that KIP-441 began with, played as Kafka plays them.

Tasks T1, T2, .. are 0_0, 0_1, ..; process ids are in the order of the processes' names; changelogs
hold 1000 records, `acceptable.recovery.lag` is 0, `max.warmup.replicas` 2 and
`num.standby.replicas` 0 unless said.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tests.streams_harness.assignor import Assignor, Settings
from tests.streams_harness.world import World

FOUR: Final = {"counts": (4, 1)}
FIVE: Final = {"counts": (5, 1)}


@dataclass(frozen=True, slots=True)
class Example:
    """why: what it shows. play: what happens."""

    why: str
    settings: Settings
    play: Callable[[World], None]

    def world(self, assignor: Assignor) -> World:
        world = World(assignor, self.settings)
        self.play(world)
        return world


def _begin(world: World, processes: str) -> None:
    """Changelogs of 1000 records, and everybody in the first generation."""
    world.write(1000)
    world.generation("JOIN", join=processes)
    world.load_all()


def scale_up(world: World) -> None:
    _begin(world, "S1 S2 S3")
    world.generation("JOIN", join="S4")
    world.load("S4", T4=400)
    world.load("S1", T5=300)
    world.generation("JOIN", join="S5")
    world.load("S4", T4=1000)
    world.load("S5", T5=400)
    world.generation("PROBING")
    world.generation("FOLLOWUP")
    world.load("S5", T5=1000)
    world.generation("PROBING")
    world.generation("FOLLOWUP")


def scale_up_default_lag(world: World) -> None:
    _begin(world, "S1 S2 S3")
    world.generation("JOIN", join="S4")
    world.generation("FOLLOWUP")


def from_empty(world: World) -> None:
    world.generation("JOIN", join="S1")
    world.write(1000)
    world.generation("JOIN", join="S2 S3")
    world.until_stable()


def scale_down(world: World) -> None:
    _begin(world, "S1 S2 S3")
    world.generation("LEFT", leave="S2")
    world.until_stable()


def host_swap(world: World) -> None:
    _swap_begun(world)
    world.write(10)
    world.generation("LEFT", leave="S1")
    world.generation("LEFT", leave="S2")
    world.until_stable()


def _swap_begun(world: World) -> None:
    """Four generations, to the balance of four processes."""
    _begin(world, "S1 S2")
    world.generation("JOIN", join="S3 S4")
    world.until_stable()


def host_swap_without_traffic(world: World) -> None:
    _swap_begun(world)
    world.generation("LEFT", leave="S1")
    world.generation("FOLLOWUP")
    world.generation("LEFT", leave="S2")
    world.until_stable()


def host_swap_at_once(world: World) -> None:
    _swap_begun(world)
    world.generation("LEFT", leave="S1 S2")
    world.until_stable()


def leader_crash(world: World) -> None:
    _begin(world, "S1 S2 S3")
    world.generation("JOIN", join="S4")
    world.load("S4", T4=400)
    world.generation("LEFT", leave="S1")
    world.until_stable()


def leader_crash_before(world: World) -> None:
    _begin(world, "S1 S2")
    world.generation("LEFT", leave="S1", join="S3 S4")
    world.until_stable()


def stateless(world: World) -> None:
    _begin(world, "S1")
    world.generation("JOIN", join="S2")
    world.until_stable()


def restart(world: World) -> None:
    _begin(world, "S1 S2")
    world.generation("LEFT", leave="S2")
    world.generation("JOIN", join="S2")
    world.until_stable()


def restart_behind(world: World) -> None:
    _begin(world, "S1 S2")
    world.generation("LEFT", leave="S2")
    world.write(10)
    world.generation("JOIN", join="S2")
    world.until_stable()


def partial(world: World) -> None:
    _begin(world, "S1")
    world.generation("JOIN", join="S2")
    world.load("S2", T2=1000, T4=500)
    world.generation("PROBING")
    world.generation("FOLLOWUP")
    world.until_stable()


def standby(world: World) -> None:
    _begin(world, "S1 S2")
    world.generation("JOIN", join="S3")
    world.until_stable()


def bounce(world: World) -> None:
    """The revocation flushes two records more into the changelog of T2."""
    _begin(world, "S1")
    world.generation("JOIN", join="S2")
    world.load("S2", T2=1000, T4=1000)
    world.generation("PROBING")
    world.flush("S1", T2=2)
    world.generation("FOLLOWUP")
    world.until_stable()


EXAMPLES: Final = {
    "a_scale_up": Example(
        "Two processes join one after the other while tasks are learned: one warm-up is withdrawn"
        " and begun elsewhere, two hand-overs take two generations each.",
        Settings(FIVE),
        scale_up,
    ),
    "a2_scale_up_default_lag": Example(
        "With the default acceptable.recovery.lag tasks move at once and cold, by two generations.",
        Settings(FIVE, acceptable_recovery_lag=10_000),
        scale_up_default_lag,
    ),
    "b_from_empty": Example(
        "Two processes join one that has all tasks: three are to move, two at a time are learned.",
        Settings(FIVE),
        from_empty,
    ),
    "c_scale_down": Example(
        "A process goes: its tasks are given at once and cold; the others' begin to move.",
        Settings(FIVE),
        scale_down,
    ),
    "c_scale_down_with_standbys": Example(
        "A process goes and standbys take over at once; the rest moves to its balance.",
        Settings(FIVE, num_standby_replicas=1),
        scale_down,
    ),
    "d_host_swap": Example(
        "Two processes join two, which then go one by one, with traffic: Kafka balances over four,"
        " and gives the last tasks of the old hosts cold.",
        Settings(FOUR),
        host_swap,
    ),
    "d2_host_swap_without_traffic": Example(
        "The same without traffic: state that the old host left behind draws a task back to it.",
        Settings(FOUR),
        host_swap_without_traffic,
    ),
    "d3_host_swap_at_once": Example(
        "The same, and both old hosts go in one rebalance.", Settings(FOUR), host_swap_at_once
    ),
    "e_leader_crash": Example(
        "The leader crashes while its task is half learned: who learns it takes it at once, and"
        " gives it away again later.",
        Settings(FIVE),
        leader_crash,
    ),
    "f_leader_crash_before": Example(
        "The leader goes and two processes join in one generation.",
        Settings(FIVE),
        leader_crash_before,
    ),
    "g_stateless": Example(
        "Stateless tasks move at once, and once more when stateful ones have moved.",
        Settings({"counts": (2, 1), "words": (2, 0)}),
        stateless,
    ),
    "h_restart": Example(
        "A process is started again after its session, its state on disk complete: it gets its"
        " tasks back in two generations.",
        Settings(FOUR),
        restart,
    ),
    "h2_restart_behind": Example(
        "The same ten records behind: it learns its own tasks first.",
        Settings(FOUR),
        restart_behind,
    ),
    "i_partial": Example(
        "One of two learned tasks is ready at the probe, and moves alone.", Settings(FOUR), partial
    ),
    "j_budget": Example(
        "With max.warmup.replicas 1 the second task is learned from the generation on that decides"
        " the first.",
        Settings(FOUR, max_warmup_replicas=1),
        stateless,
    ),
    "k_standby": Example(
        "With num.standby.replicas 1 a third process joins: one task goes at once to a standby, one"
        " is learned, one standby moves.",
        Settings(FOUR, num_standby_replicas=1),
        standby,
    ),
    "l_bounce": Example(
        "What the old owner flushes when asked makes a ready learner late: the task goes back.",
        Settings(FOUR),
        bounce,
    ),
    "m_imbalance": Example(
        "The imbalance of the first and of the last generation of a_scale_up: 40.0 and 0.0.",
        Settings(FIVE),
        scale_up,
    ),
}
