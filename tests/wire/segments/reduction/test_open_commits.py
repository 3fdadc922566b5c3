"""Commits of transactions: what takes them out before their marker comes, and which are kept."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wire import encode
from tests.wire.reading import Row, counts, of_kind, offsets, read

TS = 1_700_000_000_000


def test_a_deleted_offset_takes_out_what_open_transactions_have_of_it() -> None:
    content = (
        encode.transaction(0, ["g", "h"], 7, ts=TS)
        + encode.transaction(2, ["g"], 8, ts=TS)
        + encode.batch(3, [encode.uncommit("g")], ts=TS + 3)
        + encode.transaction(4, ["g"], 8, ts=TS)
        + encode.marker(5, 7, committed=True)
        + encode.marker(6, 8, committed=True)
    )
    rows = read({"a": content})
    assert [(row["offset"], row["group_id"], row["value"]) for row in of_kind(rows, "record")] == [
        (3, "g", None),
        (5, "h", encode.commit("h", offset=1)[1]),
        (6, "g", encode.commit("g", offset=4)[1]),
    ]
    assert (counts(rows)["aborted"], counts(rows)["reduced"]) == (2, 0)


def test_a_deleted_offset_is_no_open_commit_any_more() -> None:
    rows = read(
        {"a": encode.transaction(0, ["g", "h"], 7, ts=TS) + encode.batch(2, [encode.uncommit("g")])}
    )
    assert [(row["offset"], row["group_id"]) for row in of_kind(rows, "open_commit")] == [(1, "h")]


def test_a_partition_keeps_the_commit_that_was_written_last() -> None:
    """A plain commit, or one of a transaction that ends first, counts when the marker comes."""
    content = (
        encode.transaction(0, ["g", "h"], 7, ts=TS)
        + encode.batch(2, [encode.commit("g", offset=2)], ts=TS + 2)
        + encode.transaction(3, ["h"], 8, ts=TS)
        + encode.marker(4, 8, committed=True)
        + encode.marker(5, 7, committed=True)
        + encode.batch(6, [encode.epoch("g"), encode.epoch("h")], ts=TS + 6)
    )
    rows = read({"a": content})
    found = [(row["offset"], row["value"], row["detail"]) for row in of_kind(rows, "record")]
    assert found[:2] == [
        (2, encode.commit("g", offset=2)[1], None),
        (4, encode.commit("h", offset=3)[1], {"own_offset": 3}),
    ]
    assert (len(found), counts(rows)["aborted"], counts(rows)["reduced"]) == (4, 2, 0)


def test_a_commit_written_before_takes_no_open_one_out() -> None:
    content = (
        encode.transaction(0, ["g"], 7, ts=TS)
        + encode.transaction(1, ["g"], 8, ts=TS)
        + encode.marker(2, 7, committed=True)
        + encode.marker(3, 8, committed=True)
    )
    rows = read({"a": content})
    assert [(row["offset"], row["detail"]["own_offset"]) for row in of_kind(rows, "record")] == [
        (2, 0),
        (3, 1),
    ]
    assert counts(rows)["aborted"] == 0


class Written(NamedTuple):
    """One record of a made-up log of one group. what: commit, uncommit, epoch, or the end of the
    producer's transaction.
    """

    what: str
    partition: int
    producer: int

    def batch(self, offset: int) -> bytes:
        if self.what in ("COMMIT", "ABORT"):
            return encode.marker(offset, max(self.producer, 0), committed=self.what == "COMMIT")
        if self.what != "commit":
            no_commit = encode.epoch("g", offset)
            pair = encode.uncommit("g", partition=self.partition)
            return encode.batch(offset, [pair if self.what == "uncommit" else no_commit])
        commit = encode.commit("g", partition=self.partition, offset=offset)
        attributes = encode.TRANSACTIONAL if self.producer >= 0 else 0
        return encode.batch(offset, [commit], attributes=attributes, producer_id=self.producer)


WRITTEN = st.builds(
    Written,
    st.sampled_from(["commit"] * 5 + ["COMMIT"] * 2 + ["ABORT", "uncommit", "epoch"]),
    st.integers(0, 1),
    st.integers(-1, 1),
)


def counted(log: Sequence[Written]) -> list[tuple[int, int, int]]:
    """(offset where it counts, own offset, partition) of every commit that ever counted, as the
    coordinator's replay takes them over.
    """
    found, kept, open_commits = [], dict[int, int](), dict[int, dict[int, int]]()
    for offset, (what, partition, producer) in enumerate(log):
        if what == "uncommit":
            kept.pop(partition, None)
            for commits in open_commits.values():
                commits.pop(partition, None)
        elif what == "commit" and producer >= 0:
            open_commits.setdefault(producer, {})[partition] = offset
        elif what == "commit":
            kept[partition] = offset
            found.append((offset, offset, partition))
        elif what in ("COMMIT", "ABORT"):
            for number, own in open_commits.pop(max(producer, 0), {}).items():
                if what == "COMMIT" and own > kept.get(number, -1):
                    kept[number] = own
                    found.append((offset, own, number))
    return found


@settings(max_examples=200)
@given(log=st.lists(WRITTEN, max_size=40), cuts=st.sets(st.integers(1, 39), max_size=2))
def test_commits_count_as_the_coordinator_replays_them(log: list[Written], cuts: set[int]) -> None:
    """Of a log that is read in several units: those that stay count where they did, and the last
    before a change and the first after it stay.
    """
    content = b"".join(one.batch(offset) for offset, one in enumerate(log))
    edges = sorted({0, *(cut for cut in cuts if cut < len(log)), len(log)})
    units = [read({"a": content}, start=begin, end=end) for begin, end in pairwise(edges)]
    found = set(settled([row for rows in units for row in rows if row["kind"] != "unit"]))
    expected = counted(log)
    changes = [offset for offset, one in enumerate(log) if one.what in ("uncommit", "epoch")]
    assert found <= set(expected)
    for begin, end in pairwise([-1, *changes, len(log)]):
        for partition in (0, 1):
            own = [one for one in expected if begin < one[0] < end and one[2] == partition]
            assert not own or {own[0], own[-1]} <= found


def settled(rows: Sequence[Row]) -> list[tuple[int, int, int]]:
    """(offset where it counts, own offset, partition) of the commits that rows of several units
    come to (`night.frames.transactions`).
    """
    counts_at = []
    for row in of_kind(list(rows), "open_commit"):
        ends = [
            one
            for one in of_kind(list(rows), "marker")
            if one["producer_id"] == row["producer_id"] and one["offset"] > row["offset"]
        ]
        if ends and ends[0]["detail"]["committed"]:
            counts_at.append((ends[0]["offset"], row["offset"], row["key"], True))
    for row in of_kind(list(rows), "record"):
        own_offset = (row["detail"] or {}).get("own_offset", row["offset"])
        counts_at.append((row["offset"], own_offset, row["key"], row["value"] is not None))
    return [
        (at, own, int.from_bytes(key[-4:], "big"))
        for at, own, key, has_value in counts_at
        if has_value
        and key[1] == 1
        and not any(key == other[2] and own < other[1] and other[0] <= at for other in counts_at)
    ]


def test_a_transaction_whose_marker_is_elsewhere_is_kept_whole() -> None:
    content = encode.transaction(0, ["g", "g", "g"], 7, ts=TS)
    rows = read({"a": content})
    assert [
        (row["kind"], row["offset"], row["batch_base_offset"], row["ts_ms"], row["producer_id"])
        for row in rows[:-1]
    ] == [("open_commit", offset, 0, TS, 7) for offset in range(3)]
    after = read({"a": content + encode.marker(3, 7, committed=True)}, start=3)
    assert [(row["kind"], row["offset"], row["detail"]) for row in after[:-1]] == [
        ("marker", 3, {"committed": True})
    ]


def test_commits_inside_and_outside_of_transactions_are_reduced_by_themselves() -> None:
    """Those inside do not name the topic's id: of those outside the first stays, wherever it is."""
    content, at = b"", 0
    for _ in range(5):
        content += encode.transaction(at, ["g"], 7, ts=TS) + encode.marker(
            at + 1, 7, committed=True
        )
        content += encode.batch(at + 2, [encode.commit("g", offset=at)])
        at += 3
    rows = read({"a": content + encode.batch(at, [encode.epoch("g")])})
    assert sorted(offsets(rows)) == [1, 2, 13, 14, 15]
    assert counts(rows)["reduced"] == 6
