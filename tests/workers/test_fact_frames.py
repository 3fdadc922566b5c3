"""Facts of lines -> frames: exact values, exact types, the columns of table `evidence`."""

import dataclasses
import re
from importlib import resources
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from groupreplay.evidence.evidence_facts import Contact, Outage, Rebalance, Refusal, ShardEvent
from groupreplay.workers.evidence_slices import EVIDENCE, EvidenceState
from groupreplay.workers.fact_frames import FactFrames
from tests.workers.facts_by_type import made, nothing


def rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """As Spark sees them."""
    table = {
        name: pa.array(
            frame[name].tolist() if pa.types.is_list(kind) else frame[name], kind, from_pandas=True
        )
        for name, kind in EVIDENCE.columns.items()
    }
    found: list[dict[str, Any]] = pa.table(table).to_pylist()
    return found


@pytest.mark.parametrize("kind", EVIDENCE.fields, ids=lambda kind: kind.KIND)
def test_every_field_of_every_kind_arrives_as_it_was(kind: type[Any]) -> None:
    facts = FactFrames(EVIDENCE)
    facts.add([made(kind), made(kind, **nothing(kind))])
    first, second = rows(facts.take())
    expected = (
        dict.fromkeys(EVIDENCE.columns) | dataclasses.asdict(made(kind)) | {"kind": kind.KIND}
    )
    assert first == expected
    assert second == expected | nothing(kind)


def test_kinds_share_a_frame_and_a_column_of_another_kind_is_null() -> None:
    facts = FactFrames(EVIDENCE)
    facts.add(
        [
            made(Rebalance, group_id="r1"),
            made(ShardEvent, group_id="s"),
            made(Rebalance, group_id="r2"),
        ]
    )
    facts.add([EvidenceState(subject="gx", state_bytes=None), made(Outage, group_id="o")])
    assert facts.rows == 5
    found = rows(facts.take())
    assert {
        (row["kind"], row["group_id"], row["subject"], row["joined_at"] is None) for row in found
    } == {
        (Rebalance.KIND, "r1", None, False),
        (Rebalance.KIND, "r2", None, False),
        (ShardEvent.KIND, "s", None, True),
        (Outage.KIND, "o", None, True),
        (EvidenceState.KIND, None, "gx", True),
    }
    assert facts.rows == 0
    facts.add([made(Contact)])
    assert [row["kind"] for row in rows(facts.take())] == [Contact.KIND], "what was taken is gone"


def test_scalars_are_backed_by_arrow_and_arrays_are_objects() -> None:
    facts = FactFrames(EVIDENCE)
    facts.add([made(Refusal), made(Contact)])
    frame = facts.take()
    assert list(frame.columns) == list(EVIDENCE.columns)
    for name, kind in EVIDENCE.columns.items():
        assert frame[name].dtype == (object if pa.types.is_list(kind) else pd.ArrowDtype(kind)), (
            name
        )
        assert isinstance(pa.Array.from_pandas(frame[name], type=kind), pa.Array), (
            "Spark cannot take a column in chunks"
        )


def test_lone_surrogate_does_not_end_the_task() -> None:
    facts = FactFrames(EVIDENCE)
    facts.add([made(Outage, group_id="a\ud800b"), made(Outage, group_id="ü")])
    assert [row["group_id"] for row in rows(facts.take())] == ["a\\ud800b", "ü"]


def test_columns_are_those_of_the_table_evidence() -> None:
    text = (
        resources.files("groupreplay").joinpath("_schemas/evidence.sql").read_text(encoding="utf-8")
    )
    table = dict(re.findall(r"^  (\w+) +([A-Z<>]+)", text.partition("(\n")[2], re.MULTILINE))
    assert {
        name: kind for name, kind in table.items() if name not in ("cluster", "logical_date")
    } == dict(re.findall(r"`(\w+)` ([A-Z<>]+)", EVIDENCE.ddl))
