"""A unit of several replicas of one partition is read as one log."""

from __future__ import annotations

from itertools import pairwise

from tests.wire import encode
from tests.wire.logs import log
from tests.wire.reading import counts, of_kind, offsets, read, reasons


def test_the_same_input_twice_changes_nothing() -> None:
    content = b"".join(log())
    once, twice = read({"a": content}), read({"a": content, "b": content})
    assert twice[:-1] == once[:-1]
    assert counts(twice) == {**counts(once), "duplicates": 15}


def test_rolled_segments_of_several_replicas_follow_each_other() -> None:
    batches = log(9, 3)

    def name(replica: str, offset: int) -> str:
        return f"/{replica}/__consumer_offsets-0/{offset:020}.log"

    files = {
        name("x", 0): b"".join(batches[:3]),
        name("x", 9): b"".join(batches[3:5]),
        name("x", 15): b"".join(batches[5:]),
        name("y", 0): b"".join(batches[:4]),
        name("y", 12): b"".join(batches[4:8]),
        name("z", 6): b"".join(batches[2:]),
    }
    rows = read(files)
    assert offsets(rows) == list(range(27))
    assert counts(rows)["duplicates"] == 24 + 21
    assert read(dict(reversed(files.items()))) == rows


def test_segments_of_one_replica_that_overlap_are_one_log() -> None:
    """As where somebody copied a folder over another that had rolled elsewhere."""
    batches = log(9, 3)
    folder = "/x/__consumer_offsets-0"
    files = {
        f"{folder}/{0:020}.log": b"".join(batches[:5]),
        f"{folder}/{9:020}.log": b"".join(batches[3:7]),
        f"{folder}/{15:020}.log": b"".join(batches[5:]),
    }
    rows = read(files)
    assert offsets(rows) == list(range(27))
    assert (counts(rows)["duplicates"], counts(rows)["holes"]) == (12, 0)
    assert of_kind(rows, "conflict") == of_kind(rows, "damage") == []
    assert read(dict(reversed(files.items()))) == rows


def test_replicas_compacted_differently_are_united() -> None:
    pairs = [encode.epoch("g", number) for number in range(6)]
    one = encode.batch(0, {0: pairs[0], 3: pairs[3], 5: pairs[5]}, last_delta=5)
    other = encode.batch(0, {0: pairs[0], 1: pairs[1], 5: pairs[5]}, last_delta=5)
    more = encode.batch(6, [encode.epoch("g")])
    for files in ({"a": one + more, "b": other + more}, {"a": other + more, "b": one + more}):
        rows = read(files)
        assert [(row["offset"], row["last_hole"], row["batch_base_offset"]) for row in of_kind(rows, "record")] == [
            (0, -1, 0), (1, -1, 0), (3, 2, 0), (5, 4, 0), (6, 4, 6)
        ]  # fmt: skip
        assert of_kind(rows, "conflict") == []
        assert (counts(rows)["holes"], counts(rows)["duplicates"]) == (2, 3)


def test_a_batch_that_one_replica_lost_whole_is_no_hole() -> None:
    batches = log(5)
    rows = read({"a": b"".join(batches[:2] + batches[3:]), "b": b"".join(batches[1:4])})
    assert (offsets(rows), counts(rows)["holes"]) == (list(range(15)), 0)


def test_different_bytes_at_one_offset_go_to_the_higher_leader_epoch() -> None:
    old = encode.batch(
        3, [encode.epoch("g", 1), encode.epoch("g", 2)], leader_epoch=4
    ) + encode.batch(5, [encode.epoch("g", 3)], leader_epoch=4)
    new = encode.batch(
        3, [encode.epoch("g", 1), encode.epoch("g", 9), encode.epoch("g", 10)], leader_epoch=5
    )
    same = encode.batch(0, [encode.epoch("g")] * 3, leader_epoch=4)
    for files in ({"a": same + old, "b": same + new}, {"b": same + old, "a": same + new}):
        rows = read(files)
        assert offsets(rows) == list(range(6))
        assert [
            (row["leader_epoch"], row["batch_base_offset"]) for row in of_kind(rows, "record")[3:]
        ] == [(5, 3)] * 3
        assert [row["value"] for row in of_kind(rows, "record")[4:]] == [
            encode.epoch("g", 9)[1],
            encode.epoch("g", 10)[1],
        ]
        lost = next(name for name, content in files.items() if content.endswith(old))
        assert [(row["offset"], row["detail"]) for row in of_kind(rows, "conflict")] == [
            (offset, {"kept_leader_epoch": 5, "dropped_leader_epoch": 4, "path": lost})
            for offset in (4, 5)
        ]
        assert counts(rows)["duplicates"] == 4


def test_logs_that_parted_for_good_are_read_a_batch_at_a_time() -> None:
    """Batches of 3 against batches of 4, for ever: the merge never comes to a common border, and
    needs none.
    """
    pairs = [encode.epoch("g", number) for number in range(240)]
    threes = b"".join(
        encode.batch(at, pairs[at : at + 3], leader_epoch=1) for at in range(0, 240, 3)
    )
    fours = b"".join(
        encode.batch(at, pairs[at : at + 4], leader_epoch=2) for at in range(0, 240, 4)
    )
    rows = read({"a": threes, "b": fours})
    assert offsets(rows) == list(range(240))
    assert {row["leader_epoch"] for row in of_kind(rows, "record")} == {2}
    assert (counts(rows)["duplicates"], of_kind(rows, "conflict")) == (240, [])


def test_a_good_replica_stands_in_for_a_damaged_one() -> None:
    batches = log()
    broken = bytearray(b"".join(batches))
    broken[len(batches[0]) + 70] ^= 1
    rows = read({"a": bytes(broken), "b": b"".join(batches)})
    assert (offsets(rows), counts(rows)["holes"], len(reasons(rows))) == (list(range(15)), 0, 1)


def test_offsets_only_rise() -> None:
    batches = log()
    rows = read({"a": b"".join(batches + batches[1:3])})
    found = offsets(rows)
    assert found == list(range(15))
    assert all(before < after for before, after in pairwise(found))
    assert reasons(rows) == [
        "base offset 3, last offset 5, where 15 or more was due",
        "base offset 6, last offset 8, where 15 or more was due",
    ]
