"""Commits of open transactions: what takes them out before their marker comes."""

from __future__ import annotations

from tests.wire import encode
from tests.wire.reading import counts, of_kind, read

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
