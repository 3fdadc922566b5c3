"""The JSON texts that `kafka-dump-log --offsets-decoder` (3.8 to 4.3) prints for a record, to the
same records that its bytes give.

Key `{"type":"8","data":{..}}`, payload `{"version":"0","data":{..}}`: type and version are strings.
Bytes are base64, but for the embedded messages of K2 members, which the tool expands where it can.
A tag equal to its default is left out. Instead of a key the tool can print a sentence (below).
Source: tools/src/main/java/org/apache/kafka/tools/DumpLogSegments.java,
CoordinatorRecordMessageParser; the generated *JsonConverter classes.
"""

from __future__ import annotations

import binascii
import json
import re
from collections.abc import Callable
from typing import Any, cast

from groupreplay.records.classic import Subscription
from groupreplay.records.entries import Record
from groupreplay.wire.records import embedded
from groupreplay.wire.records.layouts import RECORD_TYPES, Layout
from groupreplay.wire.records.primitives import Malformed
from groupreplay.wire.records.schema import Field, Struct
from groupreplay.wire.records.undecodable import Undecodable, UnknownType, undecodable_value

_UNKNOWN_TYPE = re.compile(r"Unknown record type (-?\d{1,6}) at offset -?\d+, skipping\.")
_TOOL_ERROR = re.compile(r"Error at offset -?\d+, skipping\. ?(.*)", re.DOTALL)
_UUID = re.compile(r"[A-Za-z0-9_-]{22}")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}

JsonReader = Callable[[Any], Any]


def load_json(raw: bytes) -> Any:
    """One JSON text, free of lone surrogates. Raises Malformed on anything else, however deep or
    large.
    """
    document = str(raw, "utf-8", "backslashreplace")
    try:
        loaded = json.loads(document)
        if _ESCAPED_SURROGATE.search(document):
            loaded = _without_surrogates(loaded)
    except (ValueError, RecursionError):
        raise Malformed("not JSON") from None
    return loaded


def _without_surrogates(loaded: Any) -> Any:
    if isinstance(loaded, str):
        return loaded.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(loaded, list):
        return [_without_surrogates(one) for one in loaded]
    if isinstance(loaded, dict):
        return {_without_surrogates(name): _without_surrogates(one) for name, one in loaded.items()}
    return loaded


def decode_json(key: bytes, value: bytes | None) -> Record | UnknownType | Undecodable:
    """As `consumer_offsets.decode`, for the tool's texts; value None is `<DELETE>`."""
    try:
        key_type, key_data = _envelope(load_json(key), "type")
    except Malformed as error:
        return _sentence(key) or Undecodable(f"key: {error}")
    known = _TYPES.get(key_type)
    if known is None:
        return UnknownType(key_type)
    read_key, value_readers, record = known
    try:
        fields = read_key(key_data)
    except Malformed as error:
        return Undecodable(f"key of type {key_type}: {error}")
    if value is None:
        return cast(Record, record(*fields, None))
    try:
        version, value_data = _envelope(load_json(value), "version")
    except Malformed as error:
        return undecodable_value(key_type, record, fields, f"value of type {key_type}: {error}")
    if not 0 <= version < len(value_readers):
        reason = f"value of type {key_type}: unknown version {version}"
        return undecodable_value(key_type, record, fields, reason)
    result = _decode_value(value_data, value_readers[version])
    if isinstance(result, Undecodable):
        reason = f"value of type {key_type}, version {version}: {result.reason}"
        return undecodable_value(key_type, record, fields, reason)
    return cast(Record, record(*fields, result))


def _sentence(key: bytes) -> UnknownType | Undecodable | None:
    """What the tool prints instead of a key that it cannot decode."""
    printed = str(key, "utf-8", "backslashreplace")
    if unknown := _UNKNOWN_TYPE.fullmatch(printed):
        return UnknownType(int(unknown[1]))
    if error := _TOOL_ERROR.fullmatch(printed):
        return Undecodable(f"kafka-dump-log could not decode it: {error[1]}")
    if printed.startswith(("offset_commit::", "group_metadata::", "unknown::")):
        return Undecodable("text of kafka-dump-log 3.7 or older")
    return None


def _envelope(document: Any, what: str) -> tuple[int, Any]:
    if not isinstance(document, dict) or "data" not in document:
        raise Malformed("not an object with data")
    number = document.get(what)
    if isinstance(number, str) and re.fullmatch(r"-?\d{1,6}", number):
        number = int(number)
    if type(number) is not int:
        raise Malformed(f"no {what}")
    return number, document["data"]


def _decode_value(data: Any, layouts: tuple[tuple[JsonReader, str | None], ...]) -> Any:
    reason = ""
    for read, refused in layouts:
        try:
            result = read(data)
        except Malformed as error:
            reason = reason or str(error)
            continue
        return result if refused is None else Undecodable(refused)
    return Undecodable(reason)


# ---------------------------------------------------------------- one reader a kind


def _integer_reader(low: int, high: int) -> JsonReader:
    def read(value: Any) -> int:
        if type(value) is not int or not low <= value <= high:
            raise Malformed(f"{str(value)[:40]!r} is no number of {low} to {high}")
        return value

    return read


def _read_string(value: Any) -> str:
    if not isinstance(value, str):
        raise Malformed(f"{str(value)[:40]!r} is no text")
    return value


def _read_uuid(value: Any) -> str:
    if not isinstance(value, str) or not _UUID.fullmatch(value):
        raise Malformed(f"{str(value)[:40]!r} is no uuid")
    return value


def _read_bytes(value: Any) -> bytes:
    try:
        return binascii.a2b_base64(_read_string(value), strict_mode=True) if value != "" else b""
    except ValueError:
        raise Malformed(f"{str(value)[:40]!r} is no base64") from None


def _embedded_reader(struct: Struct) -> JsonReader:
    """Expanded by the tool, or base64 where it could not. Expanded ones lack the fields that their
    version lacks, which shows the version.
    """
    readers = tuple(
        _versioned_reader(struct, version) for version in range(embedded.NEWEST, -1, -1)
    )

    def read(value: Any) -> Any:
        if not isinstance(value, dict):
            return _read_bytes(value)
        for read_expanded in readers[:-1]:
            try:
                return read_expanded(value)
            except Malformed:
                continue
        return readers[-1](value)

    return read


def _versioned_reader(struct: Struct, version: int) -> JsonReader:
    read = _struct_reader(struct, version)

    def read_versioned(value: Any) -> Any:
        message = read(value)
        if isinstance(message, Subscription):
            message.version = version
        return message

    return read_versioned


def _array_reader(read_element: JsonReader) -> JsonReader:
    def read(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise Malformed(f"{str(value)[:40]!r} is no array")
        return tuple(map(read_element, value))

    return read


def _nullable(read: JsonReader) -> JsonReader:
    return lambda value: None if value is None else read(value)


def _field_reader(field: Field, version: int) -> JsonReader:
    kind = field.kind
    element = kind[1:-1] if kind.startswith("[") else kind
    read: JsonReader
    if element in _BITS:
        limit = 1 << (_BITS[element] - 1)
        read = _integer_reader(-limit, limit - 1)
    elif element == "uint16":
        read = _integer_reader(0, 0xFFFF)
    elif element == "struct":
        assert field.struct is not None, field.name
        read = _struct_reader(field.struct, version)
    elif element in ("subscription", "assignment"):
        read = _embedded_reader(
            embedded.SUBSCRIPTION if element == "subscription" else embedded.ASSIGNMENT
        )
    else:
        read = {"string": _read_string, "uuid": _read_uuid, "bytes": _read_bytes}[element]
    if kind != element:
        read = _array_reader(read)
    return _nullable(read) if field.nullable else read


def _struct_reader(struct: Struct, version: int) -> JsonReader:
    """Every ordinary field of the version must be there; tags may be left out; unknown names are
    ignored, as unknown tags are.
    """
    build = struct.build
    steps = tuple(
        (
            field.name,
            _field_reader(field, version) if field.is_in(version) else None,
            field.default,
            field.tag is not None,
        )
        for field in struct.fields
    )

    def read(value: Any) -> Any:
        if not isinstance(value, dict):
            raise Malformed(f"{str(value)[:40]!r} is no object")
        values = []
        for name, step, default, optional in steps:
            if step is None:
                values.append(default)
            elif name in value:
                values.append(step(value[name]))
            elif optional:
                values.append(default)
            else:
                raise Malformed(f"no {name}")
        return build(*values)

    return read


def _value_readers(
    layouts: tuple[Layout, ...], max_version: int
) -> tuple[tuple[tuple[JsonReader, str | None], ...], ...]:
    return tuple(
        tuple((_struct_reader(one.struct, version), one.refused) for one in layouts)
        for version in range(max_version + 1)
    )


_TYPES = {
    key_type: (_struct_reader(one.key, 0), _value_readers(one.layouts, one.max_version), one.record)
    for key_type, one in RECORD_TYPES.items()
}
