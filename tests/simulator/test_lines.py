"""What must be told of refusals and rebalances, by answers and calls of loggers made by hand."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pytest

from tests.simulator.answers import Answer, Answers
from tests.simulator.expected.history import History
from tests.simulator.expected.rebalances import CHECK, rebalances_of
from tests.simulator.expected.refusals import came_of, runs_of
from tests.simulator.expected.silences import silences_of
from tests.simulator.logged import Calls
from tests.simulator.readers import Readers
from tests.simulator.truth import Truth

HEARTBEAT: Final = "CONSUMER_GROUP_HEARTBEAT"
OWNER: Final[dict[str, Any]] = {"member_id": "owner", "connection": "10.0.0.1:1"}
INTRUDER: Final[dict[str, Any]] = {"member_id": "intruder", "connection": "10.0.0.2:1"}


def answer(at_s: int, code: int, **more: Any) -> Answer:
    place = at_s * 1_000, 1, at_s * 1_000, code, "heartbeat", None
    return Answer(*place, HEARTBEAT, client_id="c", instance_id="i")._replace(**more)


@pytest.mark.parametrize(
    ("granted", "runs"),
    [
        ((1, 0, OWNER), [2]),
        ((1, 0, INTRUDER), [1, 1]),
        # It came since, as the same client from the same host.
        ((1, 0, INTRUDER | {"member_id": "again"}), [1, 1]),
        ((1, 27, INTRUDER), [2]),
        ((3_700, 0, OWNER), [1, 1]),
    ],
)
def test_refusals_are_one_run_until_who_asks_is_let_in(
    granted: tuple[int, int, dict[str, Any]], runs: list[int]
) -> None:
    at_s, code, who = granted
    answers = [
        answer(-9, 0, **OWNER),
        answer(0, 111, **INTRUDER),
        answer(at_s, code, **who),
        answer(at_s + 1, 111, **INTRUDER),
    ]
    found = list(runs_of("g", answers, came_of(answers)))
    assert [len(run.attempts) for run in found] == runs
    assert [run.is_over for run in found] == [True] * (len(runs) - 1) + [False]


@pytest.mark.parametrize(("code", "silences"), [(0, [(0, 26_000)]), (25, [])])
def test_who_leaves_when_it_is_no_member_any_more_ends_no_silence(
    code: int, silences: list[tuple[int, int]]
) -> None:
    """It was removed for another reason than its silence."""
    said = [answer(0, 0, asked_by="m"), answer(26, code, asked_by="m", kind="leave", epoch=-1)]
    found = silences_of(said, [], 200_000, 10_000)
    assert [(each.since_at, each.until_at) for each in found] == silences


@pytest.mark.parametrize(("code", "silences"), [(27, [(1_000, 46_000)]), (81, [])])
def test_a_session_that_runs_out_of_who_a_full_group_turned_down_ends_no_silence(
    code: int, silences: list[tuple[int, int]]
) -> None:
    """It was a member: a full group removes who joins again, without a line (`acceptJoiningMember`)."""
    who: dict[str, Any] = {"asked_by": "m", "instance_id": None, "api": "JOIN_GROUP"}
    said = [answer(0, 0, **who), answer(1, code, kind="join", **who)]
    found = silences_of(said, [("m", 46_000)], 200_000, 10_000)
    assert [(each.since_at, each.until_at) for each in found] == silences


BEGUN: Final = "Preparing to rebalance group {} in state {} with old generation {} (reason: {})."
JOINED: Final = "Stabilized group {} generation {} with {} members."
SYNCED: Final = "Assignment received from leader {} for group {} for generation {}."
UPGRADED: Final = "[GroupId {}] Converted the classic group to a consumer group."
LEFT: Final = "explicit `LeaveGroup` request for (m) members."


def history(folder: Path, calls: Iterable[tuple[int, str, list[str]]]) -> History:
    """Of calls of one broker's loggers: (true time, text, values)."""
    home = folder / "truth"
    home.mkdir()
    lines = [
        {"t": at, "br": 1, "bt": at + 5, "at": at * 10, "say": says, "with": values}
        | {"op": "leave", "m": "m", "reason": "closed", "later": "addition"}
        for at, says, values in calls
    ]
    with gzip.open(home / "logged.jsonl.gz", "wt") as text:
        text.writelines(json.dumps(line) + "\n" for line in lines)
    for name in ("answers", "reading"):
        with gzip.open(home / f"{name}.jsonl.gz", "wt"):
            pass
    return History(Truth("", {}, [], Readers(folder, {}), Answers(folder), Calls(folder)))


def test_a_rebalance_is_what_a_broker_told_of_it(tmp_path: Path) -> None:
    """A conversion that is followed by the rebalance's own phases has failed, or by the next one of
    the generation that it joined."""
    told = history(
        tmp_path,
        [
            (1, BEGUN, ["g", "PreparingRebalance", "3", LEFT]),
            (2, UPGRADED, ["g"]),
            (3, JOINED, ["g", "4", "2"]),
            (3, UPGRADED, ["g"]),
            (4, BEGUN, ["g", "PreparingRebalance", "4", "of a kind that nobody knows"]),
            (5, JOINED, ["g", "5", "1"]),
            (6, SYNCED, ["m", "g", "5"]),
            (7, BEGUN, ["g", "PreparingRebalance", "5", LEFT]),
            (8, UPGRADED, ["g"]),
        ],
    )
    assert [each.outcome for each in rebalances_of(told)] == ["RESTARTED", "COMPLETED", "CONVERTED"]
    wanted = CHECK.wanted(told)
    values = wanted["g", 6, 10].values
    assert (values["cause"], values["cause_member_id"], values["client_reason"]) == (
        *("LEFT", "m", "closed"),
    )
    assert (values["joined_at"], values["members_joined"], values["synced_at"]) == (8, 2, None)
    assert wanted["g", 9, 40].values["cause"] == "UNKNOWN"
    assert [each.values["is_final"] for each in wanted.values()] == [True, True, False]
