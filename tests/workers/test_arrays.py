"""Python values -> Arrow arrays: the same array whichever way it is made."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupreplay.workers.arrays import bounded_array, exact_array

COLUMNS = st.one_of(
    st.tuples(
        st.just(pa.string()),
        st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=3)),
    ),
    st.tuples(st.just(pa.int64()), st.lists(st.none() | st.integers(-2, 2))),
    st.tuples(st.just(pa.binary()), st.lists(st.none() | st.binary(max_size=2))),
    st.tuples(st.just(pa.bool_()), st.lists(st.none() | st.booleans())),
)


@given(COLUMNS)
def test_an_array_is_what_pyarrow_makes_of_the_values(
    column: tuple[pa.DataType, list[Any]],
) -> None:
    column_type, values = column
    assert exact_array(values, column_type).equals(pa.array(values, column_type))


@pytest.mark.parametrize("values", [["\ud800"], ["a", "\udfff", "a"], ["\ud800"] * 3])
def test_a_lone_surrogate_becomes_its_escape(values: list[str]) -> None:
    assert exact_array(values, pa.string()).to_pylist() == [
        text.encode("utf-8", "backslashreplace").decode() for text in values
    ]


def test_a_lone_surrogate_in_a_list_becomes_its_escape() -> None:
    assert exact_array([["a", "\ud800", None], None, []], pa.list_(pa.string())).to_pylist() == [
        ["a", "\\ud800", None],
        None,
        [],
    ]


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([1 << 70] * 3, [(1 << 63) - 1] * 3),
        ([1, None, -(1 << 70)], [1, None, -(1 << 63)]),
    ],
)
def test_a_number_that_is_no_bigint_becomes_the_limit(
    values: list[int | None], found: list[int | None]
) -> None:
    """Of a difference of two numbers of damaged records: no night fails of it."""
    assert bounded_array(values, pa.int64()).to_pylist() == found
    assert bounded_array([values], pa.list_(pa.int64())).to_pylist() == [found]
