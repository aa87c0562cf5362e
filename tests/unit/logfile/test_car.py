from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weighbridge.cid import RAW, Cid
from weighbridge.codec import encode
from weighbridge.limits import MAX_CAR_BLOCK, MAX_CAR_HEADER
from weighbridge.logfile import CarReader, LogFileRefused, write_car
from weighbridge.logfile.car import varint
from weighbridge.logfile.errors import CarBlockSize, CarHeader

A, B = encode({"a": 1}), b"raw bytes"
BLOCKS = [(Cid.of(A), A), (Cid.of(B, RAW), B), (Cid.of(A), A)]
FILE = b"".join(write_car([Cid.of(A)], BLOCKS))
HEADER = 1 + FILE[0]


def pieces(data: bytes, length: int) -> Iterator[bytes]:
    return (data[start : start + length] for start in range(0, len(data), length))


def read(data: bytes, length: int = 7) -> tuple[tuple[Cid, ...], list[tuple[Cid, bytes]]]:
    reader = CarReader(pieces(data, length))
    return reader.roots, [(block.cid, block.data) for block in reader.blocks()]


def block(cid: bytes, data: bytes) -> bytes:
    return varint(len(cid) + len(data)) + cid + data


def header(value: object) -> bytes:
    data = encode(value)
    return varint(len(data)) + data


def test_a_file_has_the_bytes_the_specification_gives_it() -> None:
    root = b"\xd8\x2a\x58\x25\x00" + Cid.of(A).raw
    expected_header = b"\xa2\x65roots\x81" + root + b"\x67version\x01"
    assert FILE[:HEADER] == bytes([len(expected_header)]) + expected_header
    assert FILE[HEADER:] == b"".join(block(cid.raw, data) for cid, data in BLOCKS)


@given(st.lists(st.binary(max_size=300)), st.integers(min_value=1, max_value=400), st.integers(0, 3))
def test_what_is_written_is_read_again_in_pieces_of_any_size(
    contents: list[bytes], length: int, roots: int
) -> None:
    blocks = [(Cid.of(data, RAW), data) for data in contents]
    named = [cid for cid, _ in blocks[:roots]]
    assert read(b"".join(write_car(named, blocks)), length) == (tuple(named), blocks)


def test_blocks_know_where_they_stand() -> None:
    offsets = [one.offset for one in CarReader([FILE]).blocks()]
    assert offsets[0] == HEADER
    assert all(
        FILE[offset + 1 : offset + 37] == cid.raw for offset, (cid, _) in zip(offsets, BLOCKS, strict=True)
    )


def test_blocks_are_read_without_holding_the_file() -> None:
    data = b"x" * 300_000
    taken = 0

    def many() -> Iterator[bytes]:
        nonlocal taken
        for piece in write_car([], ((Cid.of(data, RAW), data) for _ in range(20))):
            taken += 1
            yield piece

    blocks = CarReader(many()).blocks()
    assert next(blocks).data == data
    assert taken <= 4
    assert [one.offset for one in blocks][-1] == HEADER - 41 + 19 * (3 + 36 + 300_000)


@given(st.integers(min_value=0, max_value=(1 << 63) - 1))
def test_a_varint_has_seven_bits_a_byte(number: int) -> None:
    data = varint(number)
    assert len(data) == max((number.bit_length() + 6) // 7, 1)
    assert sum((byte & 0x7F) << 7 * at for at, byte in enumerate(data)) == number


WRONG = [
    pytest.param(b"", "car-truncated", 0, id="nothing"),
    pytest.param(FILE[:20], "car-truncated", 1, id="half-a-header"),
    pytest.param(FILE[: HEADER + 20], "car-truncated", HEADER + 1, id="half-a-cid"),
    pytest.param(FILE[:-1], "car-truncated", len(FILE) - len(A), id="half-a-block"),
    pytest.param(FILE + b"\x80", "car-truncated", len(FILE) + 1, id="half-a-length"),
    pytest.param(b"\x80" * 10, "car-varint", 0, id="a-length-of-ten-bytes"),
    pytest.param(FILE[:HEADER] + b"\xff" * 9 + b"\x01", "car-varint", HEADER, id="a-block-of-64-bits"),
    pytest.param(FILE[:HEADER] + b"\xa5\x80\x00", "car-varint", HEADER, id="a-length-not-shortest"),
    pytest.param(varint(MAX_CAR_HEADER + 1) + b"x" * 9999, "car-header", 0, id="a-header-too-long"),
    pytest.param(varint(3) + b"abc", "car-header", 0, id="a-header-that-is-no-map"),
    pytest.param(b"\x0a\xa1\x67version\x01"[:11], "car-header", 0, id="a-header-that-is-short"),
    pytest.param(header({"roots": [], "version": 2}), "car-header", 0, id="version-2"),
    pytest.param(header({"roots": [], "version": True}), "car-header", 0, id="version-true"),
    pytest.param(header({"version": 1}), "car-header", 0, id="no-roots"),
    pytest.param(header({"roots": [], "version": 1, "more": 1}), "car-header", 0, id="one-field-more"),
    pytest.param(header({"roots": {}, "version": 1}), "car-header", 0, id="roots-that-are-no-list"),
    pytest.param(header({"roots": ["bafy"], "version": 1}), "car-header", 0, id="roots-that-are-no-cids"),
    pytest.param(header([1]), "car-header", 0, id="a-list-for-a-header"),
    pytest.param(FILE[:HEADER] + varint(35) + b"x" * 35, "car-block-size", HEADER, id="no-room-for-a-cid"),
    pytest.param(FILE[:HEADER] + varint(0), "car-block-size", HEADER, id="an-empty-section"),
    pytest.param(
        FILE[:HEADER] + varint(MAX_CAR_BLOCK + 37), "car-block-size", HEADER, id="a-block-too-large"
    ),
    pytest.param(
        FILE[:HEADER] + block(b"\x12\x20" + b"x" * 34, A), "car-block-cid", HEADER, id="a-cid-of-v0"
    ),
    pytest.param(FILE[:HEADER] + block(Cid.of(A).raw, B), "car-block-hash", HEADER, id="other-bytes"),
    pytest.param(FILE[:-1] + b"\x02", "car-block-hash", len(FILE) - len(A) - 37, id="a-changed-byte"),
]


@pytest.mark.parametrize(("data", "code", "offset"), WRONG)
@pytest.mark.parametrize("length", [1, 100_000], ids=["bytewise", "at-once"])
def test_a_wrong_file_is_refused_with_its_place(data: bytes, code: str, offset: int, length: int) -> None:
    with pytest.raises(LogFileRefused) as caught:
        read(data, length)
    assert (caught.value.code, caught.value.detail["offset"]) == (code, offset)
    assert f"byte {offset}" in str(caught.value)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_file_or_refused(data: bytes) -> None:
    with suppress(LogFileRefused):
        read(data)


@given(st.integers(0, len(FILE) - 1), st.integers(1, 255))
def test_a_changed_byte_is_refused_or_changes_a_root(offset: int, change: int) -> None:
    data = bytearray(FILE)
    data[offset] ^= change
    try:
        roots, blocks = read(bytes(data))
    except LogFileRefused:
        return
    assert blocks == BLOCKS
    assert roots != (Cid.of(A),)


def test_what_no_reader_would_take_is_not_written() -> None:
    with pytest.raises(CarHeader):
        list(write_car([Cid.of(A)] * 200, []))
    large = b"x" * (MAX_CAR_BLOCK + 1)
    with pytest.raises(CarBlockSize):
        list(write_car([], [(Cid.of(large, RAW), large)]))


@pytest.mark.parametrize("name", ["alice", "record_proof", "exclusion_proof"])
def test_the_files_of_a_real_server_are_read_and_written_the_same(vectors: Path, name: str) -> None:
    data = (vectors / "atproto" / "own-pds" / f"{name}.car").read_bytes()
    roots, blocks = read(data, 1000)
    assert len(roots) == 1
    assert roots[0] in [cid for cid, _ in blocks]
    assert b"".join(write_car(roots, blocks)) == data
