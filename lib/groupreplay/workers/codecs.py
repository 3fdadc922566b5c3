"""What the parser of segments needs and the standard library lacks: CRC-32C and Kafka's codecs,
each from a library that others keep well.

CRC-32C: google-crc32c (Apache 2.0, kept by Google, wheels for every platform) against crc32c
(LGPL): a call on a batch of 300 bytes costs 0.09 us with either, so the licence decides.
Compression: the codecs inside pyarrow, which Spark needs anyway.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

import google_crc32c
import pyarrow as pa

GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4
_STREAMED = {GZIP: "gzip", LZ4: "lz4", ZSTD: "zstd"}

_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER_BYTES = 16
"""Magic, int32 version, int32 oldest compatible version; then blocks of int32 length and raw
snappy.
"""
_PIECE_BYTES = 1 << 20


class BadCompression(ValueError):
    """The data is not of its codec, or unpacks to more than was allowed."""


class Codecs:
    """Implements `groupreplay.wire.segments.record_batch.Codecs`."""

    crc32c: Callable[[bytes], int] = staticmethod(google_crc32c.value)

    def decompress(self, codec_id: int, data: bytes, limit_bytes: int) -> bytes:
        """Unpacks by Kafka's codec id. Raises BadCompression on bad data, and before it holds more
        than `limit_bytes`.
        """
        try:
            if codec_id in _STREAMED:
                return _unpack_stream(_STREAMED[codec_id], data, limit_bytes)
            if codec_id == SNAPPY:
                return _unpack_snappy(data, limit_bytes)
        except (pa.ArrowException, OSError, ValueError) as error:
            if isinstance(error, BadCompression):
                raise
            raise BadCompression(str(error)) from None
        raise BadCompression("there is no such codec")


def _unpack_stream(name: str, data: bytes, limit_bytes: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    with pa.CompressedInputStream(pa.BufferReader(data), name) as stream:
        while piece := stream.read(min(_PIECE_BYTES, limit_bytes - size + 1)):
            parts.append(piece)
            size += len(piece)
            if size > limit_bytes:
                raise BadCompression(f"unpacks to more than {limit_bytes} bytes")
    return b"".join(parts)


def _unpack_snappy(data: bytes, limit_bytes: int) -> bytes:
    """Raw snappy, or the framing of snappy-java (xerial) that Java clients and brokers write."""
    if not data.startswith(_XERIAL_MAGIC):
        return _unpack_snappy_block(data, limit_bytes)
    parts: list[bytes] = []
    pos = _XERIAL_HEADER_BYTES
    while pos < len(data):
        if pos + 4 > len(data):
            raise BadCompression("ends inside a block's length")
        (size,) = struct.unpack_from(">i", data, pos)
        pos += 4
        if not 0 < size <= len(data) - pos:
            raise BadCompression(f"a block of {size} bytes where {len(data) - pos} are left")
        block = _unpack_snappy_block(data[pos : pos + size], limit_bytes)
        limit_bytes -= len(block)
        parts.append(block)
        pos += size
    return b"".join(parts)


def _unpack_snappy_block(block: bytes, limit_bytes: int) -> bytes:
    """A block begins with the size it unpacks to, as a varint: known, and so bounded, before
    anything is unpacked.
    """
    size = shift = 0
    for byte in block[:5]:
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    else:
        raise BadCompression("no size")
    if size > limit_bytes:
        raise BadCompression(f"unpacks to more than {limit_bytes} bytes")
    unpacked: bytes = pa.decompress(block, decompressed_size=size, codec="snappy", asbytes=True)
    return unpacked
