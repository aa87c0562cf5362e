"""What holds for every value and for any bytes at all, and where other libraries differ."""

from __future__ import annotations

from typing import Any

import dag_cbor
import libipld
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from multiformats import CID
from weighbridge.cid import Cid
from weighbridge.codec import decode, encode, from_json, to_json
from weighbridge.codec.plain import encode_plainly
from weighbridge.codec.strict import decode_strictly
from weighbridge.errors import Refused

cids = st.builds(Cid.of, st.binary(max_size=4), st.sampled_from([0x71, 0x55]))
keys = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(
    ["a", "b", "aa", "é", "水"]
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**64), 2**64 - 1)
    | st.integers(-300, 70_000)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
    | st.text("a", min_size=20, max_size=300)
    | st.binary(max_size=40)
    | cids
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=20,
)

# What an object may be that a careless caller hands over.
objects = st.recursive(
    scalars
    | st.floats()
    | st.complex_numbers()
    | st.integers()
    | st.text(max_size=5)
    | st.datetimes()
    | st.just(object()),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(keys | st.integers() | st.text(max_size=3) | st.none(), inner, max_size=4)
        | st.frozensets(st.integers(), max_size=2)
    ),
    max_leaves=12,
)


@st.composite
def spoilt(draw: st.DrawFn) -> bytes:
    """Return the bytes of a value with a few of them changed, left out or added."""
    data = bytearray(encode(draw(values)))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(data)))
        kind = draw(st.sampled_from(["change", "cut", "insert", "head"]))
        if kind == "change" and at < len(data):
            data[at] = draw(st.integers(0, 255))
        elif kind == "cut":
            del data[at : at + draw(st.integers(1, 4))]
        elif kind == "insert":
            data[at:at] = draw(st.binary(min_size=1, max_size=3))
        else:
            heads = [
                "9f",
                "bf",
                "d82a",
                "c1",
                "c2",
                "1800",
                "a2",
                "f97e00",
                "f7",
                "81",
                "d82a58250001711220",
                "fb",
            ]
            data[at:at] = bytes.fromhex(draw(st.sampled_from(heads)))
    return bytes(data)


anything = st.binary(max_size=60) | spoilt()


def judged(read: Any, data: bytes) -> tuple[str, Any]:
    try:
        return "kept", read(data)
    except Refused as refusal:
        return refusal.code, None


@settings(deadline=None)
@given(values)
def test_a_value_has_one_encoding_and_comes_back(value: Any) -> None:
    data = encode(value)
    assert data == encode_plainly(value)
    assert decode(data) == decode_strictly(data) == value
    assert encode(decode(data)) == data


@settings(deadline=None)
@given(values)
def test_a_value_comes_back_from_json(value: Any) -> None:
    assert from_json(to_json(value)) == value


@settings(deadline=None)
@given(st.dictionaries(keys, st.integers(0, 3), min_size=2, max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_a_dict_says_nothing(value: dict[str, int], random: Any) -> None:
    items = list(value.items())
    random.shuffle(items)
    assert encode(dict(items)) == encode(value)


@settings(max_examples=400, deadline=None)
@given(anything)
@example(b"")
@example(b"\xff")
@example(b"\xd8\x2a\x41\x00")
def test_any_bytes_are_read_or_refused_and_both_decoders_say_the_same(data: bytes) -> None:
    answer = judged(decode, data)
    assert answer == judged(decode_strictly, data)
    if answer[0] == "kept":
        assert encode(answer[1]) == data


@settings(deadline=None)
@given(objects)
def test_any_object_is_written_or_refused_and_both_encoders_say_the_same(value: object) -> None:
    assert judged(encode, value) == judged(encode_plainly, value)  # type: ignore[arg-type]


# --- Other libraries ---------------------------------------------------------------------------------------

# What libipld accepts and we refuse: code -> reason.
LIBIPLD_ACCEPTS = {
    "float": "records and cells hold no floats",
    "not-minimal": "it reads integers, lengths and tags in more bytes than they need",
    "cid-codec": "it reads links of every codec",
    "cid-hash": "it reads links of every hash",
    "cid-length": "it reads links of every digest length",
    "cid-version": "it reads links of version 0",
    "nesting": "it nests deeper",
}
# What dag-cbor accepts and we refuse.
DAG_CBOR_ACCEPTS = {
    "float": "records and cells hold no floats",
    "cid-codec": "it reads links of every codec",
    "cid-hash": "it reads links of every hash",
    "cid-length": "it reads links of every digest length",
    "cid-version": "it reads links of version 0",
    "nesting": "it nests deeper",
}


# Bytes that show each of the differences listed.
DIFFERENCES = {
    "float": "fb3ff8000000000000",
    "not-minimal": "1801",
    "cid-codec": "d82a58250001701220" + "00" * 32,
    "cid-hash": "d82a58190001711114" + "00" * 20,
    "cid-length": "d82a5824000171121f" + "00" * 31,
    "cid-version": "d82a5823001220" + "00" * 32,
    "nesting": "81" * 33 + "00",
}


def without_links(value: Any, as_link: Any) -> Any:
    """Return a value with its links in the form another library gives them."""
    if isinstance(value, Cid):
        return as_link(value)
    if isinstance(value, list):
        return [without_links(item, as_link) for item in value]
    if isinstance(value, dict):
        return {key: without_links(item, as_link) for key, item in value.items()}
    return value


def as_libipld(cid: Cid) -> bytes:
    return cid.raw


def as_dag_cbor(cid: Cid) -> CID:
    return CID.decode(cid.raw)


@settings(deadline=None)
@given(values)
def test_libipld_writes_and_reads_the_same(value: Any) -> None:
    data = encode(value)
    assert libipld.decode_dag_cbor(data) == without_links(value, as_libipld)
    if not any(kind in repr(value) for kind in ("Cid", "b'", 'b"')):
        # It has one type for links and byte strings: those it cannot write again.
        assert libipld.encode_dag_cbor(value) == data


@settings(deadline=None)
@given(values)
def test_dag_cbor_writes_and_reads_the_same(value: Any) -> None:
    data = encode(value)
    theirs = without_links(value, as_dag_cbor)
    assert dag_cbor.decode(data) == theirs
    assert dag_cbor.encode(theirs) == data


@settings(max_examples=300, deadline=None)
@given(anything)
@pytest.mark.parametrize(
    ("read", "as_link", "listed"),
    [
        pytest.param(libipld.decode_dag_cbor, as_libipld, LIBIPLD_ACCEPTS, id="libipld"),
        pytest.param(dag_cbor.decode, as_dag_cbor, DAG_CBOR_ACCEPTS, id="dag-cbor"),
    ],
)
def test_what_another_library_reads_otherwise_is_listed(
    read: Any, as_link: Any, listed: dict[str, str], data: bytes
) -> None:
    ours, value = judged(decode, data)
    try:
        theirs = read(data)
    except Exception:  # they raise what they like
        assert ours != "kept"
        return
    if ours == "kept":
        assert theirs == without_links(value, as_link)
    else:
        assert ours in listed


@pytest.mark.parametrize(
    ("read", "code"),
    [
        *(pytest.param(libipld.decode_dag_cbor, code, id=f"libipld {code}") for code in LIBIPLD_ACCEPTS),
        *(pytest.param(dag_cbor.decode, code, id=f"dag-cbor {code}") for code in DAG_CBOR_ACCEPTS),
    ],
)
def test_each_listed_difference_is_one(read: Any, code: str) -> None:
    data = bytes.fromhex(DIFFERENCES[code])
    assert judged(decode, data)[0] == code
    read(data)
