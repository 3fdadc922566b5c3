"""Small histories of share groups (KIP-932), on Kafka's own coordinator: they are counted, and have
rows nowhere else; an id may be a share group's today and another group's tomorrow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pytest

from tests.simulator.broken import other_than
from tests.simulator.check import CHECKS, PROVED_CHECKS, check_tables, compared, differences
from tests.simulator.columns import COLUMNS
from tests.simulator.conftest import Play
from tests.simulator.expected import migration_progress, refusals
from tests.simulator.expected.history import Check, History
from tests.simulator.played import Played
from tests.simulator.proved import ProvedTables
from tests.simulator.tables import FactTables, Row, Tables
from tests.simulator.truth import Truth, read_truth

HISTORIES: Final = (
    # A group whose offsets were set before anybody joined was not seen to begin, and nothing said
    # that an administrator was refused.
    Played(990803011, 10, 0.4, "share", "4.2.1"),
    # A former leader answers a join of the classic group that has the id next.
    Played(990803012, 12, 0.4, "share", "4.3.1"),
    Played(990803010, 12, 0.5, "share", "4.4.0"),
)
FURTHER: Final = (
    *(Played(990803011, 10, 0.4, "share", each) for each in ("4.1.2", "4.0.2")),
    # Offsets are set before anybody joins: brokers begin with epoch 1 then, as no record says.
    Played(991040011, 40, 0.7, "share", "4.3.1"),
)
"""`make soak` plays them: a long one, and brokers up to 4.1, which have no other code for share
groups.
"""

NO_COLUMNS: Final = frozenset({"log_incarnation", "broken_bound_ms"})
"""Of what no simulated coordinator does, as in `test_checker.py`."""


@pytest.mark.parametrize(
    "history",
    [*HISTORIES, *(pytest.param(each, marks=pytest.mark.soak) for each in FURTHER)],
    ids=lambda history: str(history.name),
)
def test_every_row_is_what_the_coordinator_held(history: Played, play: Play) -> None:
    recording = play(history)
    truth, tables = read_truth(recording), FactTables(recording)
    found = check_tables(truth, tables)
    found += check_tables(truth, ProvedTables(recording, tables), checks=PROVED_CHECKS)
    told = [line for each in found for line in differences(each, truth, 2)]
    assert not told, "\n".join((history.command(), *told[:60]))


@dataclass(frozen=True, slots=True)
class Shares:
    """A history, its rows, and ids of groups that are share groups at its end."""

    history: History
    tables: Tables
    proved: Tables
    group_ids: list[str]

    def differ(self, check: Check, rows: list[Row]) -> int:
        found = compared(check, self.history, check.wanted(self.history), rows)
        return found.differ.total()


@pytest.fixture(scope="module")
def shares(play: Play) -> Shares:
    recording = play(HISTORIES[2])
    truth, tables = read_truth(recording), FactTables(recording)
    ids = [name for name, each in truth.other_groups.items() if each.protocol == "share"]
    return Shares(History(truth), tables, ProvedTables(recording, tables), ids)


def _kinds_of(truth: Truth, group_id: str) -> set[str]:
    return {each.protocol for each in truth.operations.get(group_id, ()) if each.protocol}


def test_what_is_rare_is_played(shares: Shares) -> None:
    truth = shares.history.truth
    asked: Mapping[str, set[str]] = {
        group_id: {f"{each.api} {each.code}" for each in answers}
        for group_id, answers in truth.answers.of_groups.items()
    }
    ever = set().union(*asked.values())
    assert {"ALTER_SHARE_GROUP_OFFSETS 0", "DELETE_SHARE_GROUP_OFFSETS 0"} <= ever
    assert {"DELETE_SHARE_GROUP_OFFSETS 68", "DELETE_GROUPS 0"} <= ever
    used = [name for name, each in asked.items() if "SHARE_GROUP_HEARTBEAT 0" in each]
    assert any(_kinds_of(truth, group_id) for group_id in used)
    assert any(each.members > 1 for each in truth.other_groups.values())
    assert len(shares.group_ids) > 2


@pytest.mark.parametrize("column", sorted({*COLUMNS["migration_progress"]} - NO_COLUMNS))
def test_a_wrong_value_of_a_share_group_is_noticed(column: str, shares: Shares) -> None:
    rows = list(shares.tables.rows("migration_progress"))
    for place, row in enumerate(rows):
        if row["group_id"] in shares.group_ids:
            wrong = {**row, column: other_than(row[column], by=10**9)}
            broken = [*rows[:place], wrong, *rows[place + 1 :]]
            assert shares.differ(migration_progress.CHECK, broken), row


def test_a_share_group_without_a_row_is_noticed(shares: Shares) -> None:
    rows = list(shares.tables.rows("migration_progress"))
    for group_id in shares.group_ids:
        left = [row for row in rows if row["group_id"] != group_id]
        assert shares.differ(migration_progress.CHECK, left), group_id


@pytest.mark.parametrize(
    "check",
    [each for each in CHECKS if "group_id" in COLUMNS.get(each.table, ())],
    ids=lambda check: str(check.table),
)
def test_a_row_of_a_share_group_elsewhere_is_noticed(check: Check, shares: Shares) -> None:
    rows = list(shares.tables.rows(check.table))
    if check is migration_progress.CHECK or not rows:
        return
    late = {"last_offset": 10**9} if "last_offset" in rows[0] else {}
    of_shares = [{**rows[0], **late, "group_id": group_id} for group_id in shares.group_ids]
    assert shares.differ(check, [*rows, *of_shares]) == len(of_shares)


@pytest.mark.parametrize("column", sorted({*COLUMNS["refusals"]} - NO_COLUMNS))
def test_a_wrong_value_of_a_refusal_is_noticed(column: str, shares: Shares) -> None:
    rows = list(shares.proved.rows("refusals"))
    of_shares = [
        place for place, row in enumerate(rows) if row["api"].endswith("SHARE_GROUP_OFFSETS")
    ]
    assert of_shares
    for place in of_shares[:3]:
        wrong = {**rows[place], column: other_than(rows[place][column], by=10**9)}
        broken = [*rows[:place], wrong, *rows[place + 1 :]]
        assert shares.differ(refusals.CHECK, broken), rows[place]
