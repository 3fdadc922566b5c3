"""Where waves begin, what they count, and what KIP-345's two timeouts would have made of them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from groupreplay.replay.decision_facts import Churn
from groupreplay.workers.waves.waves import (
    Wave,
    WaveLimits,
    first_events,
    is_opaque,
    kip_345,
    waves_of,
    with_processes,
)
from tests.support.recordings import group
from tests.support.replaying import replayed

MINUTE_MS = 60_000
EVER_MS = 10**15


def limits(gap_ms: int = 11_000, registration_ms: int = 0, expansion_ms: int = 0) -> WaveLimits:
    return WaveLimits(gap_ms=gap_ms, registration_ms=registration_ms, expansion_ms=expansion_ms)


def recorded(recording: str, group_id: str, wanted: WaveLimits) -> dict[int, Wave]:
    """from_offset -> wave."""
    one = group(recording, group_id)
    facts = replayed(one.entries, one.names, (), group_id, one.offsets_partition)
    chains = [asdict(fact) for fact in facts if isinstance(fact, Churn)]
    return {w.from_offset: w for chain in chains for w in waves_of(chain, wanted, EVER_MS)}


def chain(*events: str, before: int = 3) -> dict[str, Any]:
    """Of words like `G5 B`: a kind, its minute and its process."""
    parts = [(word[0], float(word.split()[0][1:]), word.split()[1]) for word in events]
    kinds = [kind for kind, _, _ in parts]
    counts = [{"J": 1, "G": -1}.get(kind, 0) for kind in kinds]
    made: dict[str, Any] = {
        "members_before": before,
        "event_kinds": kinds,
        "times_at": [int(minute * MINUTE_MS) for _, minute, _ in parts],
        "identities": [name for _, _, name in parts],
        "members_after": [before + sum(counts[: i + 1]) for i in range(len(counts))],
        "offsets": list(range(len(parts))),
    }
    return made


# ---------------------------------------------------------------- where they begin


@pytest.mark.parametrize(
    ("recording", "group_id", "gap_ms", "begins"),
    [
        ("consumer-4.3", "wave", 11_000, [4, 71]),
        ("consumer-4.3", "wave", 3_000, [4, 71, 146]),
        ("consumer-4.3", "scale-up", 3_000, [9, 69, 110, 175]),
        ("consumer-4.3", "fence-loop", 11_000, [4, 25]),
        ("consumer-4.3", "crash", 11_000, [4, 72]),
        ("consumer-4.3", "static-bounce", 11_000, [4, 38]),
        ("consumer-4.3", "frozen", 11_000, [4, 66, 153]),
        ("migration-4.3", "mixed-stall", 11_000, [3, 83]),
        ("migration-4.3", "rollback", 11_000, [4, 84]),
        ("migration-4.3", "offline-upgrade", 11_000, [17, 78]),
        ("classic-3.9", "classic-eager", 3_000, [1, 26, 57, 117]),
    ],
)
def test_waves_of_recordings_begin(
    recording: str, group_id: str, gap_ms: int, begins: list[int]
) -> None:
    assert list(recorded(recording, group_id, limits(gap_ms))) == begins


def test_a_start_holds_joins_only_and_so_does_no_other_wave() -> None:
    assert first_events(chain("J0 a", "J0.1 b", "G0.1 a", "J0.1 c", before=0), MINUTE_MS) == [0, 2]
    assert first_events(chain("J0 a", "G0.1 a", "J0.1 c"), MINUTE_MS) == [0]
    stopped = chain("G0 a", "J5 b", "G5.1 b", before=1)
    assert first_events(stopped, MINUTE_MS) == [0, 1, 2]


# ---------------------------------------------------------------- what they count


@pytest.mark.parametrize(
    ("recording", "group_id", "gap_ms", "at", "wanted"),
    [
        (
            *("consumer-4.3", "wave", 11_000, 71),
            {"members_before": 8, "departed": 6, "joined": 6, "epochs": 12, "moved": 16}
            | {"low_ms": 14_842, "moves_floor": 8},
        ),
        ("consumer-4.3", "wave", 11_000, 4, {"members_after": 8, "epochs": 8}),
        ("consumer-4.3", "wave", 3_000, 71, {"members_before": 8, "departed": 6, "joined": 0}),
        ("consumer-4.3", "wave", 3_000, 146, {"members_before": 2, "departed": 0, "joined": 6}),
        ("consumer-4.3", "scale-up", 3_000, 69, {"moved": 3, "low_ms": 1113}),
        ("consumer-4.3", "scale-up", 3_000, 110, {"moved": 2, "low_ms": 433}),
        ("consumer-4.3", "scale-up", 3_000, 175, {"moved": 2, "low_ms": 3324}),
        (
            *("consumer-4.3", "fence-loop", 11_000, 25),
            {"cycles": 4, "epochs": 8, "moved": 16, "returned": 14},
        ),
        ("consumer-4.3", "crash", 11_000, 72, {"low_ms": 996}),
        ("consumer-4.3", "static-bounce", 11_000, 38, {"departed": 1, "replaced": 1, "away": 2}),
        ("consumer-4.3", "assignor-change", 11_000, 30, {"departed": 3, "joined": 3}),
        ("migration-4.3", "upgrade-eager", 11_000, 30, {"epochs": 6, "moved": 9}),
        ("migration-4.3", "upgrade-old-client", 11_000, 32, {"epochs": 6, "moved": 14}),
        (
            *("migration-4.3", "mixed-stall", 11_000, 83),
            {"departed": 2, "joined": 2, "epochs": 4, "moved": 8, "low_ms": 6809},
        ),
        ("migration-4.3", "rollback", 11_000, 84, {"departed": 4, "joined": 4, "epochs": 8}),
        ("migration-4.3", "static-upgrade", 11_000, 36, {"replaced": 3, "joined": 0, "moved": 0}),
        (
            *("migration-4.3", "offline-upgrade", 11_000, 78),
            {"members_low": 0, "rose_from_0": True, "epochs": None},
        ),
        ("classic-3.9", "classic-eager", 3_000, 26, {"low_ms": 60}),
        ("classic-3.9", "classic-eager", 3_000, 57, {"low_ms": 6}),
        ("classic-3.9", "classic-eager", 3_000, 117, {"low_ms": 24}),
        ("expiry-4.3", "connect", 11_000, 170, {"departed": 1, "moved": None, "low_ms": None}),
    ],
)
def test_counts_of_recordings(
    recording: str, group_id: str, gap_ms: int, at: int, wanted: dict[str, Any]
) -> None:
    wave = recorded(recording, group_id, limits(gap_ms))[at]
    assert {name: getattr(wave, name) for name in wanted} == wanted


# ---------------------------------------------------------------- KIP-345, as first proposed


def test_one_rebalance_for_all_that_dropped_before_the_registration_timeout() -> None:
    """ "When the registration timeout is reached since the first gone member, we could trigger one
    single rebalance": A at 0, B 5 minutes later, 15 minutes of registration timeout.
    """
    shrinking = chain("G0 A", "G5 B")
    wanted = limits(registration_ms=15 * MINUTE_MS, expansion_ms=5 * MINUTE_MS)
    assert kip_345(shrinking, wanted, 15 * MINUTE_MS) == ([0], [], [])
    assert kip_345(shrinking, wanted, 14 * MINUTE_MS) == ([], [], [0, 1]), "it still waits"


def test_a_member_that_is_back_in_time_costs_no_rebalance() -> None:
    """ "We are tracking the earliest offline member": of A and B, A is back, so B's time counts."""
    wanted = limits(registration_ms=15 * MINUTE_MS, expansion_ms=5 * MINUTE_MS)
    assert kip_345(chain("G0 A", "G5 B", "J10 A"), wanted, 19 * MINUTE_MS) == ([], [], [1])
    assert kip_345(chain("G0 A", "G5 B", "J10 A"), wanted, 20 * MINUTE_MS) == ([1], [], [])
    assert kip_345(chain("G0 A", "J16 A"), wanted, 60 * MINUTE_MS) == ([0], [1], []), "too late"


def test_a_joiner_that_is_too_late_gets_a_rebalance_of_its_own() -> None:
    """ "We triggered two rebalances, because C is too late to catch first round expansion timeout":
    B at 0, C 6 minutes later, 5 minutes of expansion timeout.
    """
    wanted = limits(expansion_ms=5 * MINUTE_MS)
    assert kip_345(chain("J0 B", "J6 C"), wanted, 60 * MINUTE_MS) == ([], [0, 1], [])
    assert kip_345(chain("J0 B", "J4 C"), wanted, 60 * MINUTE_MS) == ([], [0], [])
    assert kip_345(chain("J0 B", "J6 C"), wanted, 10 * MINUTE_MS) == ([], [0], []), "C's still runs"


@pytest.mark.parametrize(("expansion_ms", "windows"), [(5_000, [1, 1]), (10_000, [1, 0])])
def test_late_joiners_of_a_recording(expansion_ms: int, windows: list[int]) -> None:
    waves = recorded("consumer-4.3", "scale-up", limits(3_000, 3_000, expansion_ms))
    assert [waves[at].epochs_expansion for at in (9, 69, 110)] == [0, *windows]


def test_a_deploy_would_have_been_two_rebalances() -> None:
    wave = recorded("consumer-4.3", "wave", limits(11_000, 3_000, 1_000))[71]
    assert (wave.epochs_registration, wave.epochs_expansion) == (1, 1)
    assert not wave.registration_pending


def test_windows_of_a_day_go_over_midnight() -> None:
    """A name is gone at 23:00 and others come every 50 minutes for more than a day: nobody waits
    for it any longer than a day, and everyone who comes within a day of the first shares one
    rebalance.
    """
    day = 24 * 60
    joins = [f"J{23 * 60 + 50 * i} m{i}" for i in range(1, 32)]
    busy = chain(f"G{23 * 60} gone", *joins)
    one = limits(registration_ms=day * MINUTE_MS, expansion_ms=day * MINUTE_MS)
    late = (23 * 60 + 50 * 31) * MINUTE_MS
    assert kip_345(busy, one, late) == ([0], [1], []), "the second window of joins still runs"
    assert kip_345(busy, one, late + day * MINUTE_MS) == ([0], [1, 30], [])
    back = chain(f"G{23 * 60} gone", *joins[:27], f"J{47 * 60 - 1} gone")
    assert kip_345(back, one, late + day * MINUTE_MS)[0] == [], "back a minute before the day ended"


# ---------------------------------------------------------------- what they cost


@pytest.mark.parametrize(
    ("is_opaque_chain", "modes", "opaque"),
    [
        (False, ["CONSUMER", "CONSUMER"], [False, False]),
        (False, ["OPAQUE", "CONSUMER"], [True, False]),
        (True, ["EAGER", "EAGER"], [True, True]),
    ],
    ids=["readable", "of Connect before", "of an earlier release"],
)
def test_what_a_wave_cost_hangs_on_whether_assignments_could_be_read_in_it(
    is_opaque_chain: bool, modes: list[str], opaque: list[bool]
) -> None:
    made = {"group_modes": modes, "is_opaque": is_opaque_chain}
    assert [is_opaque(made, range(place, place + 1)) for place in range(2)] == opaque
    assert is_opaque(made, range(2)) == any(opaque)


# ---------------------------------------------------------------- who is who


@pytest.mark.parametrize(
    ("events", "processes"),
    [
        # A is alone when it joins, and not when it goes.
        (["A client", "B member:B", "A member:A"], ["client", "member:B", "client"]),
        # C takes the place of B, which is the client when it is alone.
        (["A client", "B member:B", "A member:A", "B client", "C client"], [*"ABABB"]),
        (["A one", "B two", "A one"], ["one", "two", "one"]),
        # A static member under another id.
        (["A>B instance:i", "B instance:i"], ["instance:i", "instance:i"]),
    ],
)
def test_a_member_is_one_process_whoever_else_is_there(
    events: list[str], processes: list[str]
) -> None:
    names = {"A": "client", "B": "member:B"}
    ids = [each.split()[0].split(">") for each in events]
    made = with_processes(
        {
            "kept_events": [],
            "kept_ms": [],
            "kept_counts": [],
            "event_kinds": "J" * len(ids),
            "member_ids": [each[0] for each in ids],
            "other_ids": [each[1] if len(each) > 1 else None for each in ids],
            "identities": [each.split()[1] for each in events],
        }
    )
    assert made["identities"] == [names.get(each, each) for each in processes]
