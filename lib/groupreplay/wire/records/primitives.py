"""Kafka's primitive types: one reader a type, `(data, position) -> (value, next position)`.

A reader raises one of BAD_BYTES on bytes that are not of its type; `consumer_offsets.decode`
catches them. No reader allocates by a length or count that the bytes only claim. Text is UTF-8;
bytes that are not become `\\xNN`, so that no text holds a lone surrogate.

Source: generator/src/main/java/org/apache/kafka/message/MessageDataGenerator.java;
ByteUtils.readUnsignedVarint (at most 5 bytes).
"""

from __future__ import annotations

import binascii
from collections.abc import Callable
from functools import lru_cache
from struct import Struct
from struct import error as struct_error
from typing import Any

Reader = Callable[[bytes, int], tuple[Any, int]]

NO_UUID = "A" * 22
"""Uuid.ZERO_UUID: "no id"."""


class Malformed(Exception):
    """The bytes are not of the layout tried. The message is the reason that people read."""


BAD_BYTES = (Malformed, IndexError, struct_error)
"""What readers raise; the last two say that the bytes end early."""


_INT16 = Struct(">h").unpack_from
_UINT16 = Struct(">H").unpack_from
_INT32 = Struct(">i").unpack_from
_INT64 = Struct(">q").unpack_from


def read_int8(data: bytes, pos: int) -> tuple[int, int]:
    value = data[pos]
    return (value if value < 0x80 else value - 0x100), pos + 1


def read_int16(data: bytes, pos: int) -> tuple[int, int]:
    return _INT16(data, pos)[0], pos + 2


def read_uint16(data: bytes, pos: int) -> tuple[int, int]:
    return _UINT16(data, pos)[0], pos + 2


def read_int32(data: bytes, pos: int) -> tuple[int, int]:
    return _INT32(data, pos)[0], pos + 4


def read_int64(data: bytes, pos: int) -> tuple[int, int]:
    return _INT64(data, pos)[0], pos + 8


def read_uvarint(data: bytes, pos: int) -> tuple[int, int]:
    """Unsigned varint of at most 32 bits: 7 bits a byte, lowest first."""
    value = data[pos]
    pos += 1
    if value < 0x80:
        return value, pos
    value &= 0x7F
    for shift in (7, 14, 21, 28):
        byte = data[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value > 0xFFFFFFFF:
                break
            return value, pos
    raise Malformed("a varint is over-long")


def read_varlong(data: bytes, pos: int) -> tuple[int, int]:
    """Zigzag varint of at most 64 bits, as record headers inside a batch use
    (ByteUtils.readVarlong).
    """
    value = shift = 0
    while True:
        byte = data[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value > 0xFFFFFFFFFFFFFFFF:
                break
            return (value >> 1) ^ -(value & 1), pos
        shift += 7
        if shift > 63:
            break
    raise Malformed("a varint is over-long")


@lru_cache(maxsize=1 << 14)
def uuid_text(raw: bytes) -> str:
    """Kafka's text of a uuid: base64url without padding, 22 characters."""
    return binascii.b2a_base64(raw, newline=False)[:22].translate(_URL_SAFE).decode("ascii")


_URL_SAFE = bytes.maketrans(b"+/", b"-_")


def read_uuid(data: bytes, pos: int) -> tuple[str, int]:
    end = pos + 16
    if end > len(data):
        raise Malformed("ends inside a uuid")
    return uuid_text(data[pos:end]), end


def text(raw: bytes) -> str:
    """UTF-8 with `\\xNN` for what is not."""
    return str(raw, "utf-8", "backslashreplace")


def _content(data: bytes, pos: int, length: int) -> tuple[bytes, int]:
    end = pos + length
    if end > len(data):
        raise Malformed(f"a length of {length} where {len(data) - pos} bytes are left")
    return data[pos:end], end


def _refuse_null() -> Any:
    raise Malformed("null where the layout has none")


def _refuse_negative(length: int) -> Any:
    raise Malformed(f"a length of {length}")


def string_reader(flexible: bool, nullable: bool) -> Reader:
    """Text. Flexible: unsigned varint of length + 1, 0 is null. Else int16 length, -1 is null."""

    def read_compact(data: bytes, pos: int) -> tuple[str | None, int]:
        size = data[pos]
        if size < 0x80:
            pos += 1
        else:
            size, pos = read_uvarint(data, pos)
        if not size:
            return (None if nullable else _refuse_null()), pos
        end = pos + size - 1
        if end > len(data):
            raise Malformed(f"a length of {size - 1} where {len(data) - pos} bytes are left")
        return str(data[pos:end], "utf-8", "backslashreplace"), end

    def read_plain(data: bytes, pos: int) -> tuple[str | None, int]:
        (length,) = _INT16(data, pos)
        pos += 2
        if length < 0:
            if length != -1:
                _refuse_negative(length)
            return (None if nullable else _refuse_null()), pos
        end = pos + length
        if end > len(data):
            raise Malformed(f"a length of {length} where {len(data) - pos} bytes are left")
        return str(data[pos:end], "utf-8", "backslashreplace"), end

    return read_compact if flexible else read_plain


def read_utf(data: bytes, pos: int) -> tuple[str, int]:
    """Text as java.io.DataOutput.writeUTF writes it: uint16 length + modified UTF-8."""
    (length,) = _UINT16(data, pos)
    raw, end = _content(data, pos + 2, length)
    return (raw.decode("ascii") if raw.isascii() else _modified_utf8(raw)), end


def _modified_utf8(raw: bytes) -> str:
    """UTF-16 units of one to three bytes each (java.io.DataInput.readUTF): NUL has two, and a
    character beyond the BMP is two units.
    """
    units, pos = bytearray(), 0
    while pos < len(raw):
        lead = raw[pos]
        size = 1 if lead < 0x80 else 2 if lead >> 5 == 0b110 else 3 if lead >> 4 == 0b1110 else 0
        more = raw[pos + 1 : pos + max(size, 1)]  # compiled, no slice may end before it begins
        if len(more) != size - 1 or any(byte >> 6 != 0b10 for byte in more):
            raise Malformed("a text is no modified UTF-8")
        unit = lead & (0x7F, 0x1F, 0x0F)[size - 1]
        for byte in more:
            unit = unit << 6 | byte & 0x3F
        units += unit.to_bytes(2, "big")
        pos += size
    return str(units, "utf-16-be", "backslashreplace")


def read_utf16(data: bytes, pos: int) -> tuple[str, int]:
    """Text as int32 number of units + UTF-16."""
    (count,) = _INT32(data, pos)
    if count < 0:
        _refuse_negative(count)
    raw, end = _content(data, pos + 4, 2 * count)
    return str(raw, "utf-16-be", "backslashreplace"), end


def read_raw_pairs(data: bytes, pos: int) -> tuple[bytes, int]:
    """An array of two int32 each, as bytes."""
    (count,) = _INT32(data, pos)
    end = pos + 4 + 8 * count
    if count < 0 or end > len(data):
        raise Malformed(f"a count of {count} where {len(data) - pos - 4} bytes are left")
    return data[pos:end], end


def bytes_reader(flexible: bool, nullable: bool) -> Reader:
    """Raw bytes. Flexible: unsigned varint of length + 1, 0 is null. Else int32 length, -1 is
    null.
    """

    def read_compact(data: bytes, pos: int) -> tuple[bytes | None, int]:
        size, pos = read_uvarint(data, pos)
        if not size:
            return (None if nullable else _refuse_null()), pos
        return _content(data, pos, size - 1)

    def read_plain(data: bytes, pos: int) -> tuple[bytes | None, int]:
        (length,) = _INT32(data, pos)
        pos += 4
        if length < 0:
            if length != -1:
                _refuse_negative(length)
            return (None if nullable else _refuse_null()), pos
        return _content(data, pos, length)

    return read_compact if flexible else read_plain


def count_reader(flexible: bool) -> Callable[[bytes, int], tuple[int, int]]:
    """The count of an array, -1 for null. Every element has at least one byte, so a count above
    what is left is a lie and is refused before use.
    """

    def read(data: bytes, pos: int) -> tuple[int, int]:
        if flexible:
            count = data[pos]
            if count < 0x80:
                pos += 1
            else:
                count, pos = read_uvarint(data, pos)
            count -= 1
        else:
            (count,) = _INT32(data, pos)
            pos += 4
        if count > len(data) - pos or count < -1:
            raise Malformed(f"a count of {count} where {len(data) - pos} bytes are left")
        return count, pos

    return read


_FORMATS = 64
"""Counts below it have their format compiled at import; an array that is larger costs more than
compiling.
"""


def integer_array_reader(flexible: bool, nullable: bool, code: str) -> Reader:
    """An array of int16 (`h`) or int32 (`i`), as a tuple."""
    width = {"h": 2, "i": 4}[code]
    read_count = count_reader(flexible)
    formats = [Struct(f">{count}{code}").unpack_from for count in range(_FORMATS)]

    def read(data: bytes, pos: int) -> tuple[tuple[int, ...] | None, int]:
        count = data[pos] - 1
        if (
            flexible and 0 <= count < _FORMATS and pos + width * count < len(data)
        ):  # nearly every array: a call less, a third of its time
            pos += 1
            return formats[count](data, pos), pos + width * count
        count, pos = read_count(data, pos)
        if count < 0:
            return (None if nullable else _refuse_null()), pos
        end = pos + width * count
        if end > len(data):
            raise Malformed(f"a count of {count} where {len(data) - pos} bytes are left")
        if count < _FORMATS:
            return formats[count](data, pos), end
        return Struct(f">{count}{code}").unpack_from(data, pos), end

    return read


def array_reader(flexible: bool, nullable: bool, read_element: Reader) -> Reader:
    """An array of anything that has at least one byte, as a tuple."""
    read_count = count_reader(flexible)

    def read(data: bytes, pos: int) -> tuple[tuple[Any, ...] | None, int]:
        if flexible and data[pos] == 1:
            return (), pos + 1
        count, pos = read_count(data, pos)
        if count < 0:
            return (None if nullable else _refuse_null()), pos
        elements = []
        for _ in range(count):
            element, pos = read_element(data, pos)
            elements.append(element)
        return tuple(elements), pos

    return read
