"""Records of streams groups (KIP-1071) written in few words; one that ends in `x` is a tombstone:

    {streams_group: 3, hash: 7, validated: 0, configs: {num.standby.replicas: 1}, stored: 0, failed:
    0}                                            K17; validated, stored, failed: topology epochs
    {streams_member: A, process: p1, instance: i, rack: r, client: c, host: h, timeout: 300000,
    topology: 0, endpoint: "h:80", tags: {zone: a}}                            K19
    {streams_target_epoch: 3, stamp: 0}           K20
    {streams_target: A, active: [0-0], standby: [0-1], warmup: []}             K21
    {streams_current: A, epoch: 3, prev: 2, state: STABLE, active: [0-0], standby: [], warmup: [],
    pending: [0-1], pending_standby: [], pending_warmup: [], epochs: {0-0: 3}} K22
    {streams_topology: 0, subtopologies: {0: {sources: [foo], regexes: [], changelogs: [c], sinks:
    [], repartitions: []}}}                       K23

A task is `0-3`, because YAML reads 0_3 as a number. epochs: assignment epochs of active tasks
(4.2+). Values have every field that Kafka's layouts have (wire.records.layouts).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from groupreplay.records.others import OtherGroupRecord
from tests.support.words import FormError, Words

STATES = {"STABLE": 1, "UNREVOKED_TASKS": 2, "UNRELEASED_TASKS": 3}
ROLES = ("active", "standby", "warmup")

Value = dict[str, Any]
Maker = Callable[[Words, Any], Value]


def make(name: str, words: Words, first: Any, group: str, is_tombstone: bool) -> OtherGroupRecord:
    """The record that a form stands for.

    first: what its name is given: the member where the key has one.
    """
    key_type, has_member, value_of = FORMS[name]
    value = None if is_tombstone else value_of(words, first)
    return OtherGroupRecord(key_type, group, str(first) if has_member else "", value)


def parse_task(text: str) -> tuple[str, int]:
    """Subtopology and partition of a task written as `0-3`."""
    subtopology, dash, partition = str(text).rpartition("-")
    if not dash:
        raise FormError(f"no task: {text!r}")
    return subtopology, int(partition)


def _group(words: Words, first: Any) -> Value:
    configs = words.take("configs")
    return {
        "epoch": int(first),
        "metadata_hash": words.take("hash", 1),
        "validated_topology_epoch": words.take("validated", -1),
        "last_assignment_configs": None if configs is None else _pairs(configs),
        "stored_description_topology_epoch": words.take("stored", -1),
        "failed_description_topology_epoch": words.take("failed", -1),
    }


def _member(words: Words, first: Any) -> Value:
    endpoint = words.take("endpoint")
    host, _, port = (endpoint or "").rpartition(":")
    return {
        "instance_id": words.take("instance"),
        "rack_id": words.take("rack"),
        "client_id": words.take("client", str(first)),
        "client_host": words.take("host", "/host"),
        "rebalance_timeout_ms": words.take("timeout", 300_000),
        "topology_epoch": words.take("topology", 0),
        "process_id": str(words.take("process", f"process-{first}")),
        "user_endpoint": None if endpoint is None else {"host": host, "port": int(port)},
        "client_tags": _pairs(words.take("tags", {})),
    }


def _target_epoch(words: Words, first: Any) -> Value:
    return {"assignment_epoch": int(first), "assignment_timestamp": words.take("stamp", 0)}


def _target(words: Words, first: Any) -> Value:
    return {f"{role}_tasks": _tasks(words.take(role, [])) for role in ROLES}


def _current(words: Words, first: Any) -> Value:
    epoch, state = int(words.take("epoch", 1)), words.take("state", "STABLE")
    epochs = {parse_task(task): each for task, each in words.take("epochs", {}).items()}
    held = {f"{role}_tasks": _tasks(words.take(role, []), epochs) for role in ROLES}
    pending = {
        f"{role}_tasks_pending_revocation": _tasks(
            words.take("pending" if role == "active" else f"pending_{role}", []), epochs
        )
        for role in ROLES
    }
    return {
        "member_epoch": epoch,
        "previous_member_epoch": int(words.take("prev", epoch)),
        "state": STATES[state],
        **held,
        **pending,
    }


def _topology(words: Words, first: Any) -> Value:
    listed = words.take("subtopologies", {0: {"sources": ["foo"], "changelogs": ["changelog"]}})
    return {
        "epoch": int(first),
        "subtopologies": tuple(
            _subtopology(str(name), Words(each)) for name, each in listed.items()
        ),
    }


def _subtopology(name: str, words: Words) -> Value:
    made = {
        "subtopology_id": name,
        "source_topics": tuple(words.take("sources", [])),
        "source_topic_regex": tuple(words.take("regexes", [])),
        "state_changelog_topics": _topics(words.take("changelogs", [])),
        "repartition_sink_topics": tuple(words.take("sinks", [])),
        "repartition_source_topics": _topics(words.take("repartitions", [])),
        "copartition_groups": (),
    }
    words.finish()
    return made


def _topics(names: Iterable[str]) -> tuple[Value, ...]:
    return tuple(
        {"name": name, "partitions": 0, "replication_factor": -1, "topic_configs": ()}
        for name in names
    )


def _pairs(given: Mapping[str, Any]) -> tuple[Value, ...]:
    return tuple({"key": str(key), "value": str(value)} for key, value in given.items())


def _tasks(
    listed: Iterable[str], epochs: Mapping[tuple[str, int], int] | None = None
) -> tuple[Value, ...]:
    """epochs: assignment epochs of the tasks that have one; a K21 (None) has no such field."""
    found: dict[str, list[int]] = {}
    for subtopology, partition in map(parse_task, listed):
        found.setdefault(subtopology, []).append(partition)
    made: list[Value] = []
    for subtopology, partitions in found.items():
        tasks: Value = {"subtopology_id": subtopology, "partitions": tuple(partitions)}
        if epochs is not None:
            stamps = [epochs[subtopology, p] for p in partitions if (subtopology, p) in epochs]
            tasks["assignment_epochs"] = tuple(stamps) or None
        made.append(tasks)
    return tuple(made)


FORMS: dict[str, tuple[int, bool, Maker]] = {
    "streams_group": (17, False, _group),
    "streams_member": (19, True, _member),
    "streams_target_epoch": (20, False, _target_epoch),
    "streams_target": (21, True, _target),
    "streams_current": (22, True, _current),
    "streams_topology": (23, False, _topology),
}
"""Name -> key type, whether its key has a member, what makes its value."""
