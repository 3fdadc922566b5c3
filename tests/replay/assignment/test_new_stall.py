"""The row of a stretch that begins."""

from __future__ import annotations

from groupreplay.replay.assignment.new_stall import new_stall
from groupreplay.replay.life import CONSUMER, Life, Member

LIFE = Life("g", 3, 10, CONSUMER)
MEMBER = Member("m", instance_id="i", client_id="c", protocol=CONSUMER)
HELD = frozenset({("foo-id", 0), ("foo-id", 1)})


def test_it_says_whose_it_is_and_how_much_the_member_has() -> None:
    MEMBER.assigned = HELD
    row = new_stall(LIFE, "WAITING_ON_HOLDER", MEMBER, 5_000, 40, ["n"])
    assert (row.group_id, row.incarnation, row.offsets_partition, row.from_offset) == (
        *("g", 10),
        *(3, 40),
    )
    assert (row.member_id, row.instance_id, row.client_id) == ("m", "i", "c")
    assert (row.since_at, row.until_at, row.blocked_by, row.partitions_held) == (
        *(5_000, None),
        *(["n"], 2),
    )


def test_another_process_may_have_joined_by_its_id_since() -> None:
    before = Member("m", client_id="before", protocol=CONSUMER).client
    row = new_stall(LIFE, "ASSIGNED_NOT_CONSUMING", MEMBER, 5_000, 40, ["m"], 7, before)
    assert (row.client_id, row.instance_id, row.partitions_held) == ("before", None, 7)
