"""Whether members of a classic generation went on reading, against what the script had set them to.

An assignor's name does not say it: a group whose members list cooperative-sticky and range selects
cooperative-sticky and is eager, since a client does what all its assignors can.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache

from groupreplay.replay.facts import Epoch
from tests.support.recordings import all_groups
from tests.support.replaying import replayed
from tests.truth.truth import KNOWN, truth_of

GOES_ON = {"coop": True, "eager": False, "both": False}
"""`protocol` of the script: CooperativeStickyAssignor, RangeAssignor, or a list of both."""

STREAMS_APP = "StreamsApp"
"""Kafka Streams, whose own assignor is cooperative where the group is classic."""

Generation = tuple[str, str, int]
"""(recording, group, number)"""


@cache
def told() -> dict[Generation, bool]:
    """Classic generations of which the records say it."""
    return {
        (one.recording, one.group_id, fact.epoch): fact.cooperative
        for one in all_groups()
        for fact in replayed(one.entries, one.names, (), one.group_id, one.offsets_partition)
        if isinstance(fact, Epoch) and fact.cooperative is not None
    }


@cache
def script() -> dict[tuple[str, str], set[bool]]:
    """(recording, group) -> what its classic clients were set to."""
    found: dict[tuple[str, str], set[bool]] = defaultdict(set)
    for recording in KNOWN:
        for event in truth_of(recording).timeline:
            if event["action"] != "start":
                continue
            if event.get("protocol") in GOES_ON:
                found[recording, event["group"]].add(GOES_ON[event["protocol"]])
            elif event.get("program") == STREAMS_APP:
                found[recording, event["args"][1]].add(True)
    return found


def test_generations_say_what_their_clients_were_set_to() -> None:
    given = script()
    wrong = {
        generation: (is_cooperative, given[generation[:2]])
        for generation, is_cooperative in told().items()
        if generation[0] in KNOWN and given[generation[:2]] != {is_cooperative}
    }
    assert wrong == {}


def test_enough_generations_of_both_kinds_are_told() -> None:
    """Of consumers alone, and of Kafka Streams."""
    counts = Counter(
        ("streams" in group_id, is_cooperative)
        for (recording, group_id, _), is_cooperative in told().items()
        if recording in KNOWN
    )
    assert counts[False, False] >= 15
    assert counts[False, True] >= 40
    assert counts[True, True] >= 50
    assert counts[True, False] == 0


def test_a_group_that_selected_cooperative_sticky_may_be_eager() -> None:
    settings = {
        event["protocol"]
        for event in truth_of("migration-4.3").timeline
        if event.get("group") == "upgrade-old-client" and "protocol" in event
    }
    assert settings == {"both", "consumer"}
    assert told()["migration-4.3", "upgrade-old-client", 2] is False
