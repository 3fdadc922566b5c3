"""The reduction against its definition, transactions, and a log that is read in two parts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wire import encode
from tests.wire.reading import FACTS, Row, counts, of_kind, offsets, read

TS = 1_700_000_000_000


class Said(NamedTuple):
    """One record of a made-up log. what: commit, uncommit or epoch."""

    what: str
    group: str
    partition: int = 0

    def pair(self, offset: int) -> encode.Pair:
        if self.what == "commit":
            return encode.commit(self.group, partition=self.partition, offset=offset)
        return (
            encode.uncommit(self.group, partition=self.partition)
            if self.what == "uncommit"
            else encode.epoch(self.group, offset)
        )


def kept_by_definition(log: Sequence[Said]) -> set[int]:
    """A commit is kept if no commit of its key stands before it, or none after it, without another
    record of its group between.
    """
    kept = set()
    for offset, one in enumerate(log):
        if one.what != "commit":
            kept.add(offset)
            continue
        for side in (reversed(log[:offset]), iter(log[offset + 1 :])):
            neighbour = next(
                (
                    other
                    for other in side
                    if other.group == one.group and (other.what != "commit" or other == one)
                ),
                None,
            )
            if neighbour is None or neighbour.what != "commit":
                kept.add(offset)
    return kept


SAID = st.builds(
    Said,
    st.sampled_from(["commit"] * 6 + ["uncommit", "epoch"]),
    st.sampled_from(["g", "h", "a-rather-long-group-name-" * 4]),
    st.integers(0, 2),
)


def batches(log: Sequence[Said], sizes: Sequence[int], codec: int = 0) -> bytes:
    content, at = b"", 0
    for size in [*sizes, len(log)]:
        pairs = [one.pair(at + number) for number, one in enumerate(log[at : at + size])]
        if pairs:
            content += encode.batch(at, pairs, ts=TS + at, codec=codec)
        at += len(pairs)
    return content


@settings(max_examples=150)
@given(log=st.lists(SAID, max_size=60), sizes=st.lists(st.integers(1, 9), max_size=20))
def test_reduction_is_exact(log: list[Said], sizes: list[int]) -> None:
    rows = read({"a": batches(log, sizes)})
    expected = kept_by_definition(log)
    assert set(offsets(rows)) == expected
    assert len(offsets(rows)) == len(expected)
    for row in of_kind(rows, "record"):
        key, value = log[row["offset"]].pair(row["offset"])
        assert (row["key"], row["value"], row["group_id"]) == (key, value, log[row["offset"]].group)
        assert TS <= row["ts_ms"] <= TS + row["offset"]
    assert counts(rows)["reduced"] == len(log) - len(expected)
    assert read({"a": batches(log, sizes, codec=4)})[:-1] == rows[:-1]


@settings(max_examples=100)
@given(
    log=st.lists(SAID, max_size=50),
    sizes=st.lists(st.integers(1, 9), max_size=12),
    gone=st.sets(st.integers(0, 49)),
)
def test_reduction_is_the_same_where_the_cleaner_left_holes(
    log: list[Said], sizes: list[int], gone: set[int]
) -> None:
    """Batches with holes take another way through the code; what stays of the log is reduced as if
    it were all.
    """
    content, at = b"", 0
    for size in [*sizes, len(log)]:
        span = range(at, min(at + size, len(log)))
        if span:
            left = {offset - at: log[offset].pair(offset) for offset in span if offset not in gone}
            content += encode.batch(at, left, ts=TS, last_delta=len(span) - 1)
        at += len(span)
    rows = read({"a": content})
    left_offsets = [offset for offset in range(len(log)) if offset not in gone]
    expected = [
        left_offsets[index]
        for index in kept_by_definition([log[offset] for offset in left_offsets])
    ]
    assert set(offsets(rows)) == set(expected)
    assert counts(rows)["holes"] == len(log) - len(left_offsets)
    for row in of_kind(rows, "record"):
        assert row["last_hole"] == max(
            (offset for offset in gone if offset < row["offset"]), default=-1
        )


@settings(max_examples=50)
@given(log=st.lists(SAID, max_size=40), moves=st.sets(st.integers(1, 39), max_size=4))
def test_commits_on_both_sides_of_a_move_of_the_leader_are_kept(
    log: list[Said], moves: set[int]
) -> None:
    """The first record of a group under another leader, and the last before it, may be commits."""
    content, expected = b"", set[int]()
    edges = sorted({0, *(move for move in moves if move < len(log)), len(log)})
    for leader_epoch, (begin, end) in enumerate(pairwise(edges)):
        pairs = [log[offset].pair(offset) for offset in range(begin, end)]
        content += encode.batch(begin, pairs, leader_epoch=leader_epoch)
        expected |= {begin + kept for kept in kept_by_definition(log[begin:end])}
    rows = read({"a": content})
    assert set(offsets(rows)) == expected
    assert len(offsets(rows)) == len(expected)


@pytest.mark.parametrize("size", [1, 63, 64, 65, 127, 128, 129, 8191, 8192, 8193, 20000])
def test_lengths_at_the_edges_of_varints(size: int) -> None:
    """Keys and values around the sizes where a varint grows, and batches with as many records."""
    group = "g" * (size - 11 if size > 11 else 1)
    pairs = [
        encode.commit(group, metadata="m" * min(size, 20000)),
        encode.commit(group),
        encode.commit(group, offset=7, metadata="m" * size),
    ]
    rows = of_kind(read({"a": encode.batch(0, pairs)}), "record")
    assert [(row["offset"], row["key"], row["value"]) for row in rows] == [
        (0, *pairs[0]),
        (2, *pairs[2]),
    ]
    if size <= 8193:
        rows = read(
            {
                "a": encode.batch(
                    0, [encode.commit("g", offset=offset) for offset in range(size + 1)]
                )
            }
        )
        assert offsets(rows) == [0, size]


def test_headers_of_records_are_passed_over() -> None:
    key, value = encode.commit("g")
    body = (
        b"\0\0\2"
        + encode.zigzag(len(key))
        + key
        + encode.zigzag(len(value))
        + value
        + encode.zigzag(1)
        + b"\2h\2v"
    )
    second = encode.zigzag(len(body)) + body
    content = encode.seal(
        0, encode.record(0, (key, value)) + second, count=2, last_delta=1, max_ts=TS, base_ts=TS
    )
    assert [(row["offset"], row["value"]) for row in of_kind(read({"a": content}), "record")] == [
        (0, value),
        (1, value),
    ]


def test_a_value_that_does_not_fit_its_record_is_damage() -> None:
    key, value = encode.commit("g")
    body = b"\0\0\2" + encode.zigzag(len(key)) + key + encode.zigzag(500) + value
    content = encode.seal(
        0, encode.record(0, (key, value)) + encode.zigzag(len(body)) + body, count=2, last_delta=1
    )
    rows = read({"a": content + encode.batch(2, [encode.epoch("g")])})
    assert (offsets(rows), offsets(rows, "damage"), counts(rows)["unusable"]) == ([0, 2], [1], 1)
    assert [row["last_hole"] for row in of_kind(rows, "record")] == [-1, 1], "what it said is lost"


# ---------------------------------------------------------------- transactions


def transaction(base: int, groups: Sequence[str], producer: int) -> bytes:
    return encode.transaction(base, groups, producer, ts=TS)


def test_a_committed_transaction_counts_from_its_marker_on() -> None:
    content = (
        transaction(0, ["g", "h"], 7)
        + encode.batch(2, [encode.epoch("g")], ts=TS + 2)
        + encode.marker(3, 7, committed=True, ts=TS + 3, leader_epoch=2)
        + encode.batch(4, [encode.epoch("g")], ts=TS + 4)
    )
    rows = read({"a": content})
    assert [(row["kind"], row["offset"], row["group_id"], row["producer_id"]) for row in rows[:-1]] == [
        ("record", 2, "g", -1), ("marker", 3, "", 7), ("record", 3, "g", 7), ("record", 3, "h", 7), ("record", 4, "g", -1)
    ]  # fmt: skip
    commit = rows[2]
    assert (
        commit["ts_ms"],
        commit["leader_epoch"],
        commit["batch_base_offset"],
        commit["value"],
    ) == (TS + 3, 2, 3, encode.commit("g", offset=0)[1])
    assert (rows[1]["detail"], rows[1]["leader_epoch"], rows[1]["batch_base_offset"]) == (
        {"committed": True},
        2,
        3,
    )
    assert (counts(rows)["control"], counts(rows)["holes"], counts(rows)["records"]) == (1, 0, 4)


def test_an_aborted_transaction_never_counts() -> None:
    rows = read(
        {
            "a": (
                transaction(0, ["g", "g"], 7)
                + encode.marker(2, 7, committed=False)
                + encode.batch(3, [encode.commit("g", offset=9)])
            )
        }
    )
    assert [(row["kind"], row["offset"]) for row in rows[:-1]] == [("marker", 2), ("record", 3)]
    assert rows[0]["detail"] == {"committed": False}
    assert (counts(rows)["aborted"], counts(rows)["last_hole"]) == (2, -1)


def test_a_marker_that_the_cleaner_took_is_no_hole() -> None:
    """The cleaner keeps the batch of a producer's last marker, without its record."""
    content = (
        encode.batch(0, [encode.epoch("g")])
        + encode.batch(1, {}, attributes=encode.TRANSACTIONAL | encode.CONTROL, producer_id=7)
        + encode.batch(2, [encode.epoch("g", 2)])
        + encode.batch(4, {}, attributes=encode.TRANSACTIONAL | encode.CONTROL, producer_id=7)
        + encode.batch(5, [encode.epoch("g", 3)])
    )
    rows = read({"a": content})
    found = [(row["offset"], row["last_hole"]) for row in of_kind(rows, "record")]
    assert found == [(0, -1), (2, -1), (5, 3)]
    assert (counts(rows)["control"], counts(rows)["holes"]) == (2, 1)


def test_only_the_last_commit_of_a_key_in_a_transaction_was_ever_visible() -> None:
    rows = read(
        {"a": transaction(0, ["g", "h", "g", "g"], 7) + encode.marker(4, 7, committed=True)}
    )
    assert [(row["offset"], row["group_id"], row["value"]) for row in of_kind(rows, "record")] == [
        (4, "g", encode.commit("g", offset=3)[1]), (4, "h", encode.commit("h", offset=1)[1])
    ]  # fmt: skip
    assert counts(rows)["reduced"] == 2


def test_transactions_of_several_producers_do_not_mix() -> None:
    content = (
        transaction(0, ["a"], 1) + transaction(1, ["b"], 2) + encode.marker(2, 1, committed=False) + transaction(3, ["c"], 1)
        + encode.marker(4, 2, committed=True) + encode.marker(5, 1, committed=True) + encode.marker(6, 1, committed=False)
    )  # fmt: skip
    rows = read({"a": content})
    assert [(row["offset"], row["group_id"]) for row in of_kind(rows, "record")] == [
        (4, "b"),
        (5, "c"),
    ]
    assert [
        (row["offset"], row["producer_id"], row["detail"]["committed"])
        for row in of_kind(rows, "marker")
    ] == [(2, 1, False), (4, 2, True)]


def test_marked_commits_are_reduced_like_any() -> None:
    content, at = b"", 0
    for _ in range(10):
        content += transaction(at, ["g"], 7) + encode.marker(at + 1, 7, committed=True)
        at += 2
    rows = read({"a": content + encode.batch(at, [encode.epoch("g")])})
    assert offsets(rows) == [1, 19, 20]
    assert counts(rows)["reduced"] == 8


def test_other_control_records_end_nothing() -> None:
    other = encode.batch(
        1, [(b"\0\0\0\x05", b"x")], attributes=encode.TRANSACTIONAL | encode.CONTROL, producer_id=7
    )
    rows = read(
        {
            "a": (
                transaction(0, ["g"], 7)
                + other
                + encode.batch(2, [(None, None)], attributes=encode.CONTROL)
            )
        }
    )
    assert [row["kind"] for row in rows] == ["open_commit", "unit"]
    assert counts(rows)["control"] == 2


def test_other_records_of_a_transactional_batch_count_at_once() -> None:
    """The coordinator writes none; its replay would apply them at once."""
    pairs = [encode.epoch("g"), encode.uncommit("g"), encode.commit("g")]
    rows = read({"a": encode.batch(0, pairs, attributes=encode.TRANSACTIONAL, producer_id=7)})
    assert [(row["kind"], row["offset"]) for row in rows[:-1]] == [
        ("record", 0),
        ("record", 1),
        ("open_commit", 2),
    ]


# ---------------------------------------------------------------- a log that grows


def facts(rows: list[Row], *kinds: str) -> set[tuple[object, ...]]:
    return {tuple(row[name] for name in FACTS) for row in rows if row["kind"] in kinds}


@settings(max_examples=120)
@given(
    log=st.lists(SAID | st.integers(0, 3), min_size=1, max_size=40),
    cut=st.integers(0, 40),
    by_size=st.booleans(),
)
def test_reading_a_growing_log_in_two_parts_keeps_what_one_reading_keeps(
    log: list[Said | int], cut: int, by_size: bool
) -> None:
    """Numbers are markers: of producer 0 or 1, COMMIT if odd. Every commit of a group whose name
    has no `h` is in a transaction of producer 0 or 1.

    What one reading keeps, the two keep, at most with more at the edge, once open commits are
    settled by the markers that follow them.
    """
    content, ends = b"", [0]
    for offset, one in enumerate(log):
        if isinstance(one, int):
            content += encode.marker(offset, one // 2, committed=one % 2 == 1, ts=TS + offset)
        elif one.what == "commit" and one.group != "h":
            content += encode.batch(
                offset,
                [one.pair(offset)],
                ts=TS + offset,
                attributes=encode.TRANSACTIONAL,
                producer_id=one.partition % 2,
            )
        else:
            content += encode.batch(offset, [one.pair(offset)], ts=TS + offset)
        ends.append(len(content))
    cut = min(cut, len(log))
    whole = read({"a": content})
    before = (
        read({"a": content}, sizes={"a": ends[cut]}) if by_size else read({"a": content}, end=cut)
    )
    after = read({"a": content}, start=counts(before)["next_offset"])
    parts = settled(of_kind(before, "open_commit"), of_kind(after, "marker")) + before + after
    assert facts(whole, "record") <= facts(parts, "record")
    extra = facts(parts, "record") - facts(whole, "record")
    assert len(extra) <= 2 * 9
    assert counts(before)["records"] + counts(after)["records"] == counts(whole)["records"]
    still_open = [
        row
        for row in of_kind(before, "open_commit")
        if row["producer_id"] not in {one["producer_id"] for one in of_kind(after, "marker")}
        and row["key"] not in {one["key"] for one in of_kind(after, "record") if not one["value"]}
    ]
    assert facts(whole, "open_commit") == facts(still_open + after, "open_commit")


def settled(open_commits: list[Row], markers: list[Row]) -> list[Row]:
    """Open commits, where a COMMIT marker of their producer follows, at that marker; of each key
    the last.
    """
    by_producer = {marker["producer_id"]: marker for marker in markers}
    last: dict[tuple[int, bytes], Row] = {}
    for commit in open_commits:
        marker = by_producer.get(commit["producer_id"])
        if marker is not None and marker["detail"]["committed"]:
            place = {
                "kind": "record",
                "offset": marker["offset"],
                "ts_ms": marker["ts_ms"],
                "leader_epoch": 0,
                "batch_base_offset": marker["offset"],
            }
            last[commit["producer_id"], commit["key"]] = {**commit, **place}
    return list(last.values())
