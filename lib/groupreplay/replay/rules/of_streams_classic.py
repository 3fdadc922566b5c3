"""Checks of what a K2 of Kafka Streams (classic protocol) gives: tasks, versions, times.

All but S9, S13 and S16 look at one K2 alone, so no hole explains what they find. Source:
StreamsPartitionAssignor, StreamsAssignor, AssignmentInfo.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from groupreplay.records.classic import GroupMember, GroupMetadataValue, NamedPartitions
from groupreplay.records.entries import Entry
from groupreplay.records.streams import LATEST_OFFSET, NEWER_STREAMS_METADATA
from groupreplay.replay.kept.streams_tasks import (
    Generation,
    MemberTasks,
    Task,
    TopicPartition,
    task_text,
)
from groupreplay.replay.rules.finding import Finding

JOINS_HALF = 128
"""Half of what a join count can be: one that grew by more went back (int8, modulo 256)."""

Owners = dict[TopicPartition, list[str]]


def all_read(entry: Entry, value: GroupMetadataValue) -> Iterator[Finding]:
    """S1: the K2 says what tasks its members have. `undecoded` says why one does not."""
    reasons = [m.streams_error for m in value.members if m.streams_error is not None]
    unread = [reason for reason in reasons if NEWER_STREAMS_METADATA not in reason]
    if unread:
        params = {"members": str(len(unread))}
        yield Finding("S1", entry.ts_ms, entry.offset, "USER_DATA_UNREAD", params)


class GenerationRules:
    """The rules of one K2 that was read whole."""

    def __init__(
        self, before: Generation | None, now: Generation, value: GroupMetadataValue, assignor: str
    ) -> None:
        """before: generation before, None where it was not seen.
        assignor: assignor of the group, as in `StreamsState`.
        """
        self._now = now
        self._before = before
        self._assignor = assignor
        self._listed = value.members
        self._given = {m.member_id: _given(m) for m in value.members}
        self._owned = {m.member_id: _owned(m) for m in value.members}
        self._repeats = before is not None and before.epoch == now.epoch

    def judge(self) -> Iterator[Finding]:
        """What the K2 breaks."""
        yield from self._entries()
        yield from self._owners()
        yield from self._sums()
        yield from self._versions()
        yield from self._alike()
        yield from self._times()
        if self._before is not None:
            yield from self._since(self._before)

    def _found(self, rule: str, code: str, **params: str) -> Finding:
        return Finding(rule, self._now.at, self._now.offset, code, params)

    # ------------------------------------------------------------ entries

    def _entries(self) -> Iterator[Finding]:
        """S2, S3: the n-th assigned partition is of the n-th active entry."""
        for member in self._listed:
            given = member.assignment.streams if member.assignment is not None else None
            if given is None:
                continue
            listed = self._given[member.member_id]
            if len(given.active) != len(listed):
                yield self._found(
                    "S2",
                    "ENTRIES_DIFFER",
                    member=member.member_id,
                    entries=str(len(given.active)),
                    partitions=str(len(listed)),
                )
            else:
                pairs = zip(given.active, sorted(listed), strict=True)
                copies = ((task, tp) for task, tps in given.standby.items() for tp in tps)
                for task, (topic, partition) in (*pairs, *copies):
                    if task[1] != partition:
                        yield self._found(
                            "S3",
                            "NOT_ITS_PARTITION",
                            member=member.member_id,
                            task=task_text(task),
                            topic=topic,
                            partition=str(partition),
                        )
                        break

    # ------------------------------------------------------------ who has what

    def _owners(self) -> Iterator[Finding]:
        """S4 to S7: one owner, after the one before let go, and once in a process."""
        for (topic, partition), holders in _shared(self._given):
            yield self._found(
                "S4", "GIVEN_TO_SEVERAL", topic=topic, partition=str(partition), holders=holders
            )
        members = self._now.members
        for task, holders in _shared({i: m.given for i, m in members.items()}):
            yield self._found("S5", "ACTIVE_AT_SEVERAL", task=task_text(task), holders=holders)
        yield from self._owned_by_others()
        for process, threads in self._now.threads.items():
            tasks = [task for m in threads for task in (*m.given, *m.replicas)]
            if len(tasks) != len(set(tasks)):
                task, times = Counter(tasks).most_common(1)[0]
                yield self._found(
                    "S7",
                    "SEVERAL_IN_PROCESS",
                    task=task_text(task),
                    times=str(times),
                    process=process,
                )

    def _owned_by_others(self) -> Iterator[Finding]:
        """S6. A partition that several say they own is left out: one of them is wrong."""
        new = {i: given - self._owned[i] for i, given in self._given.items()}
        all_new = frozenset[TopicPartition]().union(*new.values())
        owners: Owners = {}
        for member_id, owned in self._owned.items():
            for tp in owned & all_new:
                owners.setdefault(tp, []).append(member_id)
        for tp, had in sorted(owners.items()):
            for member_id in (i for i, given in new.items() if tp in given and len(had) == 1):
                yield self._found(
                    "S6",
                    "GIVEN_WHILE_OWNED",
                    topic=tp[0],
                    partition=str(tp[1]),
                    member=member_id,
                    holder=had[0],
                )

    # ------------------------------------------------------------ what members say

    def _sums(self) -> Iterator[Finding]:
        """S8. Members of eager groups own nothing when they join, whatever they run (up to 3.9)."""
        for member_id, member in self._now.members.items():
            numbers = {partition for _, partition in self._owned[member_id]}
            for task, reached in member.sums.items() if numbers else ():
                if reached == LATEST_OFFSET and task[1] not in numbers:
                    yield self._found("S8", "RUNS_UNOWNED", member=member_id, task=task_text(task))

    def _versions(self) -> Iterator[Finding]:
        """S10. A leader that is older than a member cannot read what the member can. An error is
        sent in the leader's own version. A member that came back to a generation has a version of
        its own.
        """
        members = self._now.members
        leader = members.get(self._now.leader or "")
        lowest = min(m.version for m in members.values())
        usable = min(m.latest_version for m in members.values())
        if (
            self._before is None
            or self._repeats
            or self._now.error
            or leader is None
            or leader.latest_version < max(m.version for m in members.values())
        ):
            return
        for member_id, member in members.items():
            for given, wanted in ((member.used_version, lowest), (member.usable_version, usable)):
                if given > 0 and given != wanted:
                    yield self._found(
                        "S10",
                        "VERSION_NOT_LOWEST",
                        member=member_id,
                        version=str(given),
                        lowest=str(wanted),
                    )

    def _alike(self) -> Iterator[Finding]:
        """S11, S15: an error, and the map of hosts, are the same in all assignments."""
        given = [
            (m.member_id, m.assignment.streams)
            for m in self._listed
            if m.assignment is not None and m.assignment.streams is not None
        ]
        codes = {info.error_code for _, info in given}
        if len(codes) > 1:
            yield self._found(
                "S11", "ERRORS_DIFFER", codes=json.dumps([str(code) for code in sorted(codes)])
            )
        for member_id, info in given[1:]:
            if info.hosts != given[0][1].hosts:
                yield self._found("S15", "HOSTS_DIFFER", member=member_id, other_member=given[0][0])
                break

    def _times(self) -> Iterator[Finding]:
        """S12, of the highly available assignor alone: others may have any member ask."""
        asked = [m for m in self._now.members.values() if m.next_ms]
        leader = self._now.leader_process_id
        is_wrong = len(asked) > 1 or any(m.process_id != leader for m in asked)
        if is_wrong and self._assignor == "HIGH_AVAILABILITY" and leader is not None:
            yield self._found(
                "S12",
                "PROBES_ELSEWHERE",
                holders=json.dumps(sorted(m.member_id for m in asked)),
                process=leader,
            )

    # ------------------------------------------------------------ against the K2 before

    def _since(self, before: Generation) -> Iterator[Finding]:
        for member_id, member in self._now.members.items():
            earlier = before.members.get(member_id)
            if earlier is not None:
                yield from self._joins(earlier, member)
                yield from self._falling(earlier, member)
        if not self._repeats and not self._now.error:
            yield from self._followup()

    def _joins(self, earlier: MemberTasks, member: MemberTasks) -> Iterator[Finding]:
        """S9. More generations than it can count may lie between."""
        count, had = member.unique_field, earlier.unique_field
        between = self._now.epoch - (self._before.epoch if self._before is not None else 0)
        if count is None or had is None or not 0 < between < JOINS_HALF:
            return
        if not 0 < (count - had) % 256 < JOINS_HALF:
            yield self._found(
                "S9",
                "JOINS_NOT_COUNTED",
                member=member.member_id,
                joins=str(count),
                before=str(had),
            )

    def _falling(self, earlier: MemberTasks, member: MemberTasks) -> Iterator[Finding]:
        """S16, of a replica that it kept."""
        for task in earlier.replicas & member.replicas:
            had, has = earlier.sums.get(task), member.sums.get(task)
            if had is not None and has is not None and 0 <= has < had:
                yield self._found(
                    "S16",
                    "SUM_FALLS",
                    member=member.member_id,
                    task=task_text(task),
                    first_sum=str(had),
                    last_sum=str(has),
                )

    def _followup(self) -> Iterator[Finding]:
        """S13. What is not read any more is taken from its owner, and goes to nobody."""
        topics = {topic for member in self._now.members.values() for topic in member.topics}
        given = frozenset[TopicPartition]().union(*self._given.values())
        lost = {tp for owned in self._owned.values() for tp in owned - given if tp[0] in topics}
        due = self._now.due()
        if lost and not due:
            names = sorted({f"{topic}-{partition}" for topic, partition in lost})
            yield self._found("S13", "LOST_AND_NOT_OWED", inputs=json.dumps(names))
        taken = any(self._owned[i] - self._given[i] for i in self._owned)
        if due and not taken:
            yield self._found(
                "S13",
                "OWED_AND_NOT_LOST",
                holders=json.dumps(sorted(m.member_id for m in due)),
            )


def _given(member: GroupMember) -> frozenset[TopicPartition]:
    return _pairs(member.assignment.assigned_partitions if member.assignment is not None else ())


def _owned(member: GroupMember) -> frozenset[TopicPartition]:
    return _pairs(member.subscription.owned_partitions if member.subscription is not None else ())


def _pairs(topics: Iterable[NamedPartitions]) -> frozenset[TopicPartition]:
    return frozenset((each.topic, partition) for each in topics for partition in each.partitions)


def _shared(held: Mapping[str, Collection[Task]]) -> Iterator[tuple[Task, str]]:
    """What several members have, and a JSON array of their ids."""
    if sum(map(len, held.values())) == len(frozenset[Task]().union(*held.values())):
        return
    holders: dict[Task, list[str]] = {}
    for member_id, units in held.items():
        for unit in units:
            holders.setdefault(unit, []).append(member_id)
    for unit, ids in sorted(holders.items()):
        if len(ids) > 1:
            yield unit, json.dumps(sorted(ids))
