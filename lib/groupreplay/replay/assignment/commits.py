"""Committed offsets: first ones after a hand-over, last ones before, and who of a group's members
is quiet.
"""

from __future__ import annotations

from groupreplay.records.entries import Entry
from groupreplay.records.offsets import OffsetCommit
from groupreplay.replay.assignment.membership import Membership
from groupreplay.replay.assignment.topic_names import learn_topic
from groupreplay.replay.life import CLASSIC, TopicPartition


def apply_commit(membership: Membership, entry: Entry, commit: OffsetCommit) -> None:
    """Takes a commit, or its tombstone."""
    life = membership.life
    key = (commit.topic, commit.partition)
    if commit.value is None:
        life.commits.pop(key, None)
        life.committed.pop(key, None)
        for tp in _meant(membership, key):
            membership.owners.forget_position(tp)
        return
    topic_id = commit.value.topic_id
    offset, at, _, _, last_hole, _ = entry
    if topic_id is not None and topic_id not in life.topic_names:
        learn_topic(membership, entry, topic_id, commit.topic, None, "K1")
    if topic_id is not None and life.protocol != CLASSIC:
        meant = [(topic_id, commit.partition)]
    elif len(holders := _holders_by_name(membership, key)) > 1:
        _take_of_anybody(membership, key, holders, offset)
        return
    else:
        meant = _meant(membership, key)
    for tp in meant:
        if tp in life.trails:
            membership.owners.first_commit(tp, at, offset, last_hole, commit.value.offset)
        if tp in life.stops:
            membership.transitions.stop_ended(tp, at, last_hole)
        for member_id in life.holders.get(tp, ()):
            membership.quiet.committed(life.members[member_id], at, offset, last_hole)
    life.commits[key] = (at, offset)
    if commit.value.offset is None:
        life.committed.pop(key, None)
    else:
        life.committed[key] = commit.value.offset


def _meant(membership: Membership, key: TopicPartition) -> list[TopicPartition]:
    """A partition as the group's protocol names it: where that is by ids, every id of the name; not
    of a topic that is gone while one of its name is there.
    """
    life, (topic, partition) = membership.life, key
    if life.protocol == CLASSIC:
        return [key]
    ids = membership.names.ids(topic)
    there = [topic_id for topic_id in ids if topic_id not in life.deleted_topics]
    return [(topic_id, partition) for topic_id in there or ids]


def _holders_by_name(membership: Membership, key: TopicPartition) -> set[str]:
    """Who holds a partition by one of several ids that its topic's name has; nobody where it has
    one.
    """
    life, (topic, partition) = membership.life, key
    ids = membership.names.ids(topic) if life.protocol != CLASSIC else []
    if len(ids) < 2:
        return set()
    held = [life.holders.get((topic_id, partition), ()) for topic_id in ids]
    return {member_id for members in held for member_id in members}


def _take_of_anybody(
    membership: Membership, key: TopicPartition, holders: set[str], offset: int
) -> None:
    """A topic was created again, and a commit names it alone. One member still has to give up the
    old one, and another has the new one: which of them read is not known.
    """
    life = membership.life
    life.commits.pop(key, None)
    life.committed.pop(key, None)
    for tp in _meant(membership, key):
        membership.owners.forget_position(tp)
        membership.owners.forget_first_commit(tp)
        if tp in life.stops:
            membership.transitions.end_stop(tp)
    for member_id in holders:
        membership.quiet.may_have_committed(life.members[member_id], offset)
