"""Committed offsets: first ones after a hand-over, last ones before, and who of a group's members
is quiet.
"""

from __future__ import annotations

from groupreplay.records.entries import Entry
from groupreplay.records.offsets import OffsetCommit
from groupreplay.replay.assignment.membership import Membership
from groupreplay.replay.assignment.topic_names import learn_topic
from groupreplay.replay.life import CLASSIC


def apply_commit(membership: Membership, entry: Entry, commit: OffsetCommit) -> None:
    """Takes a commit, or its tombstone."""
    life = membership.life
    key = (commit.topic, commit.partition)
    if commit.value is None:
        life.commits.pop(key, None)
        life.committed.pop(key, None)
        return
    topic_id = commit.value.topic_id
    offset, at, _, _, last_hole, _ = entry
    if topic_id is not None and topic_id not in life.topic_names:
        learn_topic(membership, entry, topic_id, commit.topic, None, "K1")
    # The partition as the group's protocol names it; every id of that name where the record has
    # none.
    if life.protocol == CLASSIC:
        meant = [key]
    elif topic_id is not None:
        meant = [(topic_id, commit.partition)]
    else:
        meant = [(each, commit.partition) for each in membership.names.ids(commit.topic)]
    for tp in meant:
        if tp in life.trails:
            membership.owners.first_commit(tp, at, offset, last_hole, commit.value.offset)
        if tp in life.stops:
            membership.transitions.stop_ended(tp, at, last_hole)
        for member_id in life.holders.get(tp, ()):
            membership.quiet.committed(life.members[member_id], at, offset, last_hole)
    life.commits[key] = (at, offset)
    life.committed[key] = commit.value.offset
