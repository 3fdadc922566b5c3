"""Delta tables as readers other than Spark see them, all as Arrow tables: delta-rs, DuckDB, Polars
and pandas; and questions of plain SQL that each of them answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import import_module
from typing import Any, Final, NamedTuple, Protocol

import pandas as pd
import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder

from tests.support.duckdb_views import delta_connection


class Question(NamedTuple):
    """measures: name -> (function, column).
    where: condition, which SQL and `DataFrame.query` of pandas read alike; "" for all rows.
    """

    table: str
    by: tuple[str, ...]
    measures: Mapping[str, tuple[str, str]]
    where: str = ""

    def sql(self, rows: str) -> str:
        measures = [
            f"CAST(sum({column}) AS BIGINT) AS {name}"
            if function == "sum"
            else f"{function}({column}) AS {name}"
            for name, (function, column) in self.measures.items()
        ]
        where = f" WHERE {self.where}" if self.where else ""
        keys = ", ".join(self.by)
        return f"SELECT {', '.join([keys, *measures])} FROM {rows}{where} GROUP BY {keys}"


N: Final = ("count", "cluster")
QUESTIONS: Final = (
    Question(
        "migration_progress",
        ("phase", "protocol"),
        {"n": N, "members": ("sum", "members_total"), "at": ("max", "as_of_at")},
    ),
    Question(
        "group_conversions", ("direction", "mode"), {"n": N, "first_at": ("min", "converted_at")}
    ),
    Question(
        "group_epochs",
        ("cause", "outcome"),
        {"n": N, "moved": ("sum", "partitions_moved"), "ms": ("max", "converge_ms")},
    ),
    Question(
        "revocation_latencies",
        ("group_id", "client_id"),
        {"n": N, "ms": ("max", "revoke_ms"), "first_at": ("min", "requested_at")},
        "revoke_ms > 100",
    ),
    Question(
        "member_assignments",
        ("end_reason", "next_member_id"),
        {"n": N, "unowned": ("max", "unowned_ms"), "released_at": ("max", "released_at")},
    ),
    Question("stuck_groups", ("reason", "is_open"), {"n": N, "ms": ("sum", "stuck_ms")}),
    Question("members", ("software_name", "end_detail"), {"n": N, "ended_at": ("max", "ended_at")}),
    Question(
        "group_days",
        ("day",),
        {"n": N, "low": ("sum", "low_ms"), "pct": ("max", "availability_most_pct")},
    ),
    Question(
        "coverage",
        ("source",),
        {"landed": ("sum", "landed"), "at": ("max", "last_at")},
        "landed > 0",
    ),
    Question(
        "task_assignments",
        ("role", "logical_date", "is_final"),
        {"n": N, "first": ("max", "first_sum")},
    ),
)


class Engine(Protocol):
    def read(self, path: str) -> pa.Table: ...

    def answer(self, question: Question, path: str) -> pa.Table: ...


class DeltaRs:
    """delta-rs, and the SQL of DataFusion that it brings."""

    def read(self, path: str) -> pa.Table:
        return self._ask("SELECT * FROM t", path)

    def answer(self, question: Question, path: str) -> pa.Table:
        return self._ask(question.sql("t"), path)

    def _ask(self, statement: str, path: str) -> pa.Table:
        asked = QueryBuilder().register("t", DeltaTable(path)).execute(statement)
        return pa.table(asked.read_all())


class DuckDB:
    """Its Delta extension. Skips where that cannot be had."""

    def __init__(self) -> None:
        self.connection = delta_connection()
        self.connection.execute("SET TimeZone = 'UTC'")

    def read(self, path: str) -> pa.Table:
        return self.connection.execute(f"SELECT * FROM delta_scan('{path}')").to_arrow_table()

    def answer(self, question: Question, path: str) -> pa.Table:
        statement = question.sql(f"delta_scan('{path}')")
        return self.connection.execute(statement).to_arrow_table()


class Polars:
    """Its own reader, and its SQL."""

    def __init__(self) -> None:
        self.polars = import_module("polars")

    def read(self, path: str) -> pa.Table:
        return self.polars.read_delta(path).to_arrow()

    def answer(self, question: Question, path: str) -> pa.Table:
        context = self.polars.SQLContext({"t": self.polars.scan_delta(path)})
        return context.execute(question.sql("t"), eager=True).to_arrow()


class Pandas:
    """pandas with types of Arrow, in which numbers with NULLs stay whole numbers. It cannot sort the
    views of texts that delta-rs gives.
    """

    def frame(self, path: str, *columns: str) -> pd.DataFrame:
        table = DeltaRs().read(path)
        table = table.select(columns or table.column_names)
        for place, field in enumerate(table.schema):
            if pa.types.is_string_view(field.type):
                texts = table.column(place).cast(pa.string())
                table = table.set_column(place, field.name, texts)
        frame: pd.DataFrame = table.to_pandas(types_mapper=pd.ArrowDtype)
        return frame

    def read(self, path: str) -> pa.Table:
        return pa.Table.from_pandas(self.frame(path), preserve_index=False)

    def answer(self, question: Question, path: str) -> pa.Table:
        asked = [column for _, column in question.measures.values()]
        frame = self.frame(path, *dict.fromkeys([*question.by, *asked]))
        if question.where:
            frame = frame.query(question.where)
        measures = {
            name: (column, (lambda each: each.sum(min_count=1)) if function == "sum" else function)
            for name, (function, column) in question.measures.items()
        }
        groups = frame.groupby(list(question.by), dropna=False)
        return pa.Table.from_pandas(groups.agg(**measures).reset_index(), preserve_index=False)


ENGINES: Final[Mapping[str, type[Any]]] = {
    "delta-rs": DeltaRs,
    "duckdb": DuckDB,
    "polars": Polars,
    "pandas": Pandas,
}


# ---------------------------------------------------------------- what they gave


def types(table: pa.Table) -> dict[str, str]:
    """Column -> its type, in words that do not tell how an engine lays it out."""
    return {field.name: _type(field.type) for field in table.schema}


def _type(kind: pa.DataType) -> str:
    if pa.types.is_dictionary(kind):
        return _type(kind.value_type)
    if pa.types.is_map(kind):
        return f"list<struct<key: {_type(kind.key_type)}, value: {_type(kind.item_type)}>>"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"list<{_type(kind.value_type)}>"
    if pa.types.is_struct(kind):
        fields = [kind.field(place) for place in range(kind.num_fields)]
        return f"struct<{', '.join(f'{each.name}: {_type(each.type)}' for each in fields)}>"
    return str(kind).removeprefix("large_").removesuffix("_view").replace("+00:00", "UTC")


def rows(table: pa.Table) -> list[tuple[tuple[str, Any], ...]]:
    """Rows with the type of each value, in an order of their own: to Python alone 1, 1.0 and True
    are equal. Integers of all widths are of one type.
    """
    names = sorted(table.column_names)
    columns = {field.name: pa.types.is_map(field.type) for field in table.schema}
    found = [
        tuple((name, _value(row[name], is_map=columns[name])) for name in names)
        for row in table.to_pylist()
    ]
    return sorted(found, key=repr)


def _value(value: Any, *, is_map: bool = False) -> Any:
    if is_map and value is not None:
        return _value([{"key": key, "value": each} for key, each in value])
    if isinstance(value, datetime):
        assert value.tzinfo is not None, "a time without a zone"
        return f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f} UTC"
    if isinstance(value, dict):
        return tuple((name, _value(each)) for name, each in value.items())
    if isinstance(value, list):
        each_one = [_value(each) for each in value]
        is_mapping = (
            bool(value) and isinstance(value[0], dict) and value[0].keys() == {"key", "value"}
        )
        return tuple(sorted(each_one, key=repr) if is_mapping else each_one)
    return None if value is None else (type(value).__name__, value)
