"""Facts of records -> rows of table `replayed` and back: exact values, exact types."""

import dataclasses
import gc
import re
from collections.abc import Sequence
from importlib import resources
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from groupreplay.replay.facts import Chain, Epoch, MemberState, Stall
from groupreplay.workers import packed
from groupreplay.workers.fact_frames import (
    KINDS,
    REPLAYED,
    Counts,
    GroupState,
    Undecoded,
    UnionSchema,
)
from groupreplay.workers.packed import DDL, PackedFacts, unpacking
from tests.workers.facts_by_type import made, nothing

ROW = pa.schema({"kind": pa.string(), "rows": pa.int64(), "frame": pa.binary()})


def taken(*facts: Any) -> pd.DataFrame:
    gathered = PackedFacts(REPLAYED)
    gathered.add(facts)
    return gathered.take()


def rows(frame: pd.DataFrame, kinds: Sequence[type[Any]] = KINDS) -> list[dict[str, Any]]:
    """As Spark sends them and gets them back."""
    schema = UnionSchema(kinds)
    batches = list(
        unpacking(schema)([pa.RecordBatch.from_pandas(frame, ROW, preserve_index=False)])
    )
    assert all(batch.schema.equals(pa.schema(list(schema.columns.items()))) for batch in batches)
    return [row for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.KIND)
def test_every_field_of_every_kind_arrives_as_it_was(kind: type[Any]) -> None:
    first, second = rows(taken(made(kind), made(kind, **nothing(kind))))
    expected = (
        dict.fromkeys(REPLAYED.columns) | dataclasses.asdict(made(kind)) | {"kind": kind.KIND}
    )
    assert first == expected
    assert second == expected | nothing(kind)


def test_a_row_holds_facts_of_one_kind_and_no_more_than_its_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(packed, "PACKED_ROWS", 3)
    facts = PackedFacts(REPLAYED)
    facts.add([made(Stall, from_offset=offset, blocked_by=[]) for offset in range(7)])
    facts.add(
        [
            made(Epoch, epoch=3),
            GroupState(group_id="g", offsets_partition=1, state_bytes=None),
            Counts(offsets_partition=1, decoded=5),
        ]
    )
    assert facts.rows == 10
    frame = facts.take()
    assert list(zip(frame["kind"], frame["rows"], strict=True)) == [
        ("epoch", 1),
        ("stall", 3),
        ("stall", 3),
        ("stall", 1),
        ("counts", 1),
        ("group_state", 1),
    ]
    assert [row["from_offset"] for row in rows(frame) if row["kind"] == "stall"] == list(range(7))
    assert facts.rows == 0
    assert facts.take().empty
    facts.add([made(Chain)])
    assert list(facts.take()["kind"]) == ["chain"], "what was taken is gone"


def test_columns_are_those_of_the_kinds_that_are_asked_for() -> None:
    frame = taken(made(Stall), made(Chain), made(Epoch))
    stall, chain = rows(frame[frame["kind"] != "epoch"], (Stall, Chain))
    own = [{field.name for field in dataclasses.fields(kind)} for kind in (Stall, Chain)]
    assert stall.keys() == chain.keys() == {"kind", *own[0], *own[1]}
    absent = [{name for name in row if row[name] is None} for row in (stall, chain)]
    assert absent == [own[1] - own[0], own[0] - own[1]]
    assert (stall["kind"], chain["kind"]) == ("stall", "chain")


def test_fields_that_nobody_asks_for_are_left_out() -> None:
    batch = pa.RecordBatch.from_pandas(
        taken(made(Stall, group_id="s"), made(Counts)), ROW, preserve_index=False
    )
    found = [
        row
        for each in unpacking(UnionSchema(KINDS, ("group_id",)))([batch])
        for row in each.to_pylist()
    ]
    assert found == [{"kind": "stall", "group_id": "s"}, {"kind": "counts", "group_id": None}]


def test_a_field_that_the_version_which_packed_did_not_have_is_null() -> None:
    frame = taken(made(Counts))
    older = pa.record_batch(
        {"offsets_partition": pa.array([4], pa.int64()), "gone": pa.array(["x"])}
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, older.schema) as stream:
        stream.write_batch(older)
    frame["frame"] = [sink.getvalue().to_pybytes()]
    assert rows(frame, (Counts,)) == [
        {
            "kind": "counts",
            "offsets_partition": 4,
            "decoded": None,
            "unknown": None,
            "undecoded": None,
        }
    ]


def test_lone_surrogate_does_not_end_the_task_in_a_list_neither() -> None:
    found = rows(
        taken(made(Undecoded, group_id="a\ud800b"), made(Stall, blocked_by=["\udfff", "ü"]))
    )
    assert sorted((row["group_id"], row["blocked_by"]) for row in found) == [
        ('a"ü\n\0b', ["\\udfff", "ü"]),
        ("a\\ud800b", None),
    ]


def test_any_reader_of_arrow_reads_a_frame() -> None:
    (frame,) = taken(made(MemberState))["frame"]
    with pa.ipc.open_stream(frame) as stream:
        assert stream.read_all().to_pylist() == [dataclasses.asdict(made(MemberState))]


def test_collector_is_off_while_rows_are_unpacked_and_put_back_after_it() -> None:
    batch = pa.RecordBatch.from_pandas(taken(made(Chain)), ROW, preserve_index=False)
    for _ in unpacking(REPLAYED)([batch]):
        assert not gc.isenabled()
    assert gc.isenabled()


def test_columns_are_those_of_the_table_replayed() -> None:
    text = (
        resources.files("groupreplay").joinpath("_schemas/replayed.sql").read_text(encoding="utf-8")
    )
    table = re.findall(r"^  (\w+) +([A-Z]+)", text.partition("(\n")[2], re.MULTILINE)
    assert [
        ("cluster", "STRING"),
        ("logical_date", "DATE"),
        *re.findall(r"`(\w+)` ([A-Z]+)", DDL),
    ] == table
