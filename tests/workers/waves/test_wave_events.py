"""Waves event by event: how the group rebalanced, who came back, and when."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from groupreplay.replay.decision_facts import Churn
from groupreplay.workers.waves.wave_events import WaveEvents, events_of
from tests.support.recordings import group
from tests.support.replaying import replayed

MINUTE_MS = 60_000


def recorded(recording: str, group_id: str, gap_ms: int = 11_000) -> dict[int, WaveEvents]:
    """from_offset -> wave."""
    one = group(recording, group_id)
    facts = replayed(one.entries, one.names, (), group_id, one.offsets_partition)
    chains = [asdict(fact) for fact in facts if isinstance(fact, Churn)]
    return {each.from_offset: each for chain in chains for each in events_of(chain, gap_ms)}


def chain(*events: str, before: int = 3, **lists: list[Any]) -> dict[str, Any]:
    """Of words like `G5 B`: a kind, its minute and its process."""
    kinds = [word[0] for word in events]
    counts = [{"J": 1, "G": -1}.get(kind, 0) for kind in kinds]
    one_each = {
        **dict.fromkeys(
            (
                "other_ids",
                "unbroken_ms",
                "silences_ms",
                "own_sessions_ms",
                "own_rebalances_ms",
                "record_ends",
            )
        ),
        **dict.fromkeys(("held_counts", "removed_counts", "hidden_before"), 0),
        "target_partitions": 6,
        "owed_partitions": 6,
        "group_modes": "CONSUMER",
        "member_protocols": "consumer",
    }
    return {
        **asdict(
            Churn(
                group_id="g",
                incarnation=1,
                offsets_partition=3,
                from_offset=0,
                members_before=before,
                event_kinds=kinds,
                times_at=[int(float(word.split()[0][1:]) * MINUTE_MS) for word in events],
                identities=[word.split()[1] for word in events],
                member_ids=[word.split()[1] for word in events],
                members_after=[before + sum(counts[: i + 1]) for i in range(len(counts))],
                offsets=list(range(len(events))),
            )
        ),
        **{name: [value] * len(events) for name, value in one_each.items()},
        **lists,
    }


def one(made: dict[str, Any], gap_ms: int = 60 * MINUTE_MS) -> WaveEvents:
    (wave,) = events_of(made, gap_ms)
    return wave


def test_who_departed_and_joined_again_is_one_absence() -> None:
    wave = one(chain("G0 A", "J1 B", "J3 A", "G4 A"))
    assert wave.event_gone == [0, -1, 0, 1]
    assert wave.absent_back_ms == [3 * MINUTE_MS, None]
    assert (wave.gone_member_ids, wave.gone_times_at) == (["A", "A"], [0, 4 * MINUTE_MS])


def test_a_static_member_is_gone_since_it_said_so() -> None:
    wave = one(chain("A0 I", "R1 I", "A2 I", "G3 I", "J5 I"))
    assert wave.event_gone == [-1, 0, -1, 1, 1]
    assert wave.absent_away_ms == [MINUTE_MS, MINUTE_MS]
    assert wave.absent_back_ms == [None, 2 * MINUTE_MS]


def test_a_return_in_a_later_wave_knows_its_departure() -> None:
    made = chain("G0 A", "J5 A", silences_ms=[700, None])
    left, came = events_of(made, MINUTE_MS)
    assert (left.event_gone, left.absent_back_ms) == ([0], [5 * MINUTE_MS])
    assert (came.event_kinds, came.event_gone) == (["J"], [0])
    assert (came.gone_times_at, came.absent_silences_ms) == ([0], [700])


def test_a_hole_hides_who_came_back() -> None:
    wave = one(chain("G0 A", "J1 A", hidden_before=[0, 1]))
    assert (wave.event_gone, wave.absent_back_ms) == ([0, -1], [None])


@pytest.mark.parametrize(
    ("unbroken_ms", "hidden"), [(None, False), (61_000, False), (59_999, True)]
)
def test_a_hole_before_a_wave_may_hide_its_beginning(unbroken_ms: int | None, hidden: bool) -> None:
    """An event a minute before would be of the wave, and this one comes a second after its first."""
    made = chain("G1 A", f"G{1 + 1 / 60} B", unbroken_ms=[None, unbroken_ms])
    assert one(made, MINUTE_MS).is_hidden == hidden


def test_the_log_cleaner_hides_waves() -> None:
    """p24: a hole ends at 974, 347 ms before the member that joins at 977."""
    found = recorded("compacted-4.3", "churn")
    assert {at: each.is_hidden for at, each in found.items()} == {977: True}
    assert not any(each.is_hidden for each in recorded("consumer-4.3", "wave").values())


def test_what_was_before_the_first_event() -> None:
    first, last = events_of(chain("J0 A", "J1 B", "G9 A", before=1), 5 * MINUTE_MS)
    assert (first.members_before, last.members_before) == (1, 3)


def test_partitions_are_those_before_or_after_an_event() -> None:
    """A K3 comes before its target, so the target does not have what the departed held."""
    wave = one(chain("G0 A", "J1 B", target_partitions=[4, 8], owed_partitions=[6, 6]))
    assert wave.event_partitions == [6, 8]


def test_what_nobody_is_to_read_is_not_held_by_who_goes() -> None:
    """A generation without two members leaves out what they had: events of both count it."""
    wave = one(
        chain(
            *("G0 A", "G0 B", "J1 C"),
            held_counts=[3, 2, 0],
            left_out_events=[1, 0, 1],
            left_out_counts=[1, 2, 1],
        )
    )
    assert (wave.event_held, wave.event_left_out) == ([1, 0, 0], [2, 2, 0])


@pytest.mark.parametrize(
    ("modes", "protocols", "wanted"),
    [
        (["CONSUMER"] * 2, ["consumer"] * 2, "CONSUMER"),
        (["EAGER"] * 2, ["classic"] * 2, "EAGER"),
        (["EAGER", "COOPERATIVE"], ["classic"] * 2, "MIXED"),
        (["MIXED"] * 2, ["classic"] * 2, "MIXED"),
        (["EAGER"] * 2, ["consumer", "classic"], "MIXED"),
        (["EAGER"] * 2, ["consumer"] * 2, "MIXED"),
    ],
)
def test_a_group_that_changed_was_mixed(
    modes: list[str], protocols: list[str], wanted: str
) -> None:
    made = chain("G0 A", "J1 B", group_modes=modes, member_protocols=protocols)
    assert one(made).mode == wanted


def test_a_wave_begins_as_the_one_before_ended() -> None:
    made = chain("G0 A", "G9 B", group_modes=["MIXED", "EAGER"], member_protocols=["classic"] * 2)
    assert [each.mode for each in events_of(made, MINUTE_MS)] == ["MIXED", "MIXED"]


def test_groups_that_cannot_be_priced_have_no_waves() -> None:
    assert events_of(chain("G0 A") | {"is_opaque": True}, MINUTE_MS) == []
    assert events_of(chain("G0 A", group_modes=["STREAMS"]), MINUTE_MS) == []


def test_waves_can_be_priced_in_which_assignments_could_be_read() -> None:
    """Its group was one of Connect before, and becomes one again."""
    modes = ["OPAQUE", "CONSUMER", "CONSUMER", "CONSUMER", "OPAQUE"]
    made = chain("G0 A", "G9 B", "J9 C", "G19 C", "J19 D", group_modes=modes)
    assert [each.from_offset for each in events_of(made, MINUTE_MS)] == [1]


@pytest.mark.parametrize(
    ("recording", "group_id", "gap_ms", "modes"),
    [
        ("consumer-4.3", "wave", 11_000, {4: "CONSUMER", 71: "CONSUMER"}),
        ("classic-3.9", "classic-eager", 3_000, dict.fromkeys((1, 26, 57, 117), "EAGER")),
        ("migration-4.3", "upgrade-eager", 11_000, {1: "EAGER", 30: "MIXED"}),
        ("migration-4.3", "upgrade-crash", 11_000, {1: "MIXED", 127: "MIXED"}),
        ("migration-4.3", "classic-forever", 11_000, {1: "EAGER"}),
        ("expiry-4.3", "connect", 11_000, {}),
        ("streams-classic-4.3", "streams-bounce", 11_000, {}),
    ],
)
def test_modes_of_recordings(
    recording: str, group_id: str, gap_ms: int, modes: dict[int, str]
) -> None:
    found = recorded(recording, group_id, gap_ms)
    assert {at: each.mode for at, each in found.items()} == modes


def test_a_bounce_of_a_recording() -> None:
    wave = recorded("consumer-4.3", "static-bounce")[38]
    assert wave.event_kinds == ["A", "R", "A", "G"]
    assert (wave.event_held, wave.event_partitions) == ([2, 2, 2, 2], [6, 6, 6, 6])
    assert wave.absent_away_ms == [3_968, 10_676]
    assert wave.absent_back_ms == [None, None]
