"""Where the times of a group come from, from the strongest on."""

from __future__ import annotations

import pytest

from groupreplay.report.what_if.times import (
    ASSUMED,
    ASSUMED_SYNC,
    BROKER_LOG,
    CALLBACK,
    FEW,
    FLEET,
    JOIN,
    OWN,
    RECORDS,
    REJOIN,
    REVOKE,
    SYNC,
    TAKEN,
    TRANSFERRED,
    Bracket,
    Chosen,
    Known,
    Sample,
    release_of_consumer,
    release_of_cooperative,
    release_of_eager,
    sync_phase,
    weakest,
)

QUICK = Sample(3, 1, 2, 8, 9)
TWO = Sample(2, 1, 2, 8, 9)
MANY = Sample(20, 10, 125, 202, 300)
PHASES = Sample(3, 400, 700, 900, 1_100)


def known(**samples: Sample) -> Known:
    """own_* and fleet_*: times of a measure."""
    own = {name[4:]: each for name, each in samples.items() if name.startswith("own_")}
    fleet = {name[6:]: each for name, each in samples.items() if name.startswith("fleet_")}
    return Known(own, fleet, 3, 20, 1_000)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({f"own_{REVOKE}": QUICK, f"fleet_{REVOKE}": MANY}, (Bracket(1, 2, 8), OWN)),
        ({f"own_{REVOKE}": TWO, f"fleet_{REVOKE}": MANY}, (Bracket(10, 125, 202), FLEET)),
        ({f"own_{REJOIN}": QUICK, f"fleet_{REVOKE}": QUICK}, (Bracket(0, 2, 250), TRANSFERRED)),
        ({f"fleet_{REJOIN}": MANY, f"own_{JOIN}": PHASES}, None),
        ({}, None),
    ],
)
def test_release_of_the_consumer_protocol(given: dict[str, Sample], wanted: Chosen | None) -> None:
    assert release_of_consumer(known(**given)) == wanted


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({f"own_{REJOIN}": QUICK, f"own_{JOIN}": PHASES}, (Bracket(1, 2, 8), OWN)),
        ({f"own_{JOIN}": PHASES, f"fleet_{REJOIN}": MANY}, (Bracket(0, 200, 1_100), BROKER_LOG)),
        ({f"own_{JOIN}": QUICK}, (Bracket(0, 0, 9), BROKER_LOG)),
        ({f"fleet_{REJOIN}": MANY, f"own_{REVOKE}": QUICK}, (Bracket(10, 125, 202), FLEET)),
        ({f"fleet_{JOIN}": Sample(20, 1, 700, 900, 9_000)}, (Bracket(0, 200, 900), FLEET)),
        ({f"own_{REVOKE}": QUICK, f"fleet_{REVOKE}": MANY}, (Bracket(0, 2, 250), TRANSFERRED)),
        ({f"fleet_{REVOKE}": MANY}, (Bracket(0, 125, 250), TRANSFERRED)),
        ({f"own_{REVOKE}": TWO, f"own_{SYNC}": QUICK}, None),
    ],
)
def test_release_of_the_classic_protocol(given: dict[str, Sample], wanted: Chosen | None) -> None:
    assert release_of_eager(known(**given)) == wanted


PAUSES = Sample(3, 2_000, 3_000, 3_100, 3_400)
GENERATIONS = Sample(3, 3_000, 4_000, 4_100, 4_200)
ONE_PAUSE = Sample(1, 3_000, 3_000, 3_000, 3_000)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (
            {f"own_{CALLBACK}": PAUSES, f"own_{TAKEN}": GENERATIONS},
            (Bracket(2_000, 3_000, 3_100), OWN),
        ),
        (
            {f"own_{TAKEN}": GENERATIONS, f"own_{CALLBACK}": ONE_PAUSE},
            (Bracket(0, 3_500, 4_200), RECORDS),
        ),
        ({f"own_{CALLBACK}": ONE_PAUSE, f"fleet_{REVOKE}": MANY}, (Bracket(0, 3_000, 3_250), FEW)),
        ({f"own_{TAKEN}": ONE_PAUSE, f"fleet_{CALLBACK}": MANY}, (Bracket(0, 2_500, 3_000), FEW)),
        ({f"own_{REJOIN}": QUICK, f"fleet_{CALLBACK}": MANY}, (Bracket(1, 2, 8), OWN)),
        ({f"fleet_{CALLBACK}": MANY, f"fleet_{REJOIN}": MANY}, (Bracket(10, 125, 202), FLEET)),
        ({f"own_{REVOKE}": QUICK}, (Bracket(0, 2, 250), TRANSFERRED)),
        ({}, None),
    ],
)
def test_release_of_cooperative_groups(given: dict[str, Sample], wanted: Chosen | None) -> None:
    """Rejoins of a cooperative group are not in `given`: its callbacks come after them."""
    assert release_of_cooperative(known(**given)) == wanted


def test_callbacks_of_a_cooperative_group_tell_what_other_protocols_would_wait_for() -> None:
    given = known(**{f"own_{CALLBACK}": ONE_PAUSE, f"fleet_{REJOIN}": MANY})
    assert release_of_eager(given) == (Bracket(0, 3_000, 3_250), TRANSFERRED)
    assert release_of_consumer(given) == (Bracket(0, 3_000, 3_250), TRANSFERRED)


def test_the_sync_phase_is_assumed_where_nothing_shows_one() -> None:
    assert sync_phase(known(**{f"own_{SYNC}": QUICK})) == (Bracket(1, 2, 8), OWN)
    assert sync_phase(known(**{f"fleet_{SYNC}": MANY})) == (Bracket(10, 125, 202), FLEET)
    assert sync_phase(known()) == (ASSUMED_SYNC, ASSUMED)


def test_the_weakest_basis_counts() -> None:
    assert weakest([OWN, ASSUMED]) == ASSUMED
    assert weakest([TRANSFERRED, FLEET]) == TRANSFERRED
    assert weakest([]) is None
