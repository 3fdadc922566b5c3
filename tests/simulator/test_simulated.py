"""Small histories of Kafka's own coordinator, of each version: every row of every table is what the
coordinator's memory says.

Longer ones, and seeds that nobody has seen, are for `make soak`.
"""

from __future__ import annotations

from typing import Final

import pytest

from tests.simulator.check import PROVED_CHECKS, check_tables, differences
from tests.simulator.conftest import Play
from tests.simulator.expected.estimates import estimates_of, faults
from tests.simulator.expected.history import History
from tests.simulator.expected.told import Told
from tests.simulator.played import Played
from tests.simulator.proved import ProvedTables
from tests.simulator.tables import FactTables
from tests.simulator.truth import read_truth

HISTORIES: Final = tuple(
    Played(seed, 12, 0.2, "all", version)
    for seed, version in (
        *((11, "4.0.2"), (11, "4.1.2"), (10, "4.2.1")),
        *((11, "4.3.1"), (15, "4.4.0")),
    )
)

CLASSIC: Final = Played(302, 14, 0.3, "classic", "4.4.0")

SEEDS_THAT_FAILED: Final = (
    # The first target of an upgrade, in the operation that makes another, leaves partitions out.
    Played(17, 8, 0.2, "migration", "4.3.1"),
    # An upgrade without a K3: the first consumer waits for its regular expression.
    Played(26, 8, 0.2, "migration", "4.3.1"),
    # A classic group that began with offsets set by hand, and whose first K2 is of generation 2.
    Played(5, 8, 0.2, "migration", "4.0.2"),
    # A generation that failed, and an upgrade to what its members had before it.
    Played(32, 8, 0.2, "migration", "4.1.2"),
    # A static member that left for a while came back under its own id: why the epoch began,
    Played(25, 8, 0.2, "static", "4.3.1"),
    # and where its operation ends.
    Played(32, 8, 0.2, "static", "4.3.1"),
    # A member that left before an upgrade had held a topic that the group never knew by its id.
    Played(9510, 10, 0.3, "migration", "4.3.1"),
    # A member that is removed again and again goes on elsewhere: it is one loop.
    Played(45, 8, 0.2, "consumer", "4.3.1"),
    # A static member's heartbeat met an exception: it was told under both its ids.
    Played(990804013, 10, 0.25, "troubled", "4.2.1"),
    # The first target of an upgrade has what a static member had that was replaced at once.
    Played(990804016, 10, 0.25, "troubled", "4.3.1"),
    # A classic group is removed and comes back: its generations have the same numbers again.
    CLASSIC,
    # An upgrade is refused, since nobody can read what some members say that they subscribe to.
    Played(990850125, 8, 0.25, "troubled", "4.0.2"),
)
"""Histories in which the product was wrong once, or the checker. They stay, each with what it
shows.

A change of the simulator makes other histories of the same seeds.
"""


LONG_SEEDS: Final = (
    # A static member that was replaced in no K2, and again by the upgrade; a regular expression
    # that a downgrade removed.
    Played(9119, 20, 0.3, "migration", "4.3.1"),
    # A static classic member went on under its id, as another client, in one epoch and state.
    Played(797761012, 20, 0.4, "migration", "4.2.1"),
    # An upgrade takes over, and replaces at once, who had replaced a static member in no K2: their
    # partitions do not move.
    Played(37, 20, 0.4, "migration", "4.0.2"),
    # Clocks of brokers differ: nobody seemed to answer until the next join.
    Played(9010, 10, 0.25, "failover", "4.3.1"),
    # A downgrade names by topic what had been asked back of one that was created again since.
    Played(336100115, 16, 0.4, "migration", "4.1.2"),
    # A topic went from a group whose first consumer took away a K2 that was never written: who its
    # members are is not known.
    Played(412685016, 60, 1.0, "static", "4.1.2"),
    # A classic member of a consumer group was fenced: its heartbeat was refused, and a line says so
    # that names no request.
    Played(990019205, 20, 0.5, "all", "4.1.2"),
    # Members that never synced were dropped by the rebalance that waited for them.
    Played(990019102, 14, 0.4, "classic", "4.0.2"),
    # The next leader's clock is three seconds behind: joins of both leaders seem to come in turn,
    Played(990700001, 30, 0.6, "all", "4.3.1"),
    # and the former leader seems to let a member in after it joined at the next one.
    Played(990700018, 30, 0.6, "failover", "4.3.1"),
    # A classic member was told again, was removed, and came back: that is one rejoin, and another.
    Played(990804004, 14, 0.3, "troubled", "4.2.1"),
    # A static member says twice that it leaves for a while, and was away since the first time.
    Played(990840000, 30, 0.6, "failover", "4.1.2"),
    # What a leader let members into was never written; later it tells them to leave what was before.
    Played(990850008, 30, 0.6, "failover", "4.0.2"),
    # An empty group becomes one of the other protocol by the first record of another leader.
    Played(990860007, 30, 0.6, "failover", "4.2.1"),
    # The end of a resolved regular expression shares a batch with a member's heartbeat.
    Played(990861001, 30, 0.6, "failover", "4.4.0"),
    # Members are told to join in an epoch far behind that of a downgrade by a static member.
    Played(990861006, 30, 0.6, "failover", "4.1.2"),
    # A process is removed while another one of its client id and host is away.
    Played(990861012, 30, 0.6, "migration", "4.4.0"),
    # Members seem to be answered after they left: the other broker's clock is ahead.
    Played(990870000, 18, 0.5, "failover", "4.3.1"),
    # A process that stands still is frozen once more; another is away, and back under its own id.
    Played(990870003, 18, 0.5, "static", "4.0.2"),
    # The next leader is 9.5 s behind, and seems to want a join before its member was let in.
    Played(990805031, 30, 0.6, "all", "4.4.0"),
    # A heartbeat is granted between a member's join and its assignment.
    Played(991040001, 40, 0.7, "classic", "4.0.2"),
    # Members never heard that a generation took partitions, and have them again by the next one.
    Played(991040004, 40, 0.7, "migration", "4.4.0"),
    # A broker that loads its partition again has lost the generation that it let a member into,
    Played(991040006, 40, 0.7, "all", "4.0.2"),
    # and one lets it into a generation of the same number once more.
    Played(991040008, 40, 0.7, "failover", "4.1.2"),
    # The next leader of a classic group lets members into the generation that they have.
    Played(991060011, 30, 0.6, "troubled", "4.1.2"),
    # The next leader's clock is behind: it tells members of generations whose joins are to come,
    Played(992000005, 35, 0.6, "failover", "4.4.0"),
    # tells new ones of the very generation that they are to join,
    Played(992000303, 35, 0.6, "troubled", "4.4.0"),
    # and gives a member its assignment before the former leader lets it in.
    Played(992000203, 35, 0.6, "failover", "4.1.2"),
    # It lets a member try again that gave up what it was asked for.
    Played(995000104, 40, 0.7, "failover", "4.2.1"),
    # A conversion fails, and the group loses its last member; a member comes back under its id after
    # a client with its client id was refused.
    Played(992000108, 35, 0.6, "troubled", "4.0.2"),
    # An upgrade copies what its static member does not subscribe to any more.
    Played(992000206, 35, 0.6, "migration", "4.4.0"),
    # A coordinator forgets an empty group, and has its offsets still.
    Played(993000103, 35, 0.6, "migration", "4.3.1"),
    # A former leader leads again within a minute; a member leaves before it was let in, by clocks.
    Played(997000101, 35, 0.6, "failover", "4.1.2"),
    # A timer of a classic group runs on after its conversion.
    Played(999000002, 25, 0.5, "troubled", "4.4.0"),
    # A broker loses its partition before it has written whom it removed: they are members still.
    Played(999000102, 25, 0.5, "troubled", "4.1.2"),
    # A conversion fails before the leader syncs: members are let into their generation once more.
    Played(1001000009, 35, 0.6, "troubled", "4.0.2"),
    # A broker lets members into generations that it cannot write, and refuses their joins.
    Played(1002000000, 38, 0.65, "failover", "4.4.0"),
    # The next leader is behind, and lets a member into a generation two later.
    Played(1002000004, 38, 0.65, "failover", "4.1.2"),
    # A removal is lost with its partition, and the next leader lets the member in.
    Played(1004000001, 38, 0.65, "troubled", "4.0.2"),
    # By their clocks two brokers let a member in at once.
    Played(1004000101, 38, 0.65, "failover", "4.0.2"),
    # Who gave everything up in a rebalance is replaced by the join that upgrades its group.
    Played(1005000001, 38, 0.65, "troubled", "4.3.1"),
    # A member is let in and told to join again in one ms.
    Played(1005000101, 38, 0.65, "failover", "4.3.1"),
    # The answer to a sync comes behind the line of its member's leave.
    Played(1005000104, 38, 0.65, "troubled", "4.4.0"),
    # The next leader is four seconds behind, and seems to know a member before its id was made.
    Played(1007000000, 32, 0.55, "failover", "4.4.0"),
    # A member subscribes to other topics while its join is answered, and an upgrade replaces it.
    Played(1001000104, 35, 0.6, "failover", "4.2.1"),
    # A group id has been a classic group of greater generations before.
    Played(1003000003, 38, 0.65, "migration", "4.3.1"),
    # A conversion fails, and the next rebalance goes on from the generation.
    Played(1003000005, 38, 0.65, "troubled", "4.0.2"),
    # A former leader answers joins of a generation that it never tells.
    Played(1006000005, 38, 0.6, "troubled", "4.2.1"),
    # An administrator who removes a member by its instance is turned away.
    Played(1006000100, 38, 0.6, "troubled", "4.0.2"),
    # A deleted topic is created again once its group was downgraded.
    Played(1002000007, 38, 0.65, "troubled", "4.3.1"),
)
"""As these, and each takes longer than all of a version's: `make soak` plays them."""


@pytest.mark.parametrize(
    "history",
    [
        *HISTORIES,
        *SEEDS_THAT_FAILED,
        *(pytest.param(each, marks=pytest.mark.soak) for each in LONG_SEEDS),
    ],
    ids=lambda history: str(history.name),
)
def test_every_row_is_what_the_coordinator_held(history: Played, play: Play) -> None:
    recording = play(history)
    truth = read_truth(recording)
    tables = FactTables(recording)
    proved = ProvedTables(recording, tables)
    compared = check_tables(truth, tables)
    compared += check_tables(truth, proved, checks=PROVED_CHECKS)
    told = [line for each in compared for line in differences(each, truth, 2)]
    assert not told, "\n".join((history.command(), *told[:60]))
    assert sum(each.agree.total() for each in compared) > 1_000


@pytest.mark.long
@pytest.mark.interpreted
def test_estimates_of_what_changes_of_hands_cost_are_as_near_as_said(play: Play) -> None:
    """By what clients wrote down that they read."""
    found = []
    for history in (*HISTORIES, *SEEDS_THAT_FAILED[:5], CLASSIC):
        recording = play(history)
        known = History(read_truth(recording))
        found += estimates_of(recording, known, Told(known))
    assert faults(found) == []
