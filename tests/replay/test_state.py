"""A group's state as bytes: what one version wrote another must read or refuse, and equal lives must be equal bytes."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import typing
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from groupreplay.evidence import state as evidence_state
from groupreplay.evidence.life import Evidence
from groupreplay.records import Entry
from groupreplay.replay import state
from groupreplay.replay.group import GroupReplay
from groupreplay.replay.life import SHARE, STREAMS, Life
from groupreplay.replay.state import StateError
from tests.support.random_logs import NAMES, logs
from tests.support.recordings import REPOSITORY, RecordedGroup, all_groups, group


def machine_of(recorded: RecordedGroup) -> GroupReplay:
    machine = GroupReplay(recorded.group_id, recorded.offsets_partition, recorded.names)
    for entry in recorded.entries:
        machine.replay(entry)
    machine.flush()
    return machine


def state_of(recorded: RecordedGroup) -> bytes:
    data = machine_of(recorded).state()
    assert data is not None
    return data


@pytest.fixture(scope="module")
def data() -> bytes:
    """A busy group's: members, waits, requests, trails and chains are in it."""
    return state_of(group("churn-4.3", "churn-mixed-b"))


@pytest.mark.parametrize("recorded", list(all_groups()), ids=lambda g: f"{g.recording}-{g.group_id}")
def test_a_life_comes_back_as_it_was(recorded: RecordedGroup) -> None:
    machine = machine_of(recorded)
    data = machine.state()
    if data is None:
        assert machine.open_facts() == []
        return
    assert machine._machine is not None
    life, back = machine._machine.life, state.from_bytes(data)
    life.departed_clients = None  # an index, made when it is asked for
    if life.protocol in (SHARE, STREAMS):
        life.clients = back.clients  # nobody counts them in these
    assert back == life
    assert state.to_bytes(back) == data


@settings(max_examples=100, deadline=None)
@given(entries=logs())
def test_any_life_comes_back_as_it_was(entries: list[Entry]) -> None:
    machine = GroupReplay("g", 0, NAMES)
    for entry in entries:
        machine.replay(entry)
    machine.flush()
    data = machine.state()
    if data is not None:
        assert state.to_bytes(state.from_bytes(data)) == data


def test_equal_lives_are_equal_bytes_whatever_the_order_of_sets() -> None:
    """Python orders sets of strings anew in every process: two tasks that replay one group must write one state."""
    code = (
        "import hashlib; from tests.replay.test_state import state_of; from tests.support.recordings import group;"
        "print([hashlib.sha256(state_of(group(*name))).hexdigest() for name in"
        " [('churn-4.3', 'churn-mixed-b'), ('migration-4.3', 'rollback'), ('brokers-killed-4.2', 'churn-a'), ('classic-3.9', 'classic-coop')]])"
    )

    def digests(seed: str) -> str:
        paths = os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "lib")])
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": paths}
        return subprocess.run([sys.executable, "-c", code], env=environment, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout

    assert digests("1") == digests("2") != ""


def encoded(data: bytes) -> Any:
    return json.loads(zlib.decompress(data[1:]))


def written(content: Any) -> bytes:
    return bytes([state.STATE_VERSION]) + zlib.compress(json.dumps(content).encode())


def test_a_state_of_another_version_or_layout_is_refused(data: bytes) -> None:
    assert isinstance(state.from_bytes(data), Life)
    with pytest.raises(StateError, match="state of version 3"):
        state.from_bytes(bytes([3]) + data[1:])
    with pytest.raises(StateError, match="none"):
        state.from_bytes(b"")
    with pytest.raises(StateError, match="layout 0badc0de"):
        state.from_bytes(written(["0badc0de", encoded(data)[1]]))


def kept_classes(hint: Any, found: set[type]) -> set[type]:
    """Every dataclass that a state of this type can hold."""
    if dataclasses.is_dataclass(hint) and hint not in found:
        found.add(hint)  # type: ignore[arg-type]  # a hint is a class
        hints = typing.get_type_hints(hint)
        for field in dataclasses.fields(hint):
            if not field.metadata.get("derived"):
                kept_classes(hints[field.name], found)
    for argument in typing.get_args(hint):
        kept_classes(argument, found)
    return found


@pytest.mark.parametrize(("module", "kept"), [(state, Life), (evidence_state, Evidence)])
def test_the_fingerprint_covers_every_class_that_is_kept(module: Any, kept: type) -> None:
    assert kept_classes(kept, set()) <= set(module.KEPT)
    assert state.layout(module.KEPT) == module.FINGERPRINT


def test_the_layout_is_the_one_that_is_noted() -> None:
    """Where this fails, states of earlier versions cannot be read any more: raise STATE_VERSION, say in CHANGELOG.md that users must run
    rebuild_nights, and note the new layout here."""
    assert (state.STATE_VERSION, state.FINGERPRINT, evidence_state.FINGERPRINT) == (2, "96ab0321", "db8ed42d")


def test_damaged_bytes_are_refused(data: bytes) -> None:
    for place in range(0, len(data), max(1, len(data) // 100)):
        with pytest.raises(StateError):
            state.from_bytes(data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :])
        with pytest.raises(StateError):
            state.from_bytes(data[:place])


@pytest.mark.parametrize(
    "content", [None, 7, [], [state.FINGERPRINT], [state.FINGERPRINT, 5], [state.FINGERPRINT, [0]], [state.FINGERPRINT, [999, 1]]]
)
def test_other_content_of_sound_bytes_is_refused(content: Any) -> None:
    with pytest.raises(StateError):
        state.from_bytes(written(content))


def test_a_gone_group_has_no_state() -> None:
    assert GroupReplay("g", 0, {}).state() is None


def test_a_state_is_small(data: bytes) -> None:
    """A night carries one row a group: what is kept is what a later record can still change, not the history."""
    assert len(data) < 16_000
    assert Path(state.__file__ or "").name == "state.py"
