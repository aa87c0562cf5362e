from __future__ import annotations

import tracemalloc

import pytest
from weighbridge.cid import Cid
from weighbridge.codec import CodecRefused, decode, decode_own, decoding, encode
from weighbridge.codec.strict import decode_strictly
from weighbridge.errors import Refused
from weighbridge.limits import MAX_NESTING

CID = Cid.of(b"a block")
LINK = b"\xd8\x2a\x58\x25\x00"
DIGEST = CID.digest

KEPT = [
    pytest.param("00", 0, id="zero"),
    pytest.param("17", 23, id="the last integer of one byte"),
    pytest.param("1818", 24, id="the first integer of two bytes"),
    pytest.param("18ff", 255, id="255"),
    pytest.param("190100", 256, id="256"),
    pytest.param("1a00010000", 65536, id="2^16"),
    pytest.param("1b0000000100000000", 2**32, id="2^32"),
    pytest.param("1bffffffffffffffff", 2**64 - 1, id="the highest integer"),
    pytest.param("20", -1, id="minus one"),
    pytest.param("3bffffffffffffffff", -(2**64), id="the lowest integer"),
    pytest.param("f4", False, id="false"),
    pytest.param("f5", True, id="true"),
    pytest.param("f6", None, id="null"),
    pytest.param("40", b"", id="no bytes"),
    pytest.param("60", "", id="empty text"),
    pytest.param("63e6b0b4", "水", id="text"),
    pytest.param("80", [], id="empty list"),
    pytest.param("a0", {}, id="empty map"),
    pytest.param("a2616202626161f6", {"b": 2, "aa": None}, id="a short key before a smaller long one"),
    pytest.param((LINK + CID.raw).hex(), CID, id="a link"),
    pytest.param("81" + (LINK + CID.raw).hex(), [CID], id="a list of a link"),
    pytest.param((b"\x58\x24" + CID.raw).hex(), CID.raw, id="bytes that hold a CID are no link"),
]

REFUSED = [
    pytest.param("", "truncated", id="nothing"),
    pytest.param("18", "truncated", id="an argument missing"),
    pytest.param("1900", "truncated", id="an argument cut short"),
    pytest.param("6261", "truncated", id="text cut short"),
    pytest.param("81", "truncated", id="a list cut short"),
    pytest.param("a16161", "truncated", id="a map cut short"),
    pytest.param("a1", "truncated", id="a map with nothing in it"),
    pytest.param("d82a", "truncated", id="a link cut short"),
    pytest.param("0000", "trailing-bytes", id="two values"),
    pytest.param("a000", "trailing-bytes", id="a byte after a map"),
    pytest.param("f93c00", "float", id="half float"),
    pytest.param("fa3f800000", "float", id="single float"),
    pytest.param("fb3ff0000000000000", "float", id="double float"),
    pytest.param("81fb0000000000000000", "float", id="0.0 in a list"),
    pytest.param("fb8000000000000000", "float", id="-0.0"),
    pytest.param("f97e00", "float", id="NaN"),
    pytest.param("fb7ff8000000000000", "float", id="long NaN"),
    pytest.param("f97c00", "float", id="infinity"),
    pytest.param("9fff", "indefinite-length", id="indefinite list"),
    pytest.param("bfff", "indefinite-length", id="indefinite map"),
    pytest.param("5fff", "indefinite-length", id="indefinite bytes"),
    pytest.param("7f6161ff", "indefinite-length", id="indefinite text"),
    pytest.param("ff", "indefinite-length", id="a break alone"),
    pytest.param("81ff", "indefinite-length", id="a break in a list"),
    pytest.param("1f", "indefinite-length", id="an integer of indefinite length"),
    pytest.param("df00", "indefinite-length", id="a tag of indefinite length"),
    pytest.param("1c", "reserved-head", id="a reserved integer head"),
    pytest.param("fd", "reserved-head", id="a reserved simple head"),
    pytest.param("1817", "not-minimal", id="23 in two bytes"),
    pytest.param("1900ff", "not-minimal", id="255 in three bytes"),
    pytest.param("1a0000ffff", "not-minimal", id="65535 in five bytes"),
    pytest.param("1b00000000ffffffff", "not-minimal", id="2^32 - 1 in nine bytes"),
    pytest.param("3800", "not-minimal", id="-1 in two bytes"),
    pytest.param("5800", "not-minimal", id="a length of bytes"),
    pytest.param("780161", "not-minimal", id="a length of text"),
    pytest.param("9800", "not-minimal", id="a length of a list"),
    pytest.param("b800", "not-minimal", id="a length of a map"),
    pytest.param("a178016100", "not-minimal", id="a length of a key"),
    pytest.param("d9002a582500" + CID.raw.hex(), "not-minimal", id="a tag"),
    pytest.param("d82a59002500" + CID.raw.hex(), "not-minimal", id="the length of a link"),
    pytest.param("a2616100616101", "duplicate-key", id="a key twice"),
    pytest.param("a361610061620061610a", "duplicate-key", id="a key twice, another between"),
    pytest.param("a2616200616100", "key-order", id="keys out of order"),
    pytest.param("a262616100616200", "key-order", id="a long key before a short one"),
    pytest.param("81a2616200616100", "key-order", id="keys out of order further in"),
    pytest.param("a10000", "non-text-key", id="an integer key"),
    pytest.param("a1416100", "non-text-key", id="a key of bytes"),
    pytest.param("a1f600", "non-text-key", id="a null key"),
    pytest.param("a1f97e0000", "non-text-key", id="a NaN key"),
    pytest.param("a1" + (LINK + CID.raw).hex() + "00", "non-text-key", id="a link as key"),
    pytest.param("a18000", "non-text-key", id="a list as key"),
    pytest.param("61ff", "invalid-text", id="no UTF-8"),
    pytest.param("62c080", "invalid-text", id="overlong UTF-8"),
    pytest.param("63eda080", "invalid-text", id="a surrogate in UTF-8"),
    pytest.param("a161ff00", "invalid-text", id="a key that is no UTF-8"),
    pytest.param("f7", "simple-value", id="undefined"),
    pytest.param("e0", "simple-value", id="simple 0"),
    pytest.param("f820", "simple-value", id="simple 32"),
    pytest.param("f814", "simple-value", id="false in two bytes"),
    pytest.param("c074323031332d30332d32315432303a30343a30305a", "tag", id="a date"),
    pytest.param("c11a514b67b0", "tag", id="a time"),
    pytest.param("c482211902b3", "tag", id="a decimal fraction"),
    pytest.param("d81e820100", "tag", id="a rational with 0 below"),
    pytest.param("d81c80", "tag", id="a shared value"),
    pytest.param("d81d00", "tag", id="a reference to a shared value"),
    pytest.param("d8236128", "tag", id="a pattern that does not compile"),
    pytest.param("d9010080", "tag", id="string references"),
    pytest.param("d90102820101", "tag", id="a set"),
    pytest.param("d9d9f700", "tag", id="self-described CBOR"),
    pytest.param("dbffffffffffffffff00", "tag", id="the highest tag"),
    pytest.param("a1d8256161d82560", "non-text-key", id="a tagged key"),
    pytest.param("c249010000000000000000", "integer-range", id="2^64"),
    pytest.param("c349010000000000000000", "integer-range", id="-2^64 - 1"),
    pytest.param("c24101", "integer-range", id="1 as a bignum"),
    pytest.param("d82a00", "link-form", id="a link that is an integer"),
    pytest.param("d82a78" + f"{59:02x}" + str(CID).encode().hex(), "link-form", id="a link that is text"),
    pytest.param("d82a80", "link-form", id="a link that is a list"),
    pytest.param("d82ad82a4100", "link-form", id="a link in a link"),
    pytest.param("d82a40", "link-prefix", id="a link without bytes"),
    pytest.param("d82a5824" + CID.raw.hex(), "link-prefix", id="a link without its 0x00"),
    pytest.param("d82a5825ff" + CID.raw.hex(), "link-prefix", id="a link with another prefix"),
    pytest.param("d82a4100", "cid-form", id="a link with no CID"),
    pytest.param("d82a5823001220" + DIGEST.hex(), "cid-version", id="CIDv0"),
    pytest.param("d82a58250001701220" + DIGEST.hex(), "cid-codec", id="dag-pb"),
    pytest.param("d82a58190001711114" + DIGEST[:20].hex(), "cid-hash", id="SHA-1"),
    pytest.param("d82a5824000171121f" + DIGEST[:31].hex(), "cid-length", id="a digest of 31 bytes"),
    pytest.param("d82a58260001711220" + DIGEST.hex() + "00", "cid-length", id="a byte after the CID"),
]


@pytest.mark.parametrize(("hexed", "value"), KEPT)
def test_a_value_is_read_and_written_again(hexed: str, value: object) -> None:
    data = bytes.fromhex(hexed)
    assert decode(data) == decode_strictly(data) == value
    assert type(decode(data)) is type(value)
    assert encode(value) == data


@pytest.mark.parametrize(("hexed", "code"), REFUSED)
def test_every_other_encoding_is_refused_with_its_own_code(hexed: str, code: str) -> None:
    with pytest.raises(Refused) as refused:
        decode(bytes.fromhex(hexed))
    assert refused.value.code == code


def test_every_code_of_the_bytes_is_provoked_above() -> None:
    provoked = {row.values[1] for row in REFUSED}
    of_values = {"unencodable", "wrong-shape", "json-link", "json-bytes", "nesting"}
    assert {kind.code for kind in CodecRefused.__subclasses__()} - of_values == {
        code for code in provoked if not str(code).startswith("cid-")
    }


def test_a_refusal_names_the_byte() -> None:
    with pytest.raises(CodecRefused, match="byte 4") as refused:
        decode(bytes.fromhex("a2616200616100"))
    assert refused.value.detail["offset"] == 4


@pytest.mark.parametrize(
    ("opening", "inner"),
    [
        pytest.param("81", "00", id="lists"),
        pytest.param("81", (LINK + CID.raw).hex(), id="lists around a link"),
        pytest.param("a16161", "f6", id="maps"),
    ],
)
def test_nesting_ends_at_its_limit(opening: str, inner: str) -> None:
    deepest = bytes.fromhex(opening * MAX_NESTING + inner)
    assert encode(decode(deepest)) == deepest
    with pytest.raises(Refused) as refused:
        decode(bytes.fromhex(opening * (MAX_NESTING + 1) + inner))
    assert refused.value.code == "nesting"


@pytest.mark.parametrize("opening", ["81", "a16161", "d82a", "c1", "8181a16161d82a", "9f", "d81c81"])
def test_a_million_openings_are_refused_like_few(opening: str) -> None:
    with pytest.raises(Refused):
        decode(bytes.fromhex(opening) * 1_000_000)


@pytest.mark.parametrize(
    "head",
    [
        *("5bffffffffffffffff", "7bffffffffffffffff", "9bffffffffffffffff", "bbffffffffffffffff"),
        *("5b7fffffffffffffff", "7b7fffffffffffffff", "9b7fffffffffffffff", "bb7fffffffffffffff"),
        *("5a7fffffff", "7a7fffffff", "9a7fffffff", "ba7fffffff", "9a00ffffff", "d82a5a7fffffff"),
    ],
)
def test_an_announced_length_costs_no_memory(head: str) -> None:
    data = bytes.fromhex(head) + b"a" * 100
    tracemalloc.start()
    try:
        with pytest.raises(Refused) as refused:
            decode(data)
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert refused.value.code == "truncated"
    assert peak < 1_000_000


@pytest.mark.parametrize("length", [23, 24, 255, 256, 65_535, 65_536, 65_537, 200_000])
def test_long_texts_lists_and_maps_come_back(length: int) -> None:
    for value in ("水" * length, b"a" * length, [1] * length, {f"{n:06}": n for n in range(length)}):
        assert decode(encode(value)) == value


def test_what_is_well_formed_is_read_the_fast_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "decode_strictly", None)
    for row in KEPT:
        decode(bytes.fromhex(str(row.values[0])))


def test_what_is_decoded_is_fresh() -> None:
    data = encode({"list": [1], "map": {}})
    first = decode(data)
    first["list"].append(2)
    first["map"]["a"] = 1
    assert decode(data) == {"list": [1], "map": {}}


def test_own_bytes_are_read_the_same_and_refused_where_they_are_none() -> None:
    for row in KEPT:
        data = bytes.fromhex(str(row.values[0]))
        assert decode_own(data) == decode(data)
    with pytest.raises(Refused) as refused:
        decode_own(b"\xc1\x00")
    assert refused.value.code == "tag"
