"""Compiles a struct of the tables, at one version, to a reader of bytes: built once at import, so
that a record costs calls and no decisions.
"""

from __future__ import annotations

from struct import Struct as Format

from groupreplay.wire.records import primitives
from groupreplay.wire.records.primitives import Malformed, Reader, read_uvarint
from groupreplay.wire.records.schema import Field, Struct

_FIXED = {"int8": "b", "int16": "h", "uint16": "H", "int32": "i", "int64": "q"}
_PLAIN = {
    "int8": primitives.read_int8,
    "int16": primitives.read_int16,
    "uint16": primitives.read_uint16,
    "int32": primitives.read_int32,
    "int64": primitives.read_int64,
    "uuid": primitives.read_uuid,
    "utf": primitives.read_utf,
    "utf16": primitives.read_utf16,
    "[2 int32 raw]": primitives.read_raw_pairs,
}


def field_reader(field: Field, version: int, flexible: bool) -> Reader:
    """The reader of one field's content (a tag's number and size are not part of it)."""
    kind, nullable = field.kind, field.nullable
    if kind in _PLAIN:
        return _PLAIN[kind]
    if kind == "string":
        return primitives.string_reader(flexible, nullable)
    if kind in ("bytes", "subscription", "assignment"):
        return primitives.bytes_reader(flexible, nullable)
    if kind in ("[int16]", "[int32]"):
        return primitives.integer_array_reader(flexible, nullable, _FIXED[kind[1:-1]])
    if kind == "[string]":
        return primitives.array_reader(
            flexible, nullable, primitives.string_reader(flexible, False)
        )
    assert field.struct is not None, field.name
    read = struct_reader(field.struct, version)
    if kind == "[struct]":
        return primitives.array_reader(flexible, nullable, read)
    assert kind == "struct", kind
    return _nullable_struct_reader(read, tagged=field.tag is not None) if nullable else read


def _nullable_struct_reader(read_present: Reader, tagged: bool) -> Reader:
    """A struct behind a presence byte: int8 -1 or 1 untagged, uvarint 0 or 1 inside a tag."""
    null = 0 if tagged else 0xFF

    def read(data: bytes, pos: int) -> tuple[object, int]:
        if data[pos] == null:
            return None, pos + 1
        if data[pos] != 1:
            raise Malformed(f"a presence byte of {data[pos]}")
        return read_present(data, pos + 1)

    return read


def struct_reader(struct: Struct, version: int) -> Reader:
    """The reader of a whole struct, with its tagged section where it has one; gives what
    `struct.build` makes of the fields.
    """
    flexible = version >= struct.flexible_since
    head = _leading_fixed(struct, version)
    read_head = Format(">" + "".join(_FIXED[field.kind] for field in head))
    head_count, head_size = len(head), read_head.size
    unpack_head = read_head.unpack_from
    defaults = [field.default for field in struct.fields]
    steps = tuple(
        (index, field_reader(field, version, flexible))
        for index, field in enumerate(struct.fields)
        if index >= head_count and field.tag is None and field.is_in(version)
    )
    tags: dict[int | None, tuple[int, Reader]] = {
        field.tag: (index, field_reader(field, version, flexible))
        for index, field in enumerate(struct.fields)
        if field.tag is not None and field.is_in(version)
    }
    build = struct.build

    def read(data: bytes, pos: int) -> tuple[object, int]:
        values = defaults.copy()
        if head_count:
            values[:head_count] = unpack_head(data, pos)
            pos += head_size
        for index, step in steps:
            values[index], pos = step(data, pos)
        if flexible:
            if data[pos]:
                pos = _read_tags(data, pos, tags, values)
            else:
                pos += 1
        return build(*values), pos

    return read


def _leading_fixed(struct: Struct, version: int) -> list[Field]:
    """The fields of fixed size that the struct begins with: unpacked in one go. One that the
    version lacks ends the run.
    """
    head: list[Field] = []
    for field in struct.fields:
        if field.kind not in _FIXED or field.tag is not None or not field.is_in(version):
            break
        head.append(field)
    return head


def _read_tags(
    data: bytes, pos: int, tags: dict[int | None, tuple[int, Reader]], values: list[object]
) -> int:
    """Reads known tags into `values`, skips unknown ones by their size. Tags must rise, as the
    writer's do, so none is there twice.
    """
    count, pos = read_uvarint(data, pos)
    last = -1
    for _ in range(count):
        tag, size = data[pos], data[pos + 1]
        if tag < 0x80 and size < 0x80:
            pos += 2
        else:
            tag, pos = read_uvarint(data, pos)
            size, pos = read_uvarint(data, pos)
        if tag <= last:
            raise Malformed(f"tag {tag} after tag {last}")
        last = tag
        end = pos + size
        if end > len(data):
            raise Malformed(f"a tag of {size} bytes where {len(data) - pos} are left")
        if tag in tags:
            index, step = tags[tag]
            values[index], pos = step(data, pos)
            if pos != end:
                raise Malformed(f"tag {tag} does not fill its size")
        pos = end
    return pos
