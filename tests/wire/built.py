"""What decoding must give for values that were encoded: the tables' `build`, applied to them
without any bytes in between.
"""

from __future__ import annotations

from typing import Any

from groupreplay.wire.records.schema import Field, Struct


def built(layout: Struct, values: dict[str, Any], version: int) -> Any:
    return layout.build(*(_built_field(field, values, version) for field in layout.fields))


def _built_field(field: Field, values: dict[str, Any], version: int) -> Any:
    if not field.is_in(version):
        return field.default
    value = values.get(field.name, field.default)
    if value is None or field.kind == "struct":
        return None if value is None else built(field.struct, value, version)  # type: ignore[arg-type]
    if not field.kind.startswith("["):
        return value
    return tuple(
        built(field.struct, one, version) if field.struct is not None else one for one in value
    )
