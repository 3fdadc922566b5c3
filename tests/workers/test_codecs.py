"""CRC-32C and the codecs, against known values and what lies about its size."""

from __future__ import annotations

import gzip
import struct
import tracemalloc
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupreplay.workers.codecs import BadCompression, Codecs
from tests.wire.encode import XERIAL, compress

CODECS = Codecs()


def test_crc32c_is_castagnoli() -> None:
    """RFC 3720, B.4."""
    assert CODECS.crc32c(b"123456789") == 0xE3069283
    assert CODECS.crc32c(bytes(32)) == 0x8A9136AA


@pytest.mark.parametrize("xerial", [True, False])
@pytest.mark.parametrize("codec", [1, 2, 3, 4])
@settings(max_examples=20)
@given(data=st.binary(max_size=3000), times=st.integers(1, 40))
def test_what_was_packed_is_unpacked(codec: int, xerial: bool, data: bytes, times: int) -> None:
    whole = data * times
    packed = compress(codec, whole, xerial)
    if packed:
        assert CODECS.decompress(codec, packed, len(whole)) == whole
        if whole:
            with pytest.raises(BadCompression, match="more than"):
                CODECS.decompress(codec, packed, len(whole) - 1)


def test_several_gzip_members_and_frames_are_one() -> None:
    assert CODECS.decompress(1, gzip.compress(b"ab") + gzip.compress(b"cd"), 100) == b"abcd"


@pytest.mark.parametrize("codec", [0, 5, 6, 7, -1])
def test_unknown_codecs_are_refused(codec: int) -> None:
    with pytest.raises(BadCompression, match="no such codec"):
        CODECS.decompress(codec, b"x", 100)


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
@settings(max_examples=60)
@given(data=st.binary(max_size=60), cut=st.integers(1, 20))
def test_bad_data_is_refused_or_bounded(codec: int, data: bytes, cut: int) -> None:
    for packed in (data, XERIAL + data, compress(codec, b"some text " * 9)[:-cut]):
        with suppress(BadCompression):
            assert len(CODECS.decompress(codec, packed, 1000)) <= 1000


@pytest.mark.parametrize(
    "block", [struct.pack(">i", 100) + b"x", struct.pack(">i", -1), b"\0\0", struct.pack(">i", 0)]
)
def test_xerial_blocks_that_lie_are_refused(block: bytes) -> None:
    with pytest.raises(BadCompression):
        CODECS.decompress(2, XERIAL + block, 1000)


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_a_bomb_is_stopped_at_the_limit(codec: int) -> None:
    packed = compress(codec, bytes(30 << 20), xerial=False)
    tracemalloc.start()
    try:
        with pytest.raises(BadCompression, match="more than 1048576 bytes"):
            CODECS.decompress(codec, packed, 1 << 20)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()
