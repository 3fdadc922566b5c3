"""Replay of a slice, with machines that only tell what they were given."""

import gc
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from groupreplay.records.classic import GroupMember, GroupMetadata, GroupMetadataValue
from groupreplay.records.entries import Entry
from groupreplay.records.offsets import OffsetCommit
from groupreplay.replay.facts import Anomaly, Fact
from groupreplay.wire.records.undecodable import Undecodable, UnknownType
from groupreplay.workers import slices
from groupreplay.workers.fact_frames import REPLAYED
from groupreplay.workers.packed import unpacking
from groupreplay.workers.slices import (
    ENDED_ENCODING,
    FIRST_LOGS,
    INPUT,
    ROWS_AT_ONCE,
    LogIncarnations,
    SliceReplay,
    slice_replay,
)


class FakeMachine:
    """One fact an entry; its state is the text of all it ever saw; gone after the value b"gone"."""

    def __init__(self, group_id: str, offsets_partition: int, names: Mapping[str, str]) -> None:
        self.group_id, self.partition, self.names = group_id, offsets_partition, names
        self.seen, self.facts, self.flushed, self.is_gone = b"", list[Fact](), False, False
        self.lost = b""

    @classmethod
    def restore(
        cls, group_id: str, offsets_partition: int, names: Mapping[str, str], state: bytes
    ) -> "FakeMachine":
        machine = cls(group_id, offsets_partition, names)
        machine.seen = state
        return machine

    def fact(self, rule: str, offset: int) -> Anomaly:
        return Anomaly(
            group_id=self.group_id,
            incarnation=0,
            offsets_partition=self.partition,
            from_offset=offset,
            rule=rule,
            severity="INFO",
            detected_at=0,
            evidence_offset=offset,
            detail_code="EPOCH_NOT_NEXT",
            detail_names=[],
            detail_values=[],
        )

    def replay(self, entry: Entry) -> None:
        value: Any = entry.record
        self.seen += b"c" if isinstance(value, OffsetCommit) else value
        self.is_gone = value == b"gone"
        self.facts.append(self.fact("seen", entry.offset))

    def lose(self, offset: int) -> None:
        self.lost = b"-%d" % offset

    def end_log(self) -> None:
        self.facts.append(self.fact("ended", len(self.seen)))
        self.seen = b""

    def flush(self) -> None:
        self.flushed = True

    def take_facts(self) -> list[Fact]:
        taken, self.facts = self.facts, []
        return taken

    def open_facts(self) -> list[Fact]:
        assert self.flushed
        return [self.fact("open", len(self.seen))]

    def state(self) -> bytes | None:
        assert self.flushed
        return None if self.is_gone else self.seen + self.lost


def fake_decode(key: bytes, value: bytes | None) -> Any:
    others: dict[bytes, Any] = {
        b"unknown": UnknownType(99),
        b"bad": Undecodable("bad"),
        b"bad commit": Undecodable("bad", OffsetCommit("a", "t", 0, None)),
    }
    return others.get(key, value)


@pytest.fixture(autouse=True)
def _fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "GroupReplay", FakeMachine)
    monkeypatch.setattr(slices, "decode", fake_decode)


def row(
    group_id: str,
    offset: int,
    value: bytes | None = b".",
    *,
    partition: int = 0,
    key: bytes = b"k",
    encoding: str = "binary",
) -> tuple[Any, ...]:
    return (group_id, partition, offset, 1000 + offset, 0, offset, -1, encoding, key, value)


def state_row(
    group_id: str, state: bytes, partition: int = 0, encoding: str = "state"
) -> tuple[Any, ...]:
    return (group_id, partition, -1, -1, -1, -1, -1, encoding, b"", state)


def replayed(
    *frames: list[tuple[Any, ...]], logs: LogIncarnations = FIRST_LOGS
) -> list[dict[str, Any]]:
    def batches() -> Iterator[pd.DataFrame]:
        for rows in frames:
            yield pd.DataFrame.from_records(rows, columns=[*INPUT]).assign(slice=3)

    packed = [
        pa.RecordBatch.from_pandas(frame) for frame in slice_replay({"id": "name"}, logs)(batches())
    ]
    return [row for batch in unpacking(REPLAYED)(packed) for row in batch.to_pylist()]


def told(rows: list[dict[str, Any]], rule: str) -> list[tuple[str, int]]:
    return [(each["group_id"], each["from_offset"]) for each in rows if each["rule"] == rule]


def states(rows: list[dict[str, Any]]) -> dict[tuple[str, int], bytes | None]:
    return {
        (each["group_id"], each["offsets_partition"]): each["state_bytes"]
        for each in rows
        if each["kind"] == "group_state"
    }


def counts(rows: list[dict[str, Any]]) -> dict[int, tuple[int, int, int]]:
    return {
        each["offsets_partition"]: (each["decoded"], each["unknown"], each["undecoded"])
        for each in rows
        if each["kind"] == "counts"
    }


def test_groups_are_replayed_one_after_another_over_borders_of_batches() -> None:
    rows = replayed(
        [row("a", 1, b"1"), row("a", 2, b"2")],
        [row("a", 5, b"3"), row("b", 0, b"x", partition=4)],
        [row("b", 3, b"y", partition=4)],
    )
    assert told(rows, "seen") == [("a", 1), ("a", 2), ("a", 5), ("b", 0), ("b", 3)]
    assert told(rows, "open") == [("a", 3), ("b", 2)]
    assert states(rows) == {("a", 0): b"123", ("b", 4): b"xy"}
    assert counts(rows) == {0: (3, 0, 0), 4: (2, 0, 0)}


def test_state_comes_first_and_goes_on() -> None:
    rows = replayed([state_row("a", b"old"), row("a", 7, b"new")])
    assert states(rows) == {("a", 0): b"oldnew"}
    assert counts(rows) == {0: (1, 0, 0)}, "a state is no row of the log"


def test_group_without_news_is_asked_for_its_open_rows_and_its_state_is_not_written_again() -> None:
    rows = replayed([state_row("a", b"old"), state_row("b", b"old"), row("b", 3, b"")])
    assert told(rows, "open") == [("a", 3), ("b", 3)]
    assert states(rows) == {}


def test_group_that_is_gone_leaves_an_empty_state_once() -> None:
    rows = replayed([state_row("a", b"old"), row("a", 1, b"gone"), row("b", 1, b"gone")])
    assert states(rows) == {("a", 0): None}, (
        "b was born and died in one night: there is nothing to forget"
    )


def test_every_row_is_a_record_or_unknown_or_quarantined() -> None:
    rows = replayed(
        [
            row("", 1, key=b"bad", value=b"v" * 2000),
            row("a", 1),
            row("a", 2, key=b"unknown"),
            row("a", 3, None, key=b"bad"),
        ]
    )
    assert counts(rows) == {0: (1, 1, 2)}
    quarantined = [each for each in rows if each["kind"] == "undecoded"]
    assert [
        (each["group_id"], each["offset"], each["reason"], each["raw_bytes"], len(each["raw"]))
        for each in quarantined
    ] == [
        ("", 1, "bad", 2003, 1024),
        ("a", 3, "bad", 3, 3),
    ]
    assert told(rows, "open") == [("a", 1)], "nothing decoded, no group"


def test_a_record_that_is_none_is_a_hole_of_its_group_also_for_the_next_night() -> None:
    rows = replayed(
        [
            row("a", 2, b"1"),
            row("a", 3, key=b"bad"),
            state_row("c", b"old"),
            row("c", 5, key=b"bad"),
        ]
    )
    assert states(rows) == {("a", 0): b"1-3", ("c", 0): b"old-5"}
    assert counts(rows) == {0: (1, 0, 2)}


def test_a_commit_whose_key_alone_is_read_is_replayed_and_quarantined() -> None:
    """It is no hole: who committed what, and when, is known."""
    rows = replayed([row("a", 3, key=b"bad commit"), row("b", 3, b"1")])
    assert states(rows) == {("a", 0): b"c", ("b", 0): b"1"}
    assert told(rows, "seen") == [("a", 3), ("b", 3)]
    quarantined = [each for each in rows if each["kind"] == "undecoded"]
    assert [(each["group_id"], each["offset"]) for each in quarantined] == [("a", 3)]
    assert counts(rows) == {0: (1, 0, 1)}


@pytest.mark.parametrize(
    "rows",
    [
        [row("a", 2), row("a", 1)],
        [row("b", 1), row("a", 1)],
        [row("a", 1, partition=2), row("a", 1, partition=1)],
        [row("a", 1), row("b", 1), row("a", 2)],
    ],
)
def test_rows_out_of_order_are_refused(rows: list[tuple[Any, ...]]) -> None:
    with pytest.raises(AssertionError, match="out of order"):
        replayed(rows)
    with pytest.raises(AssertionError, match="out of order"):
        replayed(*[[each] for each in rows])


def test_commits_of_a_transaction_share_its_marker_s_offset() -> None:
    assert told(replayed([row("a", 2), row("a", 2), row("a", 2)]), "seen") == [("a", 2)] * 3


@pytest.mark.parametrize(
    ("rows", "evidence"),
    [
        ([row("a", 10, partition=1), row("a", 20, partition=2)], [("a", 20)]),
        ([row("a", 20, partition=1), row("a", 10, partition=2)], [("a", 20)]),
        ([row("a", 10, partition=1), state_row("a", b"old", 2)], [("a", 10)]),
        (
            [state_row("a", b"old", 1), row("a", 10, partition=2), row("a", 30, partition=3)],
            [("a", 10), ("a", 30)],
        ),
        ([state_row("a", b"old", 1), state_row("a", b"old", 2), row("a", 10, partition=2)], []),
        ([row("a", 10, partition=1), row("a", 20, partition=2, key=b"bad")], []),
    ],
)
def test_group_in_two_partitions_is_told_once_by_the_life_that_began_later(
    rows: list[tuple[Any, ...]], evidence: list[tuple[str, int]]
) -> None:
    assert told(replayed(rows), "GROUP_IN_TWO_PARTITIONS") == evidence


def test_facts_have_the_incarnation_of_their_own_log() -> None:
    """Partition 1 was created again for the third time, partition 2 once and long ago."""
    rows = replayed(
        [state_row("a", b"old", 1, ENDED_ENCODING), row("a", 0, partition=1)],
        [state_row("b", b"old", 1, ENDED_ENCODING), state_row("c", b"", 2)],
        [row("c", 7, partition=2), row("d", 5, partition=3)],
        logs=LogIncarnations(now={1: 3, 2: 1, 3: 0}, ended={1: 2}),
    )
    found = [
        (each["group_id"], each["rule"], each["from_offset"], each["log_incarnation"])
        for each in rows
        if each["rule"] is not None
    ]
    assert sorted(found) == [
        ("a", "ended", 3, 2),
        ("a", "open", 1, 3),
        ("a", "seen", 0, 3),
        ("b", "ended", 3, 2),
        ("b", "open", 0, 3),
        ("c", "open", 1, 1),
        ("c", "seen", 7, 1),
        ("d", "open", 1, None),
        ("d", "seen", 5, None),
    ]


def test_facts_leave_while_a_long_group_is_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "FRAME_ROWS", ROWS_AT_ONCE)
    replay = SliceReplay({})
    frame = pd.DataFrame.from_records(
        [row("a", offset) for offset in range(4 * ROWS_AT_ONCE)], columns=[*INPUT]
    )
    assert [each["rows"].sum() for each in replay.feed(frame)] == [ROWS_AT_ONCE] * 4


def test_collector_is_off_while_a_slice_is_replayed_and_put_back_after_it() -> None:
    def broken(is_broken: bool = True) -> Iterator[pd.DataFrame]:
        assert not gc.isenabled()
        if is_broken:
            raise OSError("the pipe broke")
        yield pd.DataFrame()

    assert gc.isenabled()
    with pytest.raises(OSError, match="pipe"):
        list(slice_replay({})(broken()))
    assert gc.isenabled()


def stream_threads(*errors: str | None) -> GroupMetadata:
    members = tuple(GroupMember("m", None, "c", "/h", 1, 2, None, None, error) for error in errors)
    return GroupMetadata("a", GroupMetadataValue("consumer", 1, "stream", "m", -1, members))


@pytest.mark.parametrize(
    ("errors", "reasons"),
    [
        ((None, None), []),
        ((None, "it is bad"), ["streams user data of 1 member, it is bad"]),
        (("no", None, "it is bad"), ["streams user data of 2 members, no"]),
    ],
)
def test_user_data_that_is_none_is_a_row_of_a_record_that_counts_as_decoded(
    monkeypatch: pytest.MonkeyPatch, errors: tuple[str | None, ...], reasons: list[str]
) -> None:
    """One row however many members; `landed` of coverage stays the sum of the counts."""
    seen = list[Entry]()
    monkeypatch.setattr(slices, "decode", lambda key, value: stream_threads(*errors))
    monkeypatch.setattr(FakeMachine, "replay", lambda self, entry: seen.append(entry))
    facts = replayed([row("a", 1)])
    found = [fact for fact in facts if fact["kind"] == "undecoded"]
    assert [fact["reason"] for fact in found] == reasons
    assert [(fact["offset"], fact["raw"]) for fact in found] == [(1, b"k.") for _ in reasons]
    (counts,) = (fact for fact in facts if fact["kind"] == "counts")
    assert (counts["decoded"], counts["unknown"], counts["undecoded"]) == (1, 0, 0)
    assert [entry.offset for entry in seen] == [1]
