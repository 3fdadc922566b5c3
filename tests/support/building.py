"""Records and logs written in few words: the forms that scenario files and tests use.

A form is a mapping of which one key names the record; one that ends in `x` its tombstone:

    {k1: foo-0}                                   commit (committed: its position, topic_id: as
    version 4 has it);  {k1x: foo-0}
    {k2: 5, protocol: stream, members: {a: {process: 1, has: [0-0]}}}   Kafka Streams (`_stream_thread`)
    {k2: 5, members: {a: {foo: [0, 1]}}}          classic group in generation 5 (type, protocol,
    leader, stamp);    {k2x: true}; of a stream thread also what it owned, the generation it joined
    in, and user data in base64: {k2: 5, protocol: stream, members: {a: {owned: {foo: [0]},
    joined_in: 4, said: AAAACw.., assigned: {foo: [1]}, given: AAAACw..}}}
    {k3: 5, hash: 7}    {k4: {foo: 3}}    {k6: 5, stamp: 1}    {k16: "f.*", topics: [foo]}
    {k5: A, topics: [foo], instance: i, client: c, host: h, regex: "f.*", assignor: uniform,
    timeout: 45000, classic: true}
    {k7: A, target: {foo: [0, 1]}}
    {k8: A, epoch: 5, prev: 4, state: STABLE, assigned: {foo: [0, 1]}, pending: {foo: [2]}, epochs:
    {foo: [5, 5]}}
    {other: 11, member: m, value: {epoch: 1}}     a record of a share or streams group;
    {otherx: 11, member: m}; those of streams groups have names (tests/support/streams_forms.py)

Partitions are a mapping topic -> partitions, or a list of such; the id of topic `foo` is `foo-id`.
A word that is not of its form is an error.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any
from uuid import UUID

from groupreplay.records.classic import (
    Assignment,
    GroupMember,
    GroupMetadata,
    GroupMetadataValue,
    NamedPartitions,
    Subscription,
)
from groupreplay.records.consumer import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadata,
    ConsumerGroupMetadataValue,
    ConsumerGroupPartitionMetadata,
    ConsumerGroupPartitionMetadataValue,
    ConsumerGroupRegularExpression,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadata,
    ConsumerGroupTargetAssignmentMetadataValue,
    TopicMetadata,
    TopicPartitions,
)
from groupreplay.records.entries import Entry, Record
from groupreplay.records.offsets import OffsetCommit, OffsetCommitValue
from groupreplay.records.others import OtherGroupRecord
from groupreplay.records.streams import AssignmentInfo, SubscriptionInfo
from groupreplay.wire.records.group_metadata import group_metadata_value
from tests.support import streams_forms
from tests.support.words import Form, FormError, Words

GROUP = "g"
STATES = {"STABLE": 0, "UNREVOKED_PARTITIONS": 1, "UNRELEASED_PARTITIONS": 2}
STEP_MS = 1000
"""A log's clock goes on by this between two writes that do not say when they happen."""


def topic_id(topic: str) -> str:
    """The id of a topic that tests only give a name."""
    return f"{topic}-id"


NAMES = {topic_id(topic): topic for topic in ("foo", "bar", "baz")}
"""What a topics source would say of the usual topics."""


def record(form: Form, group: str = GROUP) -> Record:
    """The record that a form stands for. Raises FormError."""
    kinds = [word for word in form if word.removesuffix("x") in _MAKERS]
    if len(kinds) != 1:
        raise FormError(f"{form}: names {len(kinds)} records, not one")
    words = Words(form)
    made = _MAKERS[kinds[0].removesuffix("x")](
        words, words.take(kinds[0]), group, kinds[0].endswith("x")
    )
    words.finish()
    return made


def _partitions(given: Any) -> list[tuple[str, list[int]]]:
    """(topic, partitions), from a mapping or a list of mappings."""
    mappings: Iterable[Mapping[str, list[int]]] = (
        given if isinstance(given, list) else [given or {}]
    )
    return [
        (topic, list(partitions)) for mapping in mappings for topic, partitions in mapping.items()
    ]


def _by_id(given: Any, epochs: Any = None) -> tuple[TopicPartitions, ...]:
    stamps = dict(_partitions(epochs))
    return tuple(
        TopicPartitions(
            topic_id(topic), tuple(partitions), tuple(stamps[topic]) if topic in stamps else None
        )
        for topic, partitions in _partitions(given)
    )


def _by_name(given: Any) -> tuple[NamedPartitions, ...]:
    return tuple(
        NamedPartitions(topic, tuple(partitions)) for topic, partitions in _partitions(given)
    )


def _k1(words: Words, first: Any, group: str, is_tombstone: bool) -> Record:
    topic, _, partition = str(first).rpartition("-")
    if is_tombstone:
        return OffsetCommit(group, topic, int(partition), None)
    value = OffsetCommitValue(
        words.take("committed", 0), words.take("commit_at", 0), words.take("topic_id")
    )
    return OffsetCommit(group, topic, int(partition), value)


def _k2(words: Words, first: Any, group: str, is_tombstone: bool) -> Record:
    if is_tombstone:
        return GroupMetadata(group, None)
    members: dict[str, Any] = words.take("members", {})
    protocol_type = words.take("type", "consumer")
    protocol = words.take("protocol", "range" if members else None)
    leader = words.take("leader", next(iter(members), None))
    head = protocol_type, int(first), protocol, leader, words.take("stamp", -1)
    if any(isinstance(given, Mapping) and "process" in given for given in members.values()):
        lowest = min(given.get("version", 11) for given in members.values())
        usable = min(given.get("latest", 11) for given in members.values())
        threads = tuple(
            _stream_thread(
                member_id, {"unique": int(first), "used": lowest, "common": usable} | given
            )
            for member_id, given in members.items()
        )
        return GroupMetadata(group, GroupMetadataValue(*head, threads))
    listed = tuple(_k2_member(member_id, given or {}) for member_id, given in members.items())
    return GroupMetadata(group, group_metadata_value(*head, listed))


_K2_MEMBER = {"assigned", "topics", "instance", "client", "host", "timeout", "session"}
_K2_MEMBER |= {"owned", "joined_in", "said", "given", "rack", "version"}


def _k2_member(member_id: str, given: Any) -> tuple[Any, ...]:
    """Fields of a member. given: its partitions, or a mapping with any of _K2_MEMBER: `said` and
    `given` are user data of the subscription and of the assignment, in base64.
    """
    is_whole = isinstance(given, Mapping) and bool(given.keys() & _K2_MEMBER)
    words = Words(given if is_whole else {"assigned": given})
    assigned = words.take("assigned", {})
    topics = words.take("topics", [topic for topic, _ in _partitions(assigned)] or ["foo"])
    member = (
        member_id,
        words.take("instance"),
        words.take("client", member_id),
        words.take("host", "/host"),
        words.take("timeout", 60_000),
        words.take("session", 45_000),
        Subscription(
            tuple(topics),
            _by_name(words.take("owned", {})),
            words.take("joined_in", -1),
            words.take("rack"),
            version=words.take("version", 3),
            user_data=_user_data(words.take("said")),
        ),
        Assignment(_by_name(assigned), _user_data(words.take("given"))),
    )
    words.finish()
    return member


def _stream_thread(member_id: str, given: Any) -> GroupMember:
    """A member of Kafka Streams, by tasks instead of bytes.

    process: its number. owned, has, copies: tasks as `0-3`, because YAML reads 0_3 as a number.
        sums: task -> offsets. next: when to rejoin, ms; 0 at once. unread: why its user data cannot
        be read. unique, used, common: by `_k2`, where they are not given. Task 0-3 reads foo-3, 1-3
        bar-3.
    """
    words = Words(given)
    number, version = words.take("process"), words.take("version", 11)
    said = SubscriptionInfo(
        version,
        words.take("latest", 11),
        str(UUID(int=number)),
        {_task(each): reached for each, reached in words.take("sums", {}).items()},
        words.take("endpoint"),
        words.take("unique"),
        words.take("error", 0),
        words.take("tags", {}),
    )
    has, copies = words.take("has", []), words.take("copies", [])
    got = AssignmentInfo(
        words.take("used"),
        words.take("common"),
        tuple(sorted(map(_task, has), key=lambda t: (_TOPICS[t[0]], t[1]))),
        {task: ((_TOPICS[task[0]], task[1]),) for task in map(_task, copies)},
        words.take("assigned_error", 0),
        words.take("next"),
    )
    topics = tuple(words.take("topics", [*_inputs(has)] or ["foo"]))
    member = GroupMember(
        member_id,
        words.take("instance"),
        words.take("client", member_id),
        words.take("host", "/host"),
        words.take("timeout", 60_000),
        words.take("session", 45_000),
        Subscription(topics, _by_name(_inputs(words.take("owned", []))), streams=said),
        Assignment(_by_name(_inputs(has)), streams=got),
        words.take("unread"),
    )
    words.finish()
    return member


_TOPICS = {"0": "foo", "1": "bar"}


def _task(text: str) -> tuple[str, int]:
    subtopology, _, partition = text.partition("-")
    return subtopology, int(partition)


def _inputs(tasks: Iterable[str]) -> dict[str, list[int]]:
    """Topic -> partitions that tasks read."""
    found: dict[str, list[int]] = {}
    for subtopology, partition in map(_task, tasks):
        found.setdefault(_TOPICS[subtopology], []).append(partition)
    return found


def _user_data(given: str | None) -> bytes | None:
    return None if given is None else base64.b64decode(given, validate=True)


def _k3(words: Words, first: Any, group: str, is_tombstone: bool) -> Record:
    return ConsumerGroupMetadata(
        group,
        None if is_tombstone else ConsumerGroupMetadataValue(int(first), words.take("hash", 0)),
    )


def _k4(words: Words, first: Any, group: str, is_tombstone: bool) -> Record:
    if is_tombstone:
        return ConsumerGroupPartitionMetadata(group, None)
    topics = tuple(
        TopicMetadata(topic_id(topic), topic, partitions) for topic, partitions in first.items()
    )
    return ConsumerGroupPartitionMetadata(group, ConsumerGroupPartitionMetadataValue(topics))


def _k5(words: Words, first: Any, group: str, is_tombstone: bool) -> Record:
    if is_tombstone:
        return ConsumerGroupMemberMetadata(group, str(first), None)
    classic, topics = words.take("classic", False), tuple(words.take("topics", ["foo"]))
    metadata = (
        ClassicMemberMetadata(
            words.take("session", 45_000),
            (ClassicProtocol("range", Subscription(topics, version=3)),),
        )
        if classic
        else None
    )
    value = ConsumerGroupMemberMetadataValue(
        words.take("instance"),
        words.take("rack"),
        words.take("client", str(first)),
        words.take("host", "/host"),
        topics,
        words.take("regex", ""),
        words.take("timeout", 60_000),
        words.take("assignor"),
        metadata,
    )
    return ConsumerGroupMemberMetadata(group, str(first), value)


def _k6(words: Words, first: Any, group: str, is_tombstone: bool) -> Record:
    value = (
        None
        if is_tombstone
        else ConsumerGroupTargetAssignmentMetadataValue(int(first), words.take("stamp", 0))
    )
    return ConsumerGroupTargetAssignmentMetadata(group, value)


def _k7(words: Words, first: Any, group: str, is_tombstone: bool) -> Record:
    value = (
        None
        if is_tombstone
        else ConsumerGroupTargetAssignmentMemberValue(_by_id(words.take("target", {})))
    )
    return ConsumerGroupTargetAssignmentMember(group, str(first), value)


def _k8(words: Words, first: Any, group: str, is_tombstone: bool) -> Record:
    if is_tombstone:
        return ConsumerGroupCurrentMemberAssignment(group, str(first), None)
    epoch, state = int(words.take("epoch", 1)), words.take("state", "STABLE")
    value = ConsumerGroupCurrentMemberAssignmentValue(
        epoch,
        int(words.take("prev", epoch)),
        STATES[state] if isinstance(state, str) else int(state),
        _by_id(words.take("assigned", {}), words.take("epochs")),
        _by_id(words.take("pending", {})),
    )
    return ConsumerGroupCurrentMemberAssignment(group, str(first), value)


def _k16(words: Words, first: Any, group: str, is_tombstone: bool) -> Record:
    value = (
        None
        if is_tombstone
        else ConsumerGroupRegularExpressionValue(tuple(words.take("topics", [])), 1, 0)
    )
    return ConsumerGroupRegularExpression(group, str(first), value)


def _other(words: Words, first: Any, group: str, is_tombstone: bool) -> Record:
    member, value = words.take("member", ""), words.take("value", {})
    return OtherGroupRecord(int(first), group, member, None if is_tombstone else dict(value))


_Maker = Callable[[Words, Any, str, bool], Record]
_MAKERS: dict[str, _Maker] = {
    "k1": _k1,
    "k2": _k2,
    "k3": _k3,
    "k4": _k4,
    "k5": _k5,
    "k6": _k6,
    "k7": _k7,
    "k8": _k8,
    "k16": _k16,
    "other": _other,
    **{name: partial(streams_forms.make, name) for name in streams_forms.FORMS},
}


class Log:
    """A log of one group as it is written: offsets count up from 0, every write is one batch, the
    clock goes on by STEP_MS between writes.
    """

    def __init__(self, group: str = GROUP) -> None:
        self.entries: list[Entry] = []
        self._group = group
        self._offset = 0
        self._clock_ms = STEP_MS
        self._leader_epoch = 0
        self._hole = -1

    def at(self, clock_ms: int) -> Log:
        """When the next write happens, ms."""
        self._clock_ms = clock_ms
        return self

    def leader(self, leader_epoch: int) -> Log:
        """Another broker leads from here on."""
        self._leader_epoch = leader_epoch
        return self

    def skip(self, offsets: int, is_hole: bool = True) -> Log:
        """Offsets that hold nothing of this group; lost ones (a hole), or other groups' records."""
        self._offset += offsets
        self._hole = self._offset - 1 if is_hole else self._hole
        return self

    def write(self, *forms: Form | Record) -> list[Entry]:
        """One batch, at one time; gives its entries."""
        base = self._offset
        for form in forms:
            made = record(form, self._group) if isinstance(form, Mapping) else form
            self.entries.append(
                Entry(self._offset, self._clock_ms, self._leader_epoch, base, self._hole, made)
            )
            self._offset += 1
        self._clock_ms += STEP_MS
        return self.entries[-len(forms) :]
