"""States of every release are read, and go on to the facts of a log that was never cut."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Any

import pytest

import groupreplay
from groupreplay.evidence import saved_memory as evidence_state
from groupreplay.evidence.evidence_replay import EvidenceReplay
from groupreplay.evidence.memory import Line
from groupreplay.replay import saved_life as state
from groupreplay.replay.group_replay import GroupReplay
from groupreplay.state_codec import Converters
from tests.replay.kept_states import (
    EVIDENCE,
    LIFE,
    REQUIRED,
    KeptState,
    fields_now,
    kept,
    lines_of,
    machine_of,
    place,
    releases,
)
from tests.support.log_lines import newest_ms
from tests.support.recordings import RecordedGroup, group
from tests.support.replaying import difference, fact_keys

CONVERTERS: dict[str, Converters] = {LIFE: state.CONVERTERS, EVIDENCE: evidence_state.CONVERTERS}
RENAMED = {LIFE: state.RENAMED, EVIDENCE: evidence_state.RENAMED}

MENDED = {
    # its member waits since a K8 that 0.2.0 took for the beginning of a wait
    ("0.2.0", "brokers-killed-4.2", "churn-a"): "stall",
    # their open generation came behind a hole, and 0.2.0 took its start for seen
    ("0.2.0", "compacted-4.3", "classic-static"): "epoch",
    ("0.2.0", "compacted-4.3", "rollback"): "epoch",
}
"""What a release had told wrongly already, and no state unlearns: the kind of the facts that differ
until they are closed."""

lines_by_subject = cache(lines_of)


def kept_states(kind: str) -> list[Any]:
    return [
        pytest.param(release, one, id=f"{release}-{one.recording}-{one.group_id or one.partition}")
        for release in releases()
        for one in kept(release)[1]
        if one.kind == kind
    ]


def rest_of_log(machine: GroupReplay, recorded: RecordedGroup, after: int, known: str) -> Any:
    """What the log tells after an offset, but for the facts of one kind."""
    machine.take_facts()
    for entry in recorded.entries:
        if entry.offset > after:
            machine.replay(entry)
    machine.flush()
    facts = [*machine.take_facts(), *machine.open_facts()]
    return fact_keys(fact for fact in facts if known != fact.KIND)


@pytest.mark.parametrize(("release", "one"), kept_states(LIFE))
def test_a_life_goes_on(release: str, one: KeptState) -> None:
    recorded, (after,) = group(one.recording, one.group_id), one.after
    known = MENDED.get((release, one.recording, one.group_id), "")
    whole = machine_of(recorded)
    for entry in recorded.entries:
        if entry.offset <= after:
            whole.replay(entry)
    whole.flush()
    restored = GroupReplay.restore(
        recorded.group_id,
        recorded.offsets_partition,
        recorded.names,
        one.data,
    )
    wanted = rest_of_log(whole, recorded, after, known)
    got = rest_of_log(restored, recorded, after, known)
    assert got == wanted, difference(wanted, got)


def rest_of_lines(machine: EvidenceReplay, lines: list[Line], recording: str) -> Counter[str]:
    machine.take_facts()
    for line in lines:
        machine.replay(line)
    machine.forget(newest_ms(recording))
    return Counter(map(repr, [*machine.take_facts(), *machine.open_facts()]))


@pytest.mark.parametrize(("release", "one"), kept_states(EVIDENCE))
def test_evidence_goes_on(release: str, one: KeptState) -> None:
    lines = lines_by_subject(one.recording)[one.group_id or None, one.partition]
    rest = [line for line in lines if place(line) > one.after]
    whole = EvidenceReplay(one.group_id)
    for line in lines[: len(lines) - len(rest)]:
        whole.replay(line)
    restored = EvidenceReplay.restore(one.group_id, one.data)
    wanted = rest_of_lines(whole, rest, one.recording)
    assert rest_of_lines(restored, rest, one.recording) == wanted


@pytest.mark.parametrize("release", releases())
def test_fields_mean_what_they_meant_or_have_a_converter(release: str) -> None:
    """Of one version a field has the same type and default for ever: where this fails, give it the
    next version and a converter. A default may come to a field that had none."""
    now = fields_now()
    for kind, classes in kept(release)[0].items():
        for name, fields in classes.items():
            today = now[kind].get(RENAMED[kind].get(name, name), {})
            for field in fields.keys() & today.keys():
                version, type_then, default_then = fields[field]
                if version == today[field][0]:
                    default = REQUIRED if default_then == REQUIRED else today[field][2]
                    for old, new in RENAMED[kind].items():
                        type_then = re.sub(rf"\b{old}\b", new, type_then)
                    assert (type_then, default_then) == (today[field][1], default), (name, field)
                else:
                    assert (name, field, version) in CONVERTERS[kind], (name, field)


@pytest.mark.parametrize("release", releases())
def test_fields_that_came_later_have_a_default(release: str) -> None:
    now = fields_now()
    for kind, classes in kept(release)[0].items():
        for name, fields in classes.items():
            today = now[kind].get(RENAMED[kind].get(name, name), {})
            new = {field for field, (_, _, default) in today.items() if default == REQUIRED}
            assert new <= fields.keys(), f"of {name}: states of {release} do not have them"


def test_every_release_has_its_states() -> None:
    """`kept_states` says how they are added."""
    assert groupreplay.__version__ in releases()
    for release in releases():
        kinds = Counter(one.kind for one in kept(release)[1])
        assert kinds[LIFE] >= 80, release
        assert kinds[EVIDENCE] >= 80, release
