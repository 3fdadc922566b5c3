"""Names of topic ids, as a group's own records prove them.

K4 (up to 4.0) and K1 version 4 (4.1+, where filled) say them outright. On 4.1 and 4.2 neither does,
but a target and the subscriptions it was made for can leave one answer. Where all topics subscribed
to but one are in the target under ids whose names are known, and one id is left, that id is the
remaining topic's: a name has one id at a time. Anything less leaves it unnamed.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from groupreplay.records.entries import Entry
from groupreplay.replay.assignment.membership import Membership
from groupreplay.replay.change import Change
from groupreplay.replay.facts import TopicSeen
from groupreplay.replay.life import TopicPartition


def learn_topic(
    membership: Membership,
    entry: Entry,
    topic_id: str,
    topic: str,
    partitions: int | None,
    source: str,
) -> None:
    """Takes a topic's name from a record and emits it once a group.

    source: K1, K4, or SUBSCRIPTION where it follows from K5 and K7.
    """
    if membership.names.learn(topic_id, topic):
        life = membership.life
        membership.output.emit(
            TopicSeen(
                **life.place,
                from_offset=entry.offset,
                topic_id=topic_id,
                topic=topic,
                partitions=partitions,
                seen_at=entry.ts_ms,
                source=source,
            )
        )


def deduce_topic(membership: Membership, change: Change, entry: Entry) -> None:
    """At a K6: names the one id in the target that has no name, if one subscribed topic is left for
    it. Groups with a regex prove nothing, nor does who is left behind: the target is not of it.
    """
    life, gone = membership.life, change.left_behind
    members = [each for member_id, each in life.members.items() if member_id not in gone]
    ids = {tp[0] for tp, owner in life.target_owner.items() if owner not in gone}
    unnamed = [i for i in ids if membership.names.name(i) is None]
    if len(unnamed) != 1 or any(m.regex or m.client_id is None for m in members):
        return
    subscribed = {topic for m in members for topic in m.subscription}
    left = subscribed - {membership.names.name(i) for i in ids}
    if len(left) == 1 and len(ids) == len(subscribed):
        learn_topic(membership, entry, unnamed[0], left.pop(), None, "SUBSCRIPTION")


def may_go_on(
    membership: Membership,
    change: Change,
    unnamed: Mapping[str, Set[TopicPartition]],
    shown: Mapping[str, Set[TopicPartition]],
) -> set[tuple[str, TopicPartition]]:
    """What the K2 of a downgrade gives members, and they may have had all along by another id of
    its topic. Ids of one target are of topics that are there at once, so of different names.

    unnamed: member -> what it holds and has no name behind the downgrade. shown: member -> what the
    K2 gives it, by name. Source: TargetAssignmentBuilder, one metadata image for all members.
    """
    life, names = membership.life, membership.names
    together, named = set[str](), set[str | None]()
    members = life.members.values()
    if unnamed and all(m.target is None or m.target_offset >= change.last_hole for m in members):
        together = {topic_id for topic_id, _ in life.target_owner}
        named = {names.name(topic_id) for topic_id in together}
    found = set()
    for member_id, held in unnamed.items():
        by_number: dict[int, list[str]] = {}
        for topic_id, number in held:
            by_number.setdefault(number, []).append(topic_id)
        for topic, number in shown.get(member_id, ()):
            is_another = together if topic in named else ()
            if any(
                names.name(topic_id) in (None, topic) and topic_id not in is_another
                for topic_id in by_number.get(number, ())
            ):
                found.add((member_id, (topic, number)))
    return found
