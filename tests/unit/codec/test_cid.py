from __future__ import annotations

import copy
import pickle
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from multiformats import CID
from weighbridge.cid import DAG_CBOR, RAW, Cid, from_foreign_text
from weighbridge.errors import Refused

DIGEST = sha256(b"a block").digest()
PREFIX = b"\x01\x71\x12\x20"
TEXT = str(Cid.of(b"a block"))

cids = st.builds(
    lambda codec, digest: Cid(bytes((1, codec, 0x12, 0x20)) + digest),
    st.sampled_from([DAG_CBOR, RAW]),
    st.binary(min_size=32, max_size=32),
)


@settings(deadline=None)
@given(cids)
def test_a_cid_comes_back_from_its_text_its_bytes_and_a_pickle(cid: Cid) -> None:
    assert Cid.parse(str(cid)) == Cid(cid.raw) == pickle.loads(pickle.dumps(cid)) == cid
    assert eval(repr(cid), {"Cid": Cid}) == cid
    assert copy.copy(cid) is copy.deepcopy(cid) is cid


@settings(deadline=None)
@given(cids)
def test_multiformats_reads_and_writes_the_same_text(cid: Cid) -> None:
    other = CID.decode(str(cid))
    assert (bytes(other), str(other)) == (cid.raw, str(cid))
    assert from_foreign_text(str(other.set(base="base58btc"))) == cid


@settings(deadline=None)
@given(cids, cids)
def test_cids_order_and_hash_by_their_bytes(one: Cid, other: Cid) -> None:
    assert (one < other, one <= other, one > other, one >= other, one == other) == (
        one.raw < other.raw,
        one.raw <= other.raw,
        one.raw > other.raw,
        one.raw >= other.raw,
        one.raw == other.raw,
    )
    assert len({one, other, Cid(one.raw)}) == len({one.raw, other.raw})


def test_a_cid_is_of_its_block_and_codec() -> None:
    cid = Cid.of(b"a block", RAW)
    assert (cid.codec, cid.digest, str(cid)[:4]) == (RAW, DIGEST, "bafk")
    assert (Cid.of(b"a block").codec, TEXT[:4]) == (DAG_CBOR, "bafy")


def test_a_cid_is_no_bytes_and_no_text() -> None:
    cid = Cid.of(b"a block")
    assert cid != cid.raw
    assert cid != str(cid)
    with pytest.raises(TypeError):
        cid < cid.raw  # type: ignore[operator]  # noqa: B015


@pytest.mark.parametrize("name", ["raw", "_text", "other"])
def test_a_cid_cannot_be_changed(name: str) -> None:
    cid = Cid.of(b"a block")
    before = str(cid)
    with pytest.raises(AttributeError):
        setattr(cid, name, b"")
    with pytest.raises(AttributeError):
        delattr(cid, name)
    assert str(cid) == before


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        pytest.param(TEXT, "cid-form", id="text instead of bytes"),
        pytest.param(bytearray(PREFIX + DIGEST), "cid-form", id="mutable bytes"),
        pytest.param(None, "cid-form", id="nothing"),
        pytest.param(b"", "cid-form", id="no bytes"),
        pytest.param(b"\x01\x71\x12", "cid-form", id="three bytes"),
        pytest.param(b"\x12\x20" + DIGEST, "cid-version", id="CIDv0"),
        pytest.param(b"\x02\x71\x12\x20" + DIGEST, "cid-version", id="CIDv2"),
        pytest.param(b"\x00" + PREFIX + DIGEST, "cid-version", id="the 0x00 of a link left on"),
        pytest.param(b"\x01\x70\x12\x20" + DIGEST, "cid-codec", id="dag-pb"),
        pytest.param(b"\x01\xa9\x02\x12\x20" + DIGEST, "cid-codec", id="dag-json, a codec of two bytes"),
        pytest.param(b"\x01\xf1\x00\x12\x20" + DIGEST, "cid-codec", id="dag-cbor, written in two bytes"),
        pytest.param(b"\x01\x71\x11\x14" + DIGEST[:20], "cid-hash", id="SHA-1"),
        pytest.param(b"\x01\x71\x13\x40" + DIGEST + DIGEST, "cid-hash", id="SHA2-512"),
        pytest.param(b"\x01\x71\x00\x20" + DIGEST, "cid-hash", id="identity"),
        pytest.param(b"\x01\x71\x1e\x20" + DIGEST, "cid-hash", id="BLAKE3"),
        pytest.param(PREFIX + DIGEST[:31], "cid-length", id="digest cut short"),
        pytest.param(b"\x01\x71\x12\x1f" + DIGEST[:31], "cid-length", id="digest of 31 bytes"),
        pytest.param(b"\x01\x71\x12\x1f" + DIGEST, "cid-length", id="digest length 31, digest 32"),
        pytest.param(PREFIX + DIGEST + b"\x00", "cid-length", id="trailing byte"),
    ],
)
def test_another_form_of_cid_is_refused(raw: object, code: str) -> None:
    with pytest.raises(Refused) as refused:
        Cid(raw)  # type: ignore[arg-type]
    assert refused.value.code == code


@pytest.mark.parametrize("codec", [0x70, 0, -1, "71"])
def test_a_block_of_another_codec_has_no_cid(codec: object) -> None:
    with pytest.raises(Refused) as refused:
        Cid.of(b"a block", codec)  # type: ignore[arg-type]
    assert refused.value.code == "cid-codec"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param(TEXT[:-1], id="a character short"),
        pytest.param(TEXT + "a", id="a character long"),
        pytest.param(TEXT + "======", id="padded"),
        pytest.param("B" + TEXT[1:].upper(), id="upper case"),
        pytest.param(TEXT[:-1] + TEXT[-1].upper(), id="one character in upper case"),
        pytest.param(TEXT[:-1] + "b", id="last bits that belong to no byte"),
        pytest.param("z" + TEXT[1:], id="another multibase"),
        pytest.param(TEXT[:9] + "0" + TEXT[10:], id="a zero"),
        pytest.param(TEXT[:9] + "1" + TEXT[10:], id="a one"),
        pytest.param(TEXT[:9] + "_" + TEXT[10:], id="an underscore"),
        pytest.param(TEXT[:1] + "+" + TEXT[2:], id="a sign"),
        pytest.param(TEXT[:1] + " " + TEXT[2:], id="a space"),
        pytest.param(TEXT[:9] + "٣" + TEXT[10:], id="a digit of another script"),
        pytest.param(TEXT.encode(), id="bytes"),
        pytest.param(None, id="nothing"),
    ],
)
def test_another_spelling_is_refused(text: object) -> None:
    with pytest.raises(Refused) as refused:
        Cid.parse(text)  # type: ignore[arg-type]
    assert refused.value.code == "cid-form"


@settings(deadline=None)
@given(
    st.text(max_size=70)
    | st.text(alphabet="abcdefghijklmnopqrstuvwxyz234567", min_size=58, max_size=58).map("b".__add__)
)
def test_no_other_text_does_more_than_be_refused(text: str) -> None:
    for read in (Cid.parse, from_foreign_text):
        try:
            cid = read(text)
        except Refused:
            continue
        assert len(cid.raw) == 36


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("QmbWqxBEKC3P8tqsKc98xmWNzrzDtRLMiMPL8wBuTGsMnR", "cid-version", id="CIDv0"),
        pytest.param("zdj7WWeQ43G6JJvLWQWZpyHuAMq6uYWRjkBXFad11vE2LHhQ7", "cid-codec", id="dag-pb in base58"),
        pytest.param("b" * 10_000, "cid-form", id="long"),
        pytest.param("", "cid-form", id="empty"),
        pytest.param(7, "cid-form", id="no text"),
    ],
)
def test_foreign_text_must_still_name_a_cid_of_the_one_form(text: object, code: str) -> None:
    with pytest.raises(Refused) as refused:
        from_foreign_text(text)  # type: ignore[arg-type]
    assert refused.value.code == code
