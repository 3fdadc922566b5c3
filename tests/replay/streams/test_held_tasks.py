"""The row of a task that a member begins to hold."""

from __future__ import annotations

from groupreplay.replay.kept.streams_tasks import MemberTasks
from groupreplay.replay.life import CLASSIC, STREAMS, Life, Member
from groupreplay.replay.streams.held_tasks import held_task
from groupreplay.replay.streams_facts import ACTIVE, STANDBY


def test_a_member_of_either_protocol_holds_its_task_alike() -> None:
    classic = MemberTasks("m", "i", "c", "/h", "process", ("foo",))
    streams = Member("m", instance_id="i", client_id="c", client_host="/h", process_id="process")
    rows = [
        held_task(
            Life("g", 3, 10, protocol),
            member,
            ("1", 4),
            (ACTIVE, "EXACT"),
            at=5_000,
            offset=40,
            epoch=7,
            observed=True,
        )
        for protocol, member in ((CLASSIC, classic), (STREAMS, streams))
    ]
    assert rows[0] == rows[1]
    (row, _) = rows
    assert (row.subtopology, row.partition, row.role, row.role_confidence) == (
        *("1", 4),
        *(ACTIVE, "EXACT"),
    )
    assert (row.process_id, row.assigned_at, row.assigned_epoch) == ("process", 5_000, 7)
    assert (row.group_id, row.incarnation, row.from_offset) == ("g", 10, 40)


def test_behind_a_hole_its_beginning_was_not_seen() -> None:
    row = held_task(
        Life("g", 3, 10, STREAMS),
        Member("m"),
        ("1", 4),
        (STANDBY, "INFERRED"),
        at=5_000,
        offset=40,
        epoch=None,
        observed=False,
    )
    assert not row.start_observed
