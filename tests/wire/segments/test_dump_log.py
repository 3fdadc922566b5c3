"""Text of kafka-dump-log: split right whatever the ids hold, cut lines and foreign lines told,
several dumps in one text.
"""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupreplay.wire.byte_stream import ByteStream
from groupreplay.wire.records.consumer_offsets import decode
from groupreplay.wire.records.dump_json import decode_json
from groupreplay.wire.segments import dump_log
from tests.wire import encode
from tests.wire.dump_text import (
    batch,
    batch_line,
    commit,
    deleted,
    epoch,
    head,
    marker,
    record_line,
)
from tests.wire.reading import Row, counts, of_kind, offsets, packed, read, reasons


def rows_of_text(text: str, **more: int) -> list[Row]:
    return read({"dump": text.encode("utf-8", "surrogatepass")}, **more)  # type: ignore[arg-type]


def stream(text: str) -> ByteStream:
    return ByteStream("dump", -1, lambda _path: io.BytesIO(text.encode()))


def test_a_text_is_read() -> None:
    text = head() + batch(0, [epoch("g", 7), deleted(epoch("g"))], ts=90, epoch=3)
    for rows in (
        rows_of_text(text),
        rows_of_text(text.replace("\n", "\r\n")),
        rows_of_text(text.removesuffix("\n")),
        read({"dump": packed(text.encode())}),
    ):
        first, second = of_kind(rows, "record")
        assert {**first, "detail": None} == {
            "kind": "record", "offsets_partition": 0, "offset": 0, "ts_ms": 100, "leader_epoch": 3, "batch_base_offset": 0, "last_hole": -1,
            "encoding": "json", "group_id": "g", "key": epoch("g")[0].encode(), "value": epoch("g", 7)[1].encode(),  # type: ignore[union-attr]
            "producer_id": -1, "source": "segments", "input": "__consumer_offsets-0", "detail": None,
        }  # fmt: skip
        assert (second["value"], counts(rows)["batch_crc"], counts(rows)["next_offset"]) == (
            None,
            1,
            2,
        )


@pytest.mark.parametrize(
    "group",
    [
        " payload: {",
        'a" payload: {"b',
        "key: ",
        "\\",
        '"',
        "\n| offset: 0",
        "<DELETE>",
        "}}",
        "é€😀",
        "",
        "x" * 32767,
        "\u2028",
        '{"type":"1"}',
    ],
)
@pytest.mark.parametrize("make", [commit, epoch])
def test_ids_may_hold_anything(group: str, make: object) -> None:
    printed = [make(group, 1), make(group, 2), make(group, 3)]  # type: ignore[operator]
    rows = of_kind(rows_of_text(head() + batch(0, printed)), "record")
    expected = printed if make is epoch else [printed[0], printed[2]]
    assert [(row["key"], row["value"], row["group_id"]) for row in rows] == [
        (key.encode(), value.encode(), group) for key, value in expected
    ]


@settings(max_examples=100)
@given(
    group=st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    metadata=st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
)
def test_text_and_bytes_of_a_commit_mean_the_same(group: str, metadata: str) -> None:
    row, _ = rows_of_text(head() + batch(0, [commit(group, 4, metadata=metadata)]))
    key, value = encode.commit(group, offset=4, ts_ms=5, metadata=metadata)
    assert decode_json(row["key"], row["value"]) == decode(key, value)


def test_escaped_surrogates_become_text() -> None:
    key = '{"type":"3","data":{"groupId":"a\\ud800\\ud83d\\ude00"}}'
    row, _ = rows_of_text(head() + batch(0, [(key, "<DELETE>")]))
    assert row["group_id"] == "a\\ud800😀"
    assert decode_json(row["key"], None).group_id == row["group_id"]  # type: ignore[union-attr]


def test_sentences_in_place_of_a_key_are_kept() -> None:
    sentences = [
        "Unknown record type 99 at offset 0, skipping.",
        "Error at offset 1, skipping. Invalid 9 payload: x",
        "offset_commit::group=g",
    ]
    rows = of_kind(
        rows_of_text(head() + batch(0, [(sentence, None) for sentence in sentences])), "record"
    )
    assert [(row["key"].decode(), row["value"], row["group_id"]) for row in rows] == [
        (sentence, None, "") for sentence in sentences
    ]
    assert [row["last_hole"] for row in rows] == [-1, -1, 1], "the second was of some group"


def test_transactions_of_a_text() -> None:
    text = (
        head() + batch(0, [commit("a")], transactional="true", producer=7) + marker(1, 7, "COMMIT")
    )
    text += batch(2, [commit("b")], transactional="true", producer=7) + marker(3, 7, "ABORT")
    text += batch(4, [commit("c")], transactional="true", producer=8)
    rows = rows_of_text(text)
    assert [(row["kind"], row["offset"], row["group_id"], row["producer_id"]) for row in rows[:-1]] == [
        ("marker", 1, "", 7), ("record", 1, "a", 7), ("open_commit", 4, "c", 8)
    ]  # fmt: skip
    assert (counts(rows)["aborted"], counts(rows)["control"]) == (1, 2)


def test_append_time_is_the_records_time() -> None:
    text = head() + batch(0, [epoch("g")], time="LogAppendTime", ts=300)
    assert rows_of_text(text)[0]["ts_ms"] == 300


# ---------------------------------------------------------------- damage


def test_a_line_cut_in_half_costs_itself() -> None:
    """At every place; the record after it and the batch after that stay."""
    before, after = head() + batch(0, [epoch("g", 1)]), batch(4, [epoch("g", 5)])
    middle = [epoch("g", 2), commit("g"), epoch("g", 4)]
    whole = batch(1, middle).splitlines()
    for cut in range(2, len(whole[2]) - 1):
        text = before + "\n".join([whole[0], whole[1], whole[2][:cut], whole[3]]) + "\n" + after
        rows = rows_of_text(text)
        assert offsets(rows) == [0, 1, 3, 4], cut
        (row,) = of_kind(rows, "damage")
        line_at = len(before) + len(whole[0]) + len(whole[1]) + 2
        assert (row["detail"]["position"], row["detail"]["bytes"], row["value"]) == (
            line_at,
            cut + 1,
            whole[2][:cut].encode(),
        )
        assert counts(rows)["last_hole"] == 2
    for cut in range(1, len(whole[0])):
        rows = rows_of_text(before + "\n".join([whole[0][:cut], *whole[1:]]) + "\n" + after)
        assert offsets(rows) == [0, 4], cut
        assert counts(rows)["holes"] == 3


def test_a_record_whose_batch_line_is_lost_is_not_believed() -> None:
    """It may be of an aborted transaction."""
    lines = batch(0, [commit("g")]).splitlines() + batch(1, [epoch("g")]).splitlines()[1:]
    rows = rows_of_text(head() + "\n".join(lines) + "\n")
    assert (offsets(rows), reasons(rows)) == ([0], ["offset 1 in a batch of 0 to 0"])
    rows = rows_of_text(record_line(0, epoch("g")) + "\n" + batch(1, [epoch("g")]))
    assert (offsets(rows), reasons(rows)) == ([1], ["record of a batch that cannot be used"])


def test_a_text_that_is_still_being_written_ends_before_its_last_batch() -> None:
    start, last = (
        head() + batch(0, [epoch("g")]),
        batch(1, [epoch("g", 1), commit("g"), epoch("g", 3)]),
    )
    for cut in range(len(last) - 1):
        rows = rows_of_text(start + last[:cut])
        assert (offsets(rows), reasons(rows), counts(rows)["next_offset"]) == ([0], [], 1), cut


def test_missing_record_lines_are_told() -> None:
    lines = batch(0, [epoch("g", number) for number in range(4)]).splitlines()
    rows = rows_of_text(
        head() + "\n".join([lines[0], lines[1], lines[4]]) + "\n" + batch(4, [epoch("g")])
    )
    assert (offsets(rows), reasons(rows), counts(rows)["last_hole"]) == (
        [0, 3, 4],
        ["2 of 4 record lines are missing"],
        2,
    )
    rows = rows_of_text(head() + batch_line(0, 3, 4) + "\n" + batch(4, [epoch("g")]))
    assert reasons(rows) == ["record lines are missing (print with --offsets-decoder)"]


def test_forms_that_cannot_be_used_are_named() -> None:
    bare = "| offset: 0 CreateTime: 100 keySize: 1 valueSize: 1 sequence: 0 headerKeys: []"
    unmeta = f"|  key: {epoch('g')[0]} payload: {epoch('g')[1]}"
    for line, reason in (
        (bare, "record line has no key (print with --offsets-decoder)"),
        (unmeta, "record metadata is missing (print without --skip-record-metadata)"),
        ("| offset: x", "record line cannot be read"),
        (bare + " key: raw bytes payload: more", "key is no JSON (print with --offsets-decoder)"),
    ):
        rows = rows_of_text(
            head() + batch_line(0, 0, 1) + "\n" + line + "\n" + batch(1, [epoch("g")])
        )
        assert (offsets(rows), reasons(rows)) == ([1], [reason])


def test_batches_with_a_wrong_checksum_are_damage() -> None:
    rows = rows_of_text(
        head()
        + batch(0, [epoch("g")])
        + batch(1, [epoch("g")], valid="false")
        + batch(2, [epoch("g")])
    )
    assert offsets(rows) == [0, 2]
    assert reasons(rows) == ["checksum does not match", "record of a batch that cannot be used"]


def test_old_formats_are_named() -> None:
    old = (
        "offset: 0 position: 0 CreateTime: 100 size: 70 magic: 1 compresscodec: none crc: 77"
        " isvalid: true\n"
    )
    old += "| offset: 0 CreateTime: 1 keySize: 1 valueSize: 1\n"
    rows = rows_of_text(head() + old + batch(1, [epoch("g")]))
    assert offsets(rows) == [1]
    assert reasons(rows)[0] == "record format v1 (magic 1) is not read"


def test_lines_that_the_tool_prints_beside_are_no_damage() -> None:
    text = (
        head()
        + batch(0, [epoch("g")])
        + "Found 77 invalid bytes at the end of 00000000000000000000.log\n\nNon-consecutive offsets"
        " in /d/00000000000000000000.log\n  3 is followed by 7\nIgnoring unknown file"
        " /d/leader-epoch-checkpoint\n"
    )
    assert reasons(rows_of_text(text)) == []
    assert reasons(rows_of_text(head() + "Found 5000000 invalid bytes at the end of 0.log\n")) == [
        "kafka-dump-log could not use the last 5000000 bytes of the segment"
    ]


def test_foreign_lines_are_one_row() -> None:
    trace = "Exception in thread main\n" + "\tat kafka.tools.DumpLogSegments\n" * 50
    rows = rows_of_text(head() + batch(0, [epoch("g")]) + trace + batch(1, [epoch("g")]))
    (row,) = of_kind(rows, "damage")
    assert (offsets(rows), row["detail"]["bytes"], row["detail"]["reason"]) == (
        [0, 1],
        len(trace),
        "not a line of kafka-dump-log",
    )
    assert row["detail"]["position"] == len(head() + batch(0, [epoch("g")]))


def test_an_endless_line_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dump_log, "LINE_BYTES_MAX", 3 << 20)
    text = head() + batch(0, [epoch("g")]) + "x" * (9 << 20) + "\n" + batch(1, [epoch("g")])
    rows = rows_of_text(text)
    assert (offsets(rows), len(reasons(rows))) == ([0, 1], 1)


@settings(max_examples=60)
@given(junk=st.binary(max_size=200), at=st.integers(0, 3))
def test_any_bytes_are_no_failure(junk: bytes, at: int) -> None:
    pieces = [
        head().encode(),
        batch(0, [epoch("g")]).encode(),
        batch(1, [commit("g")]).encode(),
        batch(2, [epoch("g")]).encode(),
    ]
    pieces.insert(at, junk)
    counts(read({"dump": b"".join(pieces)}))
    counts(read({"dump": junk}))
    counts(read({"dump": packed(b"".join(pieces))[: -at - 1]}))


# ---------------------------------------------------------------- several dumps


def segment(partition: int, offset: int, broker: str = "b1") -> str:
    return head(f"/{broker}/__consumer_offsets-{partition}/{offset:020}.log")


def test_several_dumps_in_one_text() -> None:
    text = (
        segment(3, 0) + batch(0, [epoch("a"), epoch("b")]) + segment(3, 2) + batch(2, [epoch("c")])
        + segment(4, 0) + batch(0, [epoch("d")]) + head("/d/other-3/00000000000000000000.log") + batch(0, [epoch("x")])
        + "Dumping /b1/__consumer_offsets-3/00000000000000000000.index\noffset: 5 position: 100\n"
        + segment(3, 0, "b2") + batch(0, [epoch("a"), epoch("b")]) + batch(2, [epoch("c")], crc=1) + batch(3, [epoch("e")])
    )  # fmt: skip
    rows = rows_of_text(text, partition=3)
    assert [(row["offset"], row["group_id"]) for row in of_kind(rows, "record")] == [
        (0, "a"),
        (1, "b"),
        (2, "c"),
        (3, "e"),
    ]
    assert (counts(rows)["duplicates"], reasons(rows)) == (3, [])
    assert [row["group_id"] for row in of_kind(rows_of_text(text, partition=4), "record")] == ["d"]
    assert rows_of_text(text, partition=5)[0]["kind"] == "unit"


def test_a_text_without_sections_is_the_callers() -> None:
    assert offsets(rows_of_text(batch(0, [epoch("g")]), partition=9)) == [0]


def test_a_text_reads_in_parts_like_a_segment() -> None:
    text = head() + "".join(batch(number * 3, [epoch("g", number)] * 3) for number in range(4))
    for cut in range(13):
        assert offsets(rows_of_text(text, end=cut)) == list(range(cut))
        after = rows_of_text(text, start=cut)
        assert offsets(after) == list(range(cut, 12))
        assert counts(after)["below"] == cut


def test_gzip_that_ends_early_keeps_its_good_part() -> None:
    text = head() + "".join(
        batch(number, [epoch(f"group-{number * 7919}")]) for number in range(3000)
    )
    raw = packed(text.encode())
    rows = read({"dump": raw[: len(raw) // 2]})
    assert 0 < len(offsets(rows)) < 3000
    assert reasons(rows) == ["gzip ends early"]


def test_numbers_that_no_column_can_hold_are_damage() -> None:
    line = batch_line(0, 0, 1, epoch=1 << 31)
    rows = rows_of_text(head() + line + "\n" + batch(1, [epoch("g")], ts=9 * 10**18))
    assert reasons(rows) == ["batch line cannot be read", "record of a batch that cannot be used"]
    rows = rows_of_text(
        head()
        + batch(0, [epoch("g")]).replace(
            "| offset: 0 CreateTime: 100", "| offset: 0 CreateTime: 9999999999999999999"
        )
    )
    assert reasons(rows) == ["record line cannot be read"]
