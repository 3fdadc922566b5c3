"""Facts -> frames: exact values, exact types, the columns of table `replayed`."""

import dataclasses
import re
from importlib import resources
from typing import Any, get_type_hints

import pandas as pd
import pyarrow as pa
import pytest

from groupreplay.grouped.frames import KINDS, REPLAYED, Counts, FactFrames, GroupState, Undecoded
from groupreplay.replay.facts import Chain, Epoch, GroupSnapshot, MemberState, Stall

BIG = 2**53 + 1


def made(kind: type[Any], **given: Any) -> Any:
    """An instance with a value of the right type in every field."""
    values: dict[Any, Any] = {
        int: BIG,
        str: 'a"ü\n\0b',
        bool: True,
        bytes: b"\x00\xff",
        list[str]: ["x", ""],
        list[int]: [BIG],
        list[str | None]: ["x", None],
    }
    hints = get_type_hints(kind)
    for field in dataclasses.fields(kind):
        hint = hints[field.name]
        given.setdefault(field.name, values.get(hint, values.get(getattr(hint, "__args__", (None,))[0])))
    return kind(**given)


def rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """As Spark sees them."""
    table = {
        name: pa.array(frame[name].tolist() if pa.types.is_list(kind) else frame[name], kind, from_pandas=True)
        for name, kind in REPLAYED.columns.items()
    }
    found: list[dict[str, Any]] = pa.table(table).to_pylist()
    return found


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.KIND)
def test_every_field_of_every_kind_arrives_as_it_was(kind: type[Any]) -> None:
    facts = FactFrames(REPLAYED)
    nothing = {field.name: None for field in dataclasses.fields(kind) if field.default is not dataclasses.MISSING or "None" in str(field.type)}
    facts.add([made(kind), made(kind, **nothing)])
    first, second = rows(facts.take())
    expected = dict.fromkeys(REPLAYED.columns) | dataclasses.asdict(made(kind)) | {"kind": kind.KIND}
    assert first == expected
    assert second == expected | nothing


def test_kinds_share_a_frame_and_a_column_of_another_kind_is_null() -> None:
    facts = FactFrames(REPLAYED)
    facts.add([made(Stall, blocked_by=[]), made(Epoch, epoch=3), made(Stall, blocked_by=["m"])])
    facts.add([GroupState(group_id="g", offsets_partition=1, state_bytes=None), Counts(offsets_partition=1, decoded=5)])
    assert facts.rows == 5
    found = rows(facts.take())
    assert [(row["kind"], row["epoch"], row["blocked_by"], row["decoded"]) for row in found] == [
        ("epoch", 3, None, None),
        ("stall", None, [], None),
        ("stall", None, ["m"], None),
        ("counts", None, None, 5),
        ("group_state", None, None, None),
    ]
    assert facts.rows == 0
    facts.add([made(Chain)])
    assert [row["kind"] for row in rows(facts.take())] == ["chain"], "what was taken is gone"


def test_scalars_are_backed_by_arrow_and_arrays_are_objects() -> None:
    facts = FactFrames(REPLAYED)
    facts.add([made(MemberState), made(GroupSnapshot)])
    frame = facts.take()
    assert list(frame.columns) == list(REPLAYED.columns)
    for name, kind in REPLAYED.columns.items():
        assert frame[name].dtype == (object if pa.types.is_list(kind) else pd.ArrowDtype(kind)), name
        assert isinstance(pa.Array.from_pandas(frame[name], type=kind), pa.Array), "Spark cannot take a column in chunks"


def test_lone_surrogate_does_not_end_the_task() -> None:
    facts = FactFrames(REPLAYED)
    facts.add([made(Undecoded, group_id="a\ud800b", reason="x"), made(Undecoded, group_id="ü", reason="x")])
    assert [row["group_id"] for row in rows(facts.take())] == ["a\\ud800b", "ü"]


def test_columns_are_those_of_the_table_replayed() -> None:
    text = resources.files("groupreplay").joinpath("_schemas/replayed.sql").read_text(encoding="utf-8")
    table = dict(re.findall(r"^  (\w+) +([A-Z<>]+)", text.partition("(\n")[2], re.MULTILINE))
    assert {name: kind for name, kind in table.items() if name not in ("cluster", "logical_date")} == dict(
        re.findall(r"`(\w+)` ([A-Z<>]+)", REPLAYED.ddl)
    )
