"""A group's state as bytes: what one version wrote another must read or refuse, and equal lives
must be equal bytes.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings

from groupreplay import state_codec as codec
from groupreplay.evidence import saved_memory as evidence_state
from groupreplay.evidence.evidence_facts import AssignorFailure, Outage, Rejoin, Silence
from groupreplay.evidence.memory import Evidence
from groupreplay.records.entries import Entry
from groupreplay.replay.group_replay import GroupReplay
from groupreplay.replay.life import Life
from groupreplay.replay.saved import saved_life as state
from groupreplay.replay.saved.life_version_1 import FIRST
from groupreplay.state_codec import Codec, StateError, classes_of, kept_fields
from tests.replay.kept_states import EVIDENCE, LIFE, kept, releases
from tests.support.random_logs import NAMES, logs
from tests.support.recordings import REPOSITORY, RecordedGroup, all_groups, group, groups

PLACE: dict[str, Any] = {
    "group_id": "g",
    "broker": 1,
    "source": "server_log",
    "input": "i",
    "position": 1,
}
MEMBER: dict[str, Any] = {
    "member_id": "m",
    "instance_id": None,
    "client_id": "c",
    "client_host": "h",
}
TASKS_OF_STREAMS = "streams-classic-4.3"

RARE = Evidence(
    "g",
    silences={"m": Silence(**PLACE, **MEMBER, protocol=None, since_at=1)},
    rejoins={"m": Rejoin(**PLACE, **MEMBER, generation=1, told_at=1, joined_at=2)},
    outage=Outage(**PLACE, since_at=1, last_at=2, attempts=1),
    failure=AssignorFailure(**PLACE, epoch=1, reason="r", first_at=1, last_at=2, attempts=1),
)
"""What no recording shows in the middle of its log, and what no released state holds."""


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


@pytest.mark.parametrize(
    "recorded", list(all_groups()), ids=lambda g: f"{g.recording}-{g.group_id}"
)
def test_a_life_comes_back_as_it_was(recorded: RecordedGroup) -> None:
    machine = machine_of(recorded)
    data = machine.state()
    if data is None:
        assert machine.open_facts() == []
        return
    assert machine._machine is not None
    life, back = machine._machine.life, state.from_bytes(data)
    life.departed_clients = None  # an index, made when it is asked for
    assert back == life
    assert state.to_bytes(back) == data


@pytest.mark.long
@settings(max_examples=100)
@given(entries=logs())
def test_any_life_comes_back_as_it_was(entries: list[Entry]) -> None:
    machine = GroupReplay("g", 0, NAMES)
    for entry in entries:
        machine.replay(entry)
    machine.flush()
    data = machine.state()
    if data is not None:
        assert state.to_bytes(state.from_bytes(data)) == data


@pytest.mark.long
def test_equal_lives_are_equal_bytes_whatever_the_order_of_sets() -> None:
    """Python orders sets of strings anew in every process: two tasks that replay one group must
    write one state.
    """
    code = (
        "import hashlib; from tests.replay.saved.test_saved_life import state_of; from"
        " tests.support.recordings import"
        " group;print([hashlib.sha256(state_of(group(*name))).hexdigest() for name in"
        " [('churn-4.3', 'churn-mixed-b'), ('migration-4.3', 'rollback'), ('brokers-killed-4.2',"
        " 'churn-a'), ('classic-3.9', 'classic-coop')]])"
    )

    def digests(seed: str) -> str:
        paths = os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "lib")])
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": paths}
        return subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    assert digests("1") == digests("2") != ""


def test_a_state_of_another_version_is_refused(data: bytes) -> None:
    """2 was never released."""
    assert isinstance(state.from_bytes(data), Life)
    for version in (2, 4):
        with pytest.raises(StateError, match=f"state of version {version}, known are 1 and 3"):
            state.from_bytes(bytes([version]) + data[1:])
        with pytest.raises(StateError, match=f"state of version {version}, known are 1 and 3"):
            evidence_state.from_bytes(bytes([version]) + data[1:])
    with pytest.raises(StateError, match="none"):
        state.from_bytes(b"")
    with pytest.raises(StateError, match="none"):
        evidence_state.from_bytes(b"")


def names_in(data: bytes, kind: Codec[Any]) -> tuple[dict[str, list[str]], bytes]:
    """Class -> its fields, as a state names them; and what stands behind that."""
    kept = data[codec._HEAD.size :]
    end = codec._LENGTH.size + codec._LENGTH.unpack_from(kept)[0]
    return json.loads(codec._unpacked(kept[codec._LENGTH.size : end], kind._names)), kept[end:]


def without(data: bytes, kind: Codec[Any], cls: str, field: str) -> bytes:
    """A state whose writer did not know a field: what is in it goes by another name."""
    names, rest = names_in(data, kind)
    names[cls] = ["former" if name.partition("@")[0] == field else name for name in names[cls]]
    packed = codec._packed(json.dumps(names).encode(), kind._names, 9)
    kept = codec._LENGTH.pack(len(packed)) + packed + rest
    return codec._HEAD.pack(codec.STATE_VERSION, zlib.crc32(kept)) + kept


def held(value: Any, found: dict[type[Any], list[Any]] | None = None) -> dict[type[Any], list[Any]]:
    """Every object that a state holds, by its class and those that this derives from."""
    found = defaultdict(list) if found is None else found
    if dataclasses.is_dataclass(value):
        own: type[Any] = type(value)
        for cls in own.__mro__:
            found[cls].append(value)
        inner = [getattr(value, field.name) for field in kept_fields(own)]
    elif isinstance(value, dict):
        inner = list(value.values())
    else:
        inner = list(value) if isinstance(value, list) else []
    for each in inner:
        held(each, found)
    return found


def states_of_today() -> Iterator[bytes]:
    """Of recordings that have every class among them, at each quarter of their groups' logs."""
    for recording in ("brokers-killed-4.2", "classic-3.9", "other-groups-4.2", TASKS_OF_STREAMS):
        for recorded in groups(recording):
            machine = GroupReplay(recorded.group_id, recorded.offsets_partition, recorded.names)
            quarter = max(1, len(recorded.entries) // 4)
            for index, entry in enumerate(recorded.entries, 1):
                machine.replay(entry)
                if index % quarter == 0 and (data := machine.state()) is not None:
                    yield data


@pytest.mark.parametrize(("kind", "module"), [(LIFE, state), (EVIDENCE, evidence_state)])
@pytest.mark.long
def test_a_state_without_a_field_that_has_a_default_is_read_with_it(kind: str, module: Any) -> None:
    """So may every state be that was written before the field came."""
    kept_codec: Codec[Any] = module._CODEC
    states = [one.data for one in kept(releases()[-1])[1] if one.kind == kind]
    states += [evidence_state.to_bytes(RARE)] if kind == EVIDENCE else list(states_of_today())
    values = [
        (data, held(kept_codec.from_bytes(data)), names_in(data, kept_codec)[0]) for data in states
    ]
    for cls in classes_of(kept_codec._root):
        of_class = [
            (data, objects[cls])
            for data, objects, names in values
            if objects.get(cls) and cls.__name__ in names
        ][:1]
        assert of_class, cls
        for field in kept_fields(cls):
            default = codec._default(field)
            for data, objects in of_class if default is not codec._REQUIRED else ():
                older = without(data, kept_codec, cls.__name__, field.name)
                module.from_bytes(older)
                without_it = held(kept_codec.from_bytes(older))[cls]
                assert [getattr(each, field.name) for each in without_it] == [default] * len(
                    objects
                )


def test_damaged_bytes_are_refused(data: bytes) -> None:
    for place in range(0, len(data), max(1, len(data) // 100)):
        with pytest.raises(StateError):
            state.from_bytes(data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :])
        with pytest.raises(StateError):
            state.from_bytes(data[:place])


def test_a_gone_group_has_no_state() -> None:
    assert GroupReplay("g", 0, {}).state() is None


def test_a_state_is_small(data: bytes) -> None:
    """A night carries one row a group: what is kept is what a later record can still change, not
    the history.
    """
    assert len(data) < 16_000


def first_version(encoded: Any) -> bytes:
    return b"\x01" + zlib.compress(json.dumps([FIRST.fingerprint, encoded]).encode())


def numbered(cls: str, **values: Any) -> list[Any]:
    """An object as version 1 wrote it."""
    return [
        part for name, value in values.items() for part in (FIRST.names[cls].index(name), value)
    ]


@pytest.mark.parametrize(
    ("member_state", "epoch", "waiting"),
    [(2, 5, {("t", 1), ("t", 2)}), (2, -2, set()), (0, 5, set())],
    ids=["unreleased", "unreleased-and-away", "stable"],
)
def test_whom_a_member_of_version_1_waits_for_is_made_anew(
    member_state: int, epoch: int, waiting: set[Any]
) -> None:
    """It kept those of its target that others held; now it keeps those that it has not got, whether
    somebody holds them or not.
    """
    partitions = {"assigned": [["t", 0]], "target": [["t", 0], ["t", 1], ["t", 2]]}
    member = numbered(
        "Member", member_id="m", epoch=epoch, state=member_state, waiting=[["t", 2]], **partitions
    )
    life = numbered(
        "Life",
        group_id="g",
        offsets_partition=0,
        incarnation=0,
        protocol="consumer",
        members=[["m", member]],
    )
    back = state.from_bytes(first_version(life))
    assert back.members["m"].waiting == waiting
    assert back.waiters == {tp: {"m"} for tp in waiting}
    assert state.from_bytes(state.to_bytes(back)) == back


def test_what_states_are_packed_with_never_changes() -> None:
    """Where this fails no state of version 3 can be read any more. What came later stands in front of
    what states refer to, by its distance from the end.
    """
    packed_with = (
        (state._CODEC._names[len(state._LATER_NAMES) :], 1098680087),
        (state._CODEC._words, 969649423),
        (evidence_state._CODEC._names, 2390186353),
        (evidence_state._CODEC._words, 3617011242),
    )
    for dictionary, checksum in packed_with:
        assert zlib.crc32(dictionary) == checksum
    assert len(state._CODEC._names) < 32_768 - 1024, "further back than a stream can refer to"


def test_a_dictionary_that_grew_in_front_reads_what_was_packed_before() -> None:
    old = state._CODEC._names[len(state._LATER_NAMES) :]
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS, zdict=old)
    packed = packer.compress(old[5:-5] * 2) + packer.flush()
    assert len(packed) < 60, "it refers to the dictionary"
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS, state._CODEC._names)
    assert unpacker.decompress(packed) == old[5:-5] * 2
