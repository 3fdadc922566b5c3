"""Merging, with logs that are lists: what is opened when, and any set of logs against the union by
definition.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from groupreplay.wire.segments.batches import (
    BINARY,
    CONTROL,
    JSON,
    Batch,
    Conflict,
    Damage,
    Duplicates,
    Item,
    LogRecord,
)
from groupreplay.wire.segments.replicas import Log, merge
from tests.wire import dump_text, encode
from tests.wire.reading import offsets, read, reasons


def batch(
    base: int,
    contents: Sequence[tuple[int, bytes]],
    last: int | None = None,
    epoch: int = 0,
    name: str = "a",
) -> Batch:
    records = [LogRecord(offset, 0, b"k", content) for offset, content in contents]
    end = last if last is not None else records[-1].offset
    return Batch(
        base,
        end,
        epoch,
        hash((base, end, tuple(contents))),
        0,
        0,
        0,
        -1,
        len(records),
        records,
        -1,
        BINARY,
        name,
        0,
    )


def log(rank: str, items: Sequence[Item], opened: list[str] | None = None) -> Log:
    def read() -> Iterator[Item]:
        if opened is not None:
            opened.append(rank)
        yield from items

    first = next((item.base_offset for item in items if isinstance(item, Batch)), 0)
    return Log((rank,), first, read)


def records_of(items: Sequence[Item]) -> dict[int, bytes | None]:
    found: dict[int, bytes | None] = {}
    for item in items:
        if isinstance(item, Batch):
            assert isinstance(item.data, list)
            for record in item.data:
                assert record.offset > max(found, default=-1)
                found[record.offset] = record.value
    return found


def test_logs_are_opened_when_their_turn_comes() -> None:
    opened: list[str] = []
    logs = [
        log(str(number), [batch(number * 10, [(number * 10, b"x")], last=number * 10 + 9)], opened)
        for number in (3, 1, 0, 2)
    ]
    items = merge(logs)
    first = next(items)
    assert isinstance(first, Batch)
    assert (first.base_offset, opened) == (0, ["0"])
    assert [item.base_offset for item in items if isinstance(item, Batch)] == [10, 20, 30]
    assert opened == ["0", "1", "2", "3"]


def test_damage_passes_in_its_place() -> None:
    damage = Damage("a", 5, 5, "broken")
    items = list(
        merge([log("a", [batch(0, [(0, b"x")]), damage, batch(1, [(1, b"y")])]), log("b", [])])
    )
    assert [type(item).__name__ for item in items] == ["Batch", "Damage", "Batch"]


def test_no_logs_are_no_items() -> None:
    assert list(merge([])) == []


CONTENTS = st.dictionaries(
    st.integers(0, 30), st.sampled_from([b"same", b"same", b"same", b"other"]), max_size=20
)


@settings(max_examples=200)
@given(
    replicas=st.lists(
        st.tuples(CONTENTS, st.integers(0, 3), st.integers(0, 1 << 20)), min_size=1, max_size=4
    )
)
def test_any_replicas_are_their_union_and_higher_epochs_win(
    replicas: list[tuple[dict[int, bytes], int, int]],
) -> None:
    logs: list[Log] = []
    for number, (contents, epoch, seed) in enumerate(replicas):
        cuts, batches = random.Random(seed), list[Item]()
        left = sorted(contents.items())
        while left:
            size = cuts.randint(1, 4)
            batches.append(batch(left[0][0], left[:size], epoch=epoch, name=str(number)))
            left = left[size:]
        logs.append(log(str(number), batches))
    expected: dict[int, bytes] = {}
    for contents, _, _ in sorted(replicas, key=lambda one: one[1], reverse=True):
        expected = {**contents, **expected}
    items = list(merge(logs))
    found = records_of(items)
    if len({epoch for _, epoch, _ in replicas}) == len(replicas):
        assert found == expected
    assert set(found) == set(expected)
    total = sum(len(contents) for contents, _, _ in replicas)
    duplicates = sum(item.records for item in items if isinstance(item, Duplicates))
    conflicts = [item for item in items if isinstance(item, Conflict)]
    assert len(found) + duplicates + len(conflicts) == total
    assert all(item.kept_leader_epoch >= item.dropped_leader_epoch for item in conflicts)
    assert list(merge(logs[::-1])) == items


def test_text_and_bytes_of_one_record_are_one() -> None:
    """Compared by what they mean; a sentence that the tool printed instead says nothing against the
    bytes.
    """
    (key, value), (key_text, value_text) = encode.epoch("g", 7), dump_text.epoch("g", 7)
    other_text = dump_text.epoch("g", 8)[1]
    assert value_text is not None
    assert other_text is not None

    def pair(text_key: str, text_value: str, attributes: int = 0) -> list[Item]:
        by_bytes = Batch(
            0, 1, 1, 1, attributes, 0, 0, -1, 1, [LogRecord(0, 0, key, value)], -1, BINARY, "a", 0
        )
        by_text = by_bytes._replace(
            crc=2,
            data=[LogRecord(0, 0, text_key.encode(), text_value.encode())],
            encoding=JSON,
            path="b",
        )
        items = list(
            merge(
                [Log(("1",), 0, lambda: iter([by_text])), Log(("0",), 0, lambda: iter([by_bytes]))]
            )
        )
        assert [item.encoding for item in items if isinstance(item, Batch)] == [BINARY]
        return [item for item in items if not isinstance(item, Batch)]

    assert pair(key_text, value_text) == [Duplicates(1)]
    assert pair("Error at offset 0, skipping. null", value_text) == [Duplicates(1)]
    assert pair(key_text, other_text) == [Conflict(0, 0, 1, 1, "b")]
    assert pair(key_text, value_text, CONTROL)[0] == Conflict(0, 0, 1, 1, "b")


def test_records_that_cannot_be_parsed_are_told_while_comparing() -> None:
    broken = encode.seal(0, encode.record(0, encode.epoch("g")) + b"\x7f", count=2, last_delta=1)
    good = encode.batch(0, [encode.epoch("g"), encode.epoch("g", 2)])
    rows = read({"a": broken, "b": good})
    assert (offsets(rows), reasons(rows)) == ([0, 1], ["record 1 of the batch: a length of -64"])
