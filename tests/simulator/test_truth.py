"""Reading a truth: what its lines mean, and that what a later simulator adds to them is passed
over."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from groupreplay.replay.facts import Anomaly, HeldPartition
from tests.simulator.compare import Bound
from tests.simulator.expected import (
    departure_waves,
    group_days,
    group_epochs,
    log,
    member_ends,
    migration_progress,
)
from tests.simulator.expected.comings import GONE, JOINED
from tests.simulator.expected.history import History
from tests.simulator.expected.waves import chains_of, waves_of
from tests.simulator.holes.groups import judge_anomaly
from tests.simulator.holes.judge import Judge
from tests.simulator.holes.ownership import judge_span
from tests.simulator.holes.stretches import GroupTruth
from tests.simulator.lives import lives_of
from tests.simulator.readers import Gap
from tests.simulator.truth import Partition, Truth, read_truth
from tests.simulator.truth_log import CommitKey

ID = "AAAAAAAAAAAAAAAAAAAAAQ"
KEY = CommitKey("g", "t", 0)


def _truth(
    folder: Path,
    *lines: dict[str, Any],
    timeline: Sequence[dict[str, Any]] = (),
    reading: Sequence[dict[str, Any]] = (),
) -> Truth:
    (home := folder / "truth").mkdir()
    files = {"operations": lines, "timeline": timeline, "reading": reading, "answers": ()}
    for name, told in files.items():
        with gzip.open(home / f"{name}.jsonl.gz", "wt") as text:
            text.writelines(json.dumps({**line, "later": "addition"}) + "\n" for line in told)
    (home / "topic_names.json").write_text(json.dumps({ID: "t"}))
    said = {"brokers": 1, "broker_config": {}, "simulated": {"clocks_ms": {"1": 0}}}
    (folder / "recording.json").write_text(json.dumps(said))
    return read_truth(folder)


def _line(first: int, last: int, op: str, **more: Any) -> dict[str, Any]:
    return {"t": 1_000 + first, "p": 3, "b": first, "e": last, "op": op, "g": "g", "m": "a"} | more


def _joined(member_id: str, epoch: int) -> dict[str, Any]:
    held = {"a": {ID: [0]}, "pr": {}, "ta": {ID: [0]}, "later": 1}
    return {
        member_id: {"e": epoch, "pe": 0, "st": "STABLE", "cl": "c", "rt": 1, "sub": ["t"], **held}
    }


def _generation(number: int, **assigned: list[int]) -> dict[str, Any]:
    members = {
        name: {"e": number, "st": "STABLE", "rt": 1, "cl": name, "classic": 1, "an": {"t": has}}
        for name, has in assigned.items()
    }
    state = {"type": "classic", "ge": number, "proto": "range", "ptype": "consumer"}
    return {"recs": [f"K2 generation {number}"], "s": {"g": {**state, "ms": members}}}


def test_each_operation_has_the_whole_state(tmp_path: Path) -> None:
    state = {"type": "consumer", "ge": 2, "te": 2}
    truth = _truth(
        tmp_path,
        _line(3, 4, "join", recs=["K3 epoch 3 hash 1"], s={"g": {**state, "ms": _joined("b", 3)}}),
        _line(0, 2, "join", recs=["K3 epoch 2 hash 1"], s={"g": {**state, "ms": _joined("a", 2)}}),
        _line(5, 5, "leave", recs=[], s={"g": {**state, "ms": {}, "gone": ["a"]}}),
        _line(6, 6, "delete group", recs=[], s={"g": {"type": None, "gone": ["b"]}}),
    )
    members = [sorted(each.members) for each in truth.operations["g"]]
    assert members == [["a"], ["a", "b"], ["b"], []]
    assert truth.operations["g"][0].members["a"].held == {Partition(ID, "t", 0)}
    assert [each.group_epochs for each in truth.operations["g"]] == [[2], [3], [], []]
    (life,) = lives_of(truth)
    assert life.is_removed
    assert truth.as_of_ms == 1_006


def test_an_offline_conversion_begins_another_life(tmp_path: Path) -> None:
    consumer = {"type": "consumer", "ge": 2, "te": 2}
    truth = _truth(
        tmp_path,
        _line(0, 2, "join", recs=[], s={"g": {**consumer, "ms": _joined("a", 2)}}),
        _line(3, 3, "leave", recs=[], s={"g": {**consumer, "ms": {}, "gone": ["a"]}}),
        _line(4, 5, "join", recs=[], s={"g": {"type": "classic", "ge": 0, "ms": {}}}),
    )
    first, second = lives_of(truth)
    assert first.converted_by is second.operations[0]


def test_a_commit_counts_where_its_marker_stands(tmp_path: Path) -> None:
    truth = _truth(
        tmp_path,
        _line(0, 0, "txn commit", why="7", c=["K1 g t-0 5"]),
        _line(1, 1, "marker", why="ABORT 7"),
        _line(2, 2, "txn commit", why="7", c=["K1 g t-0 6"]),
        _line(3, 3, "marker", why="COMMIT 7"),
        _line(4, 4, "commit", c=["K1 g t-0 7"]),
        _line(5, 5, "delete offsets", c=["K1 g t-0 gone"]),
    )
    assert [each.offset for each in truth.commits[KEY]] == [3, 4]
    assert truth.commit_after(KEY, 0, None) == 1_003
    assert truth.commit_after(KEY, 0, before=3) is None
    assert truth.commit_before(KEY, 4) == 1_003
    assert truth.commit_before(KEY, 9) is None
    log = truth.logs[3]
    assert (log.markers, log.aborted, log.landed, log.reduced) == (2, 1, 3, 0)


def test_a_commit_whose_offset_was_deleted_before_its_marker_never_counts(tmp_path: Path) -> None:
    truth = _truth(
        tmp_path,
        _line(0, 0, "txn commit", why="7", c=["K1 g t-0 5"]),
        _line(1, 1, "delete offsets", c=["K1 g t-0 gone"]),
        _line(2, 2, "marker", why="COMMIT 7"),
    )
    assert not truth.commits[KEY]
    log = truth.logs[3]
    assert (log.markers, log.aborted, log.unsettled, log.landed) == (1, 1, 0, 1)


def test_a_partition_keeps_the_commit_that_was_written_last(tmp_path: Path) -> None:
    truth = _truth(
        tmp_path,
        _line(0, 0, "txn commit", why="7", c=["K1 g t-0 5"]),
        _line(1, 1, "commit", c=["K1 g t-0 6"]),
        _line(2, 2, "marker", why="COMMIT 7"),
        _line(3, 3, "txn commit", why="7", c=["K1 g t-0 7"]),
        _line(4, 4, "txn commit", why="8", c=["K1 g t-0 8"]),
        _line(5, 5, "marker", why="COMMIT 7"),
        _line(6, 6, "txn commit", why="7", c=["K1 g t-0 9"]),
        _line(7, 7, "marker", why="COMMIT 7"),
        _line(8, 8, "marker", why="COMMIT 8"),
    )
    assert [each.offset for each in truth.commits[KEY]] == [1, 5, 7]
    log = truth.logs[3]
    assert (log.aborted, log.unsettled, log.landed, log.reduced) == (2, 0, 3, 0)


def test_only_the_first_and_the_last_commit_of_a_stretch_land(tmp_path: Path) -> None:
    lines = [_line(place, place, "commit", c=["K1 g t-0 5"]) for place in range(5)]
    log = _truth(tmp_path, *lines).logs[3]
    assert (log.next_offset, log.landed, log.reduced) == (5, 2, 3)


def test_each_leader_epoch_has_a_first_and_a_last_commit(tmp_path: Path) -> None:
    lines = [_line(place, place, "commit", c=["K1 g t-0 5"]) for place in range(8)]
    timeline = [{"t": at, "what": "elect", "detail": f"3 {at}"} for at in (990, 1_003)]
    truth = _truth(tmp_path, *lines, timeline=timeline)
    log = truth.logs[3]
    assert (log.landed, log.reduced) == (4, 4), "1,000 to 1,002, and 1,003 to 1,007"
    assert [truth.leader_epoch(3, at) for at in (1, 990, 1_002, 1_003)] == [-1, 990, 990, 1_003]


def test_what_was_done_is_told_by_topic_and_partition(tmp_path: Path) -> None:
    timeline = (
        {"t": 9, "what": "delete", "detail": f"t {ID}"},
        {"t": 10, "what": "elect", "detail": "3 1"},
    )
    truth = _truth(tmp_path, timeline=timeline)
    assert truth.deleted == {"t": [(9, ID)]}
    assert truth.elected == {3: [10]}


def test_nobody_reads_between_one_process_and_the_next(tmp_path: Path) -> None:
    def reads(at: int, process: int, *partitions: str, **more: int) -> dict[str, Any]:
        return {"t": at, "g": "g", "pr": process, "cl": "c", "r": partitions} | more

    reading = (
        reads(1_000, 0, f"{ID}/0", "t/1"),
        reads(1_100, 0, "t/1", eager=1),
        reads(1_300, 1, "t/0", "t/1"),
        reads(1_400, 0),
        reads(1_500, 1),
    )
    readers = _truth(tmp_path, reading=reading).readers
    first, second = ("g", "t", 0), ("g", "t", 1)
    assert readers.gap_at(first, 1_200) == Gap(1_100, 1_300, was_eager=True)
    assert readers.gap_at(first, 1_350) is None
    assert readers.gap_at(second, 1_450) is None, "the other process reads on"
    assert readers.gap_at(second, 1_600) == Gap(1_500, None, was_eager=False)
    assert readers.unread_ms(first, 900, 1_600) == 100 + 200 + 100
    assert readers.unread_ms(("g", "t", 2), 900, 1_600) == 700


def test_what_nobody_read_before_counts_from_when_it_was_given(tmp_path: Path) -> None:
    """A second member joins while generation 1 is written: the first is refused its assignment, and
    reads nothing before generation 2. The K2 of generation 1 says that it has two partitions, and
    that of 2 that one of them goes to the other member.
    """

    def generation(number: int, **assigned: list[int]) -> dict[str, Any]:
        classic = {"e": number, "st": "STABLE", "rt": 1, "classic": 1}
        members = {name: {**classic, "cl": name, "an": {"t": assigned[name]}} for name in assigned}
        state = {"type": "classic", "ge": number, "proto": "range", "ptype": "consumer"}
        return {"g": {**state, "ms": members}}

    reading = (
        {"t": 1_150, "g": "g", "pr": 0, "cl": "a", "r": ["t/0"]},
        {"t": 1_160, "g": "g", "pr": 1, "cl": "b", "r": ["t/1"]},
    )
    truth = _truth(
        tmp_path,
        _line(0, 0, "join", recs=[], s={"g": {"type": "classic", "ge": 0, "ms": {}}}),
        _line(20, 20, "sync", ans=[27], recs=[], s=generation(1, a=[0, 1])),
        _line(100, 100, "sync", ans=[0], recs=[], s=generation(2, a=[0], b=[1])),
        reading=reading,
    )
    (wave,) = departure_waves.CHECK.wanted(History(truth)).values()
    assert Bound(2 * 80, is_lower=True) in wave.values["low_ms"].wanted, "from one K2 to the other"


def test_who_was_frozen_before_its_generation_did_not_leave_in_time(tmp_path: Path) -> None:
    """A process is frozen while its JoinGroup waits. Its sync times out, and the LeaveGroup that it
    sends meanwhile is refused: only the K2 without it comes later."""
    classic = {"st": "STABLE", "rt": 1, "classic": 1, "cl": "c", "e": 1, "an": {"t": [0]}}
    state = {"type": "classic", "ge": 1, "proto": "range", "ptype": "consumer"}
    lines = (
        _line(20, 20, "sync", recs=["K2"], s={"g": {**state, "ms": {"a": classic, "b": classic}}}),
        _line(90, 90, "sync", recs=["K2"], s={"g": {**state, "ge": 2, "ms": {}, "gone": ["b"]}}),
    )
    closed = {"t": 1_080, "what": "close", "detail": "g c b", "g": "g", "m": "b"}
    for frozen_ms, is_told in ((5, True), (70, False)):
        frozen = {**closed, "t": 1_010, "what": "freeze", "detail": f"g c b {frozen_ms}"}
        folder = tmp_path / str(frozen_ms)
        folder.mkdir()
        truth = _truth(folder, *lines, timeline=(frozen, closed))
        (wanted,) = (
            each for key, each in member_ends.CHECK.wanted(History(truth)).items() if key[1] == "b"
        )
        assert (wanted.left_out == "") is is_told


def test_a_group_whose_offsets_were_deleted_may_look_older_than_it_is(tmp_path: Path) -> None:
    """Offsets are set by hand and deleted again. The coordinator keeps the group in memory, so its
    first consumer takes away a K2 that was never written, as it does of a group that is older than
    the log."""
    state = {"type": "consumer", "ge": 1, "te": 1}
    joins = _line(
        2, 9, "join", recs=["K2 gone", "K3 epoch 1"], s={"g": {**state, "ms": _joined("b", 1)}}
    )
    commit = _line(0, 0, "commit", c=["K1 g t-0 5"])
    gone = _line(1, 1, "delete offsets", c=["K1 g t-0 gone"])
    for name, lines, is_sure in (("kept", (commit,), True), ("gone", (commit, gone), False)):
        (tmp_path / name).mkdir()
        history = History(_truth(tmp_path / name, *lines, joins))
        checks = (migration_progress, group_epochs, departure_waves, group_days)
        told = [row for each in checks for row in each.CHECK.wanted(history).values()]
        assert len(told) >= len(checks)
        assert {not row.left_out for row in told} == {is_sure}, name


def test_a_partition_that_another_member_has_too_is_not_idle(tmp_path: Path) -> None:
    """A leader gave it to a and b at once. b commits it on when a has lost it, until a generation
    takes it from b and gives it back to a."""

    def found(of_b: list[int], idle_ms: int, folder: Path) -> int:
        folder.mkdir()
        truth = _truth(
            folder,
            _line(0, 0, "sync", **_generation(1, a=[0], b=of_b)),
            _line(10, 10, "commit", c=["K1 g t-0 5"]),
            _line(20, 20, "sync", **_generation(2, a=[], b=of_b)),
            _line(30, 30, "commit", c=["K1 g t-0 6"]),
            _line(40, 40, "sync", **_generation(3, a=[0], b=[])),
            _line(50, 50, "commit", c=["K1 g t-0 7"]),
        )
        row = HeldPartition(
            group_id="g",
            incarnation=0,
            offsets_partition=3,
            member_id="a",
            instance_id=None,
            topic_id=None,
            assigned_epoch=1,
            from_offset=0,
            to_offset=20,
            topic="t",
            partition=0,
            start_observed=True,
            assigned_at=1_000,
            released_at=1_020,
            end_reason="REVOKED",
            next_member_id="a",
            next_assigned_at=1_040,
            idle_ms=idle_ms,
        )
        judge = Judge()
        judge_span(judge, GroupTruth(truth, "g"), row)
        return len(judge.findings)

    assert found([0], 20, tmp_path / "both") == 0
    assert (found([], 20, tmp_path / "one"), found([], 20 + 20, tmp_path / "true")) == (1, 0)


def test_what_a_leader_gives_to_two_members_breaks_a_rule_once(tmp_path: Path) -> None:
    given = ({"a": [0], "b": [0]}, 1), ({"a": [0], "b": [0]}, 1), ({"a": [0], "b": []}, 2)
    lines = (_line(i, i, "sync", **_generation(n, **has)) for i, (has, n) in enumerate(given))
    said = "generation 1 gives 1 partitions to several members; the first, t-0, to a, b"
    wanted = log.ANOMALIES.wanted(History(_truth(tmp_path, *lines)))
    assert wanted.keys() == {("g", "I24_GIVEN_ONCE", 0, said)}


def test_what_the_coordinator_forgot_breaks_a_rule_in_a_cleaned_log_too(tmp_path: Path) -> None:
    state = {"type": "consumer", "ge": 3, "te": 2, "ms": {}}
    truth = _truth(
        tmp_path,
        _line(0, 2, "leave", recs=["K3 epoch 3"], s={"g": state}),
        _line(
            3, 3, "join", recs=["K2 generation 0"], s={"g": {"type": "classic", "ge": 0, "ms": {}}}
        ),
    )

    def found(rule: str, offset: int) -> int:
        row = Anomaly(
            group_id="g",
            incarnation=0,
            offsets_partition=3,
            from_offset=offset,
            rule=rule,
            severity="ERROR",
            detected_at=1,
            evidence_offset=offset,
            detail_code="OTHER_KIND",
            detail_names=["kind", "protocol"],
            detail_values=["classic", "consumer"],
        )
        judge = Judge()
        judge_anomaly(judge, GroupTruth(truth, "g"), row)
        return len(judge.findings)

    assert (found("I18_ONE_KIND", 3), found("I18_ONE_KIND", 1), found("I19_OTHER", 3)) == (0, 1, 1)
    assert found("I24_GIVEN_ONCE", 3) == 2  # no K2 gives anything twice, and the severity


def test_a_target_that_gives_nobody_anything_asks_for_no_move(tmp_path: Path) -> None:
    """A member goes. When another joins, a regular expression is not resolved, and the target is
    empty for a moment (KIP-848); a third still has its partition."""
    state = {"type": "consumer", "ge": 2, "te": 2}
    untargeted = {"a": {**_joined("a", 2)["a"], "ta": {}}, "c": {**_joined("c", 3)["c"], "a": {}}}
    untargeted["c"]["ta"] = {}
    both = {**_joined("a", 2), "b": {**_joined("b", 2)["b"], "a": {ID: [1]}, "ta": {ID: [1]}}}
    truth = _truth(
        tmp_path,
        _line(0, 5, "join", recs=[], s={"g": {**state, "ms": both}}),
        _line(6, 9, "leave", recs=["K3 epoch 3"], s={"g": {**state, "ge": 3, "gone": ["b"]}}),
        _line(10, 14, "join", recs=[], s={"g": {**state, "ge": 3, "te": 3, "ms": untargeted}}),
    )
    (chain,) = chains_of(History(truth))
    last = list(waves_of(chain))[-1]
    assert [event.coming.kind for event in last] == [GONE, JOINED]
    assert departure_waves.least_moves(last) == 0
