"""Rows of a table in which every column has a value, none that may lack one has, and values are at
the end of what their type holds.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

NIGHT = date(2026, 11, 21)
TEXTS = ("a", 'zwölf "x", \\ \n\u202e', "")
AT = (datetime(2026, 11, 21, 5, 42, 4, 123_456, UTC), datetime(2026, 10, 25, 1, 30, 0, 1, UTC))


def filled_rows(struct: StructType) -> list[tuple[Any, ...]]:
    """All columns plain, at their ends, and as empty as they may be. Partition columns keep to one
    cluster and one night.
    """
    return [
        *(tuple(_kept(field, _value(field.dataType, kind)) for field in struct) for kind in (0, 1)),
        tuple(
            _kept(field, None if field.nullable else _value(field.dataType, 2)) for field in struct
        ),
    ]


def _kept(field: StructField, value: Any) -> Any:
    return {"cluster": "c", "logical_date": NIGHT}.get(field.name, value)


def _value(of: DataType, kind: int) -> Any:
    """kind: 0 plain, 1 the end of what the type holds, 2 as little as it may be."""
    plain: dict[type[DataType], tuple[Any, Any, Any]] = {
        StringType: TEXTS,
        IntegerType: (7, 2**31 - 1, 0),
        LongType: (7, 2**63 - 1, -1),
        DoubleType: (99.5, 1e-9, 0.0),
        BooleanType: (True, False, False),
        DateType: (NIGHT, date(1970, 1, 1), NIGHT),
        TimestampType: (*AT, AT[0]),
    }
    if isinstance(of, ArrayType):
        return [] if kind == 2 else [_value(of.elementType, each) for each in (0, kind)]
    if isinstance(of, MapType):
        value = _value(of.valueType, kind)
        return {} if kind == 2 else {_value(of.keyType, each): value for each in (0, 1)}
    if isinstance(of, StructType):
        return tuple(
            None if kind and field.nullable else _value(field.dataType, kind) for field in of
        )
    if isinstance(of, DecimalType):
        digits = ("5", "9" * of.precision, "0")[kind]
        return Decimal(digits).scaleb(-of.scale)
    return plain[type(of)][kind]
