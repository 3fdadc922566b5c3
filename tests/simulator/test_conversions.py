"""What a group has over a conversion, by hand-written truths: which commits count, and what the first
target of an upgrade gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.simulator.compare import Between
from tests.simulator.expected import departure_waves
from tests.simulator.expected.group_epochs import epochs_of
from tests.simulator.truth import CONSUMER, STREAMS
from tests.simulator.written import BORN, ID, classic_generation, history_of, line

EMPTY = {"ge": 9, "te": 9, "ms": {}}


def _upgraded(name: str, *records: str, **more: Any) -> dict[str, Any]:
    """The group at epoch 2, of one member with a target of three partitions."""
    member = {"e": 2, "pe": 0, "st": "STABLE", "cl": "c", "rt": 1, "sub": ["t"], **more}
    held = {"a": {}, "pr": {}, "ta": {ID: [0, 1, 2]}}
    state = {"type": "consumer", "ge": 2, "te": 2, "ms": {name: member | held}}
    return {"recs": records, "s": {"g": state}}


@pytest.mark.parametrize(
    ("protocol", "unknown", "idle_ms"), [(CONSUMER, 0, 60 - 5), (STREAMS, 1, None)]
)
def test_what_a_streams_group_committed_is_not_counted_after_it(
    protocol: str, unknown: int, idle_ms: int | None, tmp_path: Path
) -> None:
    """An empty group of another protocol, that committed, becomes a classic one. Generation 2 stops
    its first member, which commits after that."""
    history = history_of(
        tmp_path,
        line(0, "leave", s={"g": {"type": protocol, **EMPTY}}),
        line(5, "commit", c=["K1 g t-0 5"]),
        line(10, "join", recs=["K3 gone", "K2 generation 0"], s={"g": BORN}),
        line(20, "sync", **classic_generation(1, "a")),
        line(40, "sync", **classic_generation(2, "a", "b")),
        line(60, "commit", c=["K1 g t-0 7"]),
    )
    (wave,) = departure_waves.CHECK.wanted(history).values()
    assert wave.values["high_unknown"] == unknown
    assert wave.values["longest_idle_ms"] == idle_ms


@pytest.mark.parametrize(("returns_at", "moved"), [(50, [None]), (400_000, [0, None])])
def test_a_wave_that_ends_in_connect_has_no_costs(
    returns_at: int, moved: list[int | None], tmp_path: Path
) -> None:
    """A consumer goes, and workers of Connect take the id of its group. Assignments of these cannot
    be read: what their wave moved is not known, what another one moved is."""
    workers = classic_generation(1, "w")
    workers["s"]["g"] |= {"ptype": "connect"}
    state = {"type": "consumer", "ge": 3, "te": 2}
    history = history_of(
        tmp_path,
        line(0, "join", **_upgraded("a")),
        line(2, "leave", recs=["K3 epoch 3"], s={"g": {**state, "gone": ["a"]}}),
        line(returns_at, "join", recs=["K3 gone", "K2 generation 0"], s={"g": BORN}),
        line(returns_at + 10, "sync", **workers),
    )
    waves = list(departure_waves.CHECK.wanted(history).values())
    assert [each.values["moved"] for each in waves[1:]] == moved


@pytest.mark.parametrize("taken_over", ["a", "in no K2"])
def test_who_an_upgrade_takes_over_and_replaces_at_once_is_in_its_first_target(
    taken_over: str, tmp_path: Path
) -> None:
    """A static member's next process speaks the consumer protocol. What a converted group has first
    is what its members had in memory, that one too."""
    targets = ("K3 epoch 1", "K6 target epoch 1", f"K5 {taken_over} gone", "K5 u", "K3 epoch 2")
    upgrade = _upgraded(
        "u", "K2 gone", f"K5 {taken_over}", *targets, "K6 target epoch 2", i="static"
    )
    history = history_of(
        tmp_path,
        line(10, "join", s={"g": BORN}),
        line(20, "sync", **classic_generation(1, "a", i="static")),
        line(40, "join", **upgrade),
    )
    (life,) = history.lives
    _, first, second = epochs_of(history, life)
    assert first.partitions == 1
    assert [each for each in range(3) if first.moved.admits(each)] == [0]
    assert (second.partitions, second.moved) == (3, 0)


@pytest.mark.parametrize(("phase", "partitions"), [("Completing", 1), ("Preparing", 0)])
def test_who_is_told_to_join_before_its_generation_is_synced_has_nothing(
    phase: str, partitions: int, tmp_path: Path
) -> None:
    targets = ("K3 epoch 2", "K6 target epoch 2", "K5 a gone", "K5 u", "K3 epoch 3")
    upgrade = _upgraded("u", "K2 gone", "K5 a", *targets, "K6 target epoch 3", i="static")
    upgrade["s"]["g"]["gone"] = ["a"]
    joined = {"t": 1_030, "what": "phase", "detail": f"{phase}Rebalance 2", "g": "g", "p": 0}
    history = history_of(
        tmp_path,
        line(10, "join", s={"g": BORN}),
        line(20, "sync", **classic_generation(1, "a", i="static")),
        line(40, "join", **upgrade),
        timeline=[joined],
    )
    (life,) = history.lives
    assert epochs_of(history, life)[1].partitions == partitions


@pytest.mark.parametrize(
    ("deleted_at", "partitions"),
    [(3_000, 0), (5_500, Between(0, 1)), (6_500, 1)],
    ids=["before it", "just before it", "after it"],
)
def test_the_first_target_of_an_upgrade_has_nothing_of_a_topic_that_is_gone(
    deleted_at: int, partitions: Any, tmp_path: Path
) -> None:
    """The coordinator knows ids of those topics alone that there are (fromClassicGroup)."""
    records = ("K2 gone", "K5 a", "K3 epoch 1", "K6 target epoch 1", "K5 a gone", "K5 u")
    upgrade = _upgraded("u", *records, "K3 epoch 2", "K6 target epoch 2", i="static")
    upgrade["s"]["g"]["gone"] = ["a"]
    upgrade["s"]["g"]["ms"]["u"]["ta"] = {}
    history = history_of(
        tmp_path,
        line(10, "join", s={"g": BORN}),
        line(20, "sync", **classic_generation(1, "a", i="static")),
        line(5_000, "join", **upgrade),
        timeline=[
            {"t": 0, "what": "create", "detail": f"t 1 {ID}"},
            {"t": deleted_at, "what": "delete", "detail": f"t {ID}"},
        ],
    )
    (life,) = history.lives
    assert epochs_of(history, life)[1].partitions == partitions


def test_the_first_target_of_an_upgrade_of_nobody_is_empty(tmp_path: Path) -> None:
    """Classic members came and went while the group was rebalanced, and are in no K2: the group is
    empty by its records, and not by its state (ClassicGroup.isInState). So an upgrade writes a
    generation's epoch, of nobody, before the one of the consumer that joins."""
    records = ("K2 gone", "K3 epoch 1", "K6 target epoch 1", "K5 u", "K3 epoch 2")
    history = history_of(
        tmp_path,
        line(10, "join", s={"g": BORN}),
        line(20, "sync", **classic_generation(1)),
        line(40, "join", **_upgraded("u", *records, "K6 target epoch 2")),
    )
    first, second = epochs_of(history, history.lives[-1])
    assert (first.epoch, first.partitions) == (1, 0)
    assert (second.epoch, second.partitions) == (2, 3)


@pytest.mark.parametrize("protocol", [CONSUMER, STREAMS])
@pytest.mark.parametrize("is_written", [True, False])
def test_a_group_that_the_coordinator_forgot_begins_a_life_unwritten(
    protocol: str, is_written: bool, tmp_path: Path
) -> None:
    """A classic member comes to an empty group: the tombstones of that may never be written."""
    gone = ["K3 gone" if protocol == CONSUMER else "K17 gone"] if is_written else []
    history = history_of(
        tmp_path,
        line(0, "leave", s={"g": {"type": protocol, **EMPTY}}),
        line(10, "join", recs=[*gone, "K2 generation 0"], s={"g": BORN}),
        line(20, "sync", **classic_generation(1, "a")),
    )
    assert history.begins_unwritten(history.lives[-1]) == (not is_written)
