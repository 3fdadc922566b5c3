"""Situations, one YAML file each under tests/scenarios/replay: what is written, and what the replay
must make of it.

    why:       what it shows, in a sentence or two
    source:    the section of measures.md, the KIP, the Kafka class, or the recording with its
    records
    names:     topic id -> name that a topics source gives; default foo, bar and baz. {} for none
    records:   a list: each element one write of the coordinator (one batch, one time, one second
    after the one before): a form of
               tests/support/building.py, or a list of them; or a directive for what follows: {at:
               ms}, {leader: epoch}, {skip: n}, {hole: n}
    facts:     kind -> every row of that kind, in the order of their offsets, with the fields that
    matter; kinds that are not named are not looked at.
               {of: {field: value}, rows: [..]} looks at those rows alone. {} where nothing is
               expected, and then no fact may come
    anomalies: all of them; [] where none may be

Offsets count from 0, times from 1000. Words that are not of the form fail, and so does what is left
out. Every log is also cut everywhere.

Holds replay/machine.py, replay/protocols/consumer.py, replay/protocols/consumer_groups.py.
Holds replay/protocols/conversion.py, replay/protocols/conversion_names.py.
Holds replay/streams/classic/streams_stalls.py.
Holds replay/streams/classic/task_hands.py, replay/streams/groups/group_tasks.py.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from groupreplay.replay.facts import FACTS, Anomaly, Fact, GroupSnapshot
from tests.support.building import NAMES, Log
from tests.support.replaying import boundaries, difference, fact_keys, replayed
from tests.support.yaml_text import safe_load

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios" / "replay"
_KINDS = {fact.KIND: {field.name for field in dataclasses.fields(fact)} for fact in FACTS}
_WORDS = {"why", "source", "names", "records", "facts", "anomalies"}
_DIRECTIVES = {"at", "leader", "skip", "hole"}


def load(path: Path) -> dict[str, Any]:
    """A scenario whose words are all there and all known."""
    scenario: dict[str, Any] = safe_load(path.read_text())
    unknown, missing = scenario.keys() - _WORDS, _WORDS - {"names"} - scenario.keys()
    assert not unknown, f"{path.name}: unknown {sorted(unknown)}"
    assert not missing, f"{path.name}: {sorted(missing)} must be said"
    for kind, expected in scenario["facts"].items():
        assert kind in _KINDS, f"{path.name}: no fact of kind {kind!r}"
        rows, of = expected_rows(expected)
        for row in (*rows, of):
            assert row.keys() <= _KINDS[kind], (
                f"{path.name}: {kind} has no {sorted(row.keys() - _KINDS[kind])}"
            )
    for row in scenario["anomalies"]:
        assert row.keys() <= _KINDS[Anomaly.KIND], (
            f"{path.name}: an anomaly has no {sorted(row.keys() - _KINDS[Anomaly.KIND])}"
        )
    return scenario


def expected_rows(expected: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """(rows, what they are chosen by)."""
    if isinstance(expected, list):
        return expected, {}
    assert expected.keys() == {"of", "rows"}, f"neither a list nor {{of, rows}}: {expected}"
    return expected["rows"], expected["of"]


def log_of(records: list[Any]) -> Log:
    log = Log()
    for element in records:
        if isinstance(element, Mapping) and element.keys() <= _DIRECTIVES:
            direct(log, element)
        else:
            log.write(*(element if isinstance(element, list) else [element]))
    return log


def direct(log: Log, directive: Mapping[str, int]) -> None:
    if "at" in directive:
        log.at(directive["at"])
    if "leader" in directive:
        log.leader(directive["leader"])
    if "skip" in directive:
        log.skip(directive["skip"], is_hole=False)
    if "hole" in directive:
        log.skip(directive["hole"])


def shown(facts: list[Fact], fields: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The facts, each with the fields that the expected row in its place names; with all that any
    row names where their number differs.
    """
    if len(facts) != len(fields):
        every = dict.fromkeys(name for row in fields for name in row) or {
            "from_offset": None,
            "to_offset": None,
        }
        return [{name: getattr(fact, name) for name in every} for fact in facts]
    return [
        {name: getattr(fact, name) for name in row} for fact, row in zip(facts, fields, strict=True)
    ]


def in_order(facts: list[Fact]) -> list[Fact]:
    def place(fact: Fact) -> tuple[Any, ...]:
        names = (
            *("member_id", "topic_id", "topic", "subtopology", "partition", "role"),
            *("rule", "reason", "epoch", "process_id", "from_member_id"),
        )
        return (fact.from_offset, *(str(getattr(fact, name, "")) for name in names))

    return sorted(facts, key=place)


def check(kind: str, facts: list[Fact], expected: Any) -> list[str]:
    """A readable difference between what came and what was expected; [] where there is none."""
    rows, of = expected_rows(expected)
    came = in_order(
        [
            fact
            for fact in facts
            if kind == fact.KIND and all(getattr(fact, name) == value for name, value in of.items())
        ]
    )
    got = shown(came, rows)
    if got == rows:
        return []
    return [
        f"--- {kind}: expected (-), came (+)",
        *difflib.ndiff([str(row) for row in rows], [str(row) for row in got]),
    ]


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.yaml")), ids=lambda path: path.stem)
def test_scenario(path: Path) -> None:
    scenario = load(path)
    entries = log_of(scenario["records"]).entries
    names = scenario.get("names", NAMES)
    facts = replayed(entries, names)
    problems = check(Anomaly.KIND, facts, scenario["anomalies"])
    for kind, expected in scenario["facts"].items():
        problems += check(kind, facts, expected)
    if not scenario["facts"]:
        problems += [f"unexpected: {fact}" for fact in facts]
    assert not problems, "\n".join((scenario["why"], *problems))
    wanted = fact_keys(facts)
    for cuts in [[place] for place in boundaries(entries)] + [boundaries(entries)]:
        got = fact_keys(replayed(entries, names, cuts))
        assert got == wanted, f"cut at {cuts}:\n{difference(wanted, got)}"


def test_there_are_scenarios_of_everything_a_hand_over_can_come_to() -> None:
    """Outcomes, end reasons and causes that the tables name, each in some scenario's
    expectations.
    """
    found: set[str] = set()
    for path in SCENARIOS.glob("*.yaml"):
        for expected in load(path)["facts"].values():
            found |= {
                str(value)
                for row in expected_rows(expected)[0]
                for name, value in row.items()
                if name in ("outcome", "end_reason", "cause", "phase")
            }
    outcomes = {
        "ACKED",
        "FENCED",
        "LEFT",
        "LEFT_OR_FENCED",
        "CANCELLED",
        "REPLACED",
        "UNOBSERVED",
        "OPEN",
        "CONVERGED",
        "SUPERSEDED",
    }
    end_reasons = {
        "REVOKED",
        "LEFT_OR_FENCED",
        "REPLACED",
        "TOPIC_REMOVED",
        "GROUP_REMOVED",
        "UNOBSERVED",
        "OPEN",
    }
    causes = {
        *(
            "UPGRADE",
            "DOWNGRADE",
            "STATIC_REPLACED",
            "LEFT_OR_FENCED",
            "JOIN",
            "SUBSCRIPTION",
            "REGEX",
            "ASSIGNOR",
            "TOPIC_METADATA",
            "UNKNOWN",
        ),
    }
    phases = {
        "NOT_APPLICABLE",
        "EMPTY",
        "CLASSIC",
        "ROLLED_BACK",
        "MIGRATING",
        "MIGRATED",
        "NATIVE",
        "CONSUMER",
    }
    assert not (outcomes | end_reasons | causes | phases) - found


def test_there_are_scenarios_of_all_that_a_streams_group_can_show() -> None:
    """Values that docs/streams.md names for groups of the streams protocol."""
    expected: dict[str, set[str]] = {}
    for path in SCENARIOS.glob("streams_group_*.yaml"):
        for kind, facts in load(path)["facts"].items():
            for row in expected_rows(facts)[0]:
                for name, value in row.items():
                    expected.setdefault(f"{kind}.{name}", set()).add(str(value))
    causes = {"STATIC_REPLACED", "JOIN", "LEFT_OR_FENCED", "TOPOLOGY_VALIDATED", "TOPIC_METADATA"}
    causes |= {"CONFIG", "MEMBER_METADATA", "REFINED", "UNKNOWN"}
    ends = {"REVOKED", "PROMOTED", "DEMOTED", "WITHDRAWN", "MOVED_IN_PROCESS", "LEFT_OR_FENCED"}
    wanted = {
        "streams_rebalance.cause": causes,
        "streams_rebalance.outcome": {"CONVERGED", "SUPERSEDED", "OPEN"},
        "held_task.end_reason": ends | {"REPLACED", "UNOBSERVED", "OPEN"},
        "held_task.role": {"ACTIVE", "STANDBY"},
        "task_hand_over.hand_over_kind": {"WARMED", "COLD", "IN_PROCESS"},
        "task_hand_over.cause": {"REBALANCED", "OWNER_GONE", "STATELESS"},
        "task_hand_over.outcome": {"TRANSFERRED", "RETURNED", "OWNER_GONE", "TASK_REMOVED"},
        "streams_process.end_reason": {"LEFT_OR_FENCED", "UNOBSERVED", "OPEN"},
        "conversion.direction": {"TO_STREAMS", "FROM_STREAMS"},
    }
    for name, values in wanted.items():
        assert values <= expected[name], name


def test_a_fact_that_is_not_expected_fails() -> None:
    facts = replayed(
        log_of([[{"k5": "A"}, {"k3": 1}, {"k7": "A"}, {"k6": 1}, {"k8": "A", "prev": 0}]]).entries,
        NAMES,
    )
    assert not check("epoch", facts, [{"epoch": 1, "cause": "JOIN"}])
    assert check("epoch", facts, [])
    assert check("epoch", facts, [{"epoch": 1, "cause": "LEFT_OR_FENCED"}])
    assert check("epoch", facts, [{"epoch": 1}, {"epoch": 2}])
    assert not check("epoch", facts, {"of": {"epoch": 2}, "rows": []})


@pytest.mark.parametrize(
    "records",
    [
        [{"k5": "A", "colour": "red"}],
        [{"k99": 1}],
        [{"at": 5, "k3": 1}],
        [{"k2": 1, "members": {"a": {"assigned": {}, "colour": 1}}}],
    ],
)
def test_a_word_that_is_not_of_the_form_fails(records: list[Any]) -> None:
    with pytest.raises((AssertionError, ValueError)):
        log_of(records)


def test_a_snapshot_is_a_fact_like_others() -> None:
    assert GroupSnapshot.KIND in _KINDS
