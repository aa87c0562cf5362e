from __future__ import annotations

from datetime import datetime
from enum import Enum
from typing import Any, Literal

import msgspec
import pytest
from weighbridge.cid import Cid
from weighbridge.codec import decode, decode_as, encode
from weighbridge.codec.plain import encode_plainly
from weighbridge.errors import Refused

CID = Cid.of(b"a block")


class Way(Enum):
    UP = "up"


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, rename="camel"):
    seq: int
    op: Literal["create", "delete"]
    prev: Cid | None = None
    sig: bytes | None = None
    v: int = 1
    words: str = "none"
    flag: bool = False
    tags: tuple[str, ...] = ()
    more: list[int] = []
    facts: dict[str, int] = msgspec.field(default_factory=dict)
    way: Way = Way.UP
    last_word: str | None = None


class Tagged(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="$type", tag="net.example.step"
):
    step: Step
    a: int
    zzzzzz: int | None = None


class Open(msgspec.Struct, frozen=True, omit_defaults=True):
    a: int
    extra: Any = None


class Wrong(msgspec.Struct, frozen=True):
    when: datetime | float


class Late(msgspec.Struct, frozen=True, omit_defaults=True):
    a: int | msgspec.UnsetType = msgspec.UNSET
    b: list[int] = msgspec.field(default_factory=lambda: [1])


STEPS = [
    Step(0, "create"),
    Step(7, "delete", prev=CID, sig=b"\x01", v=300, words="some", flag=True, tags=("a",), last_word="x"),
    Step(2**40, "create", more=[0], facts={"b": 1, "aa": 2}),
    Tagged(Step(1, "create"), 2),
    Tagged(Step(1, "create"), 2, 3),
    Open(1, {"any": [CID, b"bytes", None]}),
    Late(),
    Late(5, [2, 3]),
]


@pytest.mark.parametrize("record", STEPS, ids=repr)
def test_a_typed_record_comes_back(record: msgspec.Struct) -> None:
    data = encode(record)
    assert decode_as(data, type(record)) == record
    assert encode(decode(data)) == data == encode_plainly(record)


def test_a_default_is_left_out_and_a_tag_is_not() -> None:
    assert decode(encode(Step(0, "create"))) == {"op": "create", "seq": 0}
    assert decode(encode(Tagged(Step(0, "create"), 2))) == {
        "a": 2,
        "step": {"op": "create", "seq": 0},
        "$type": "net.example.step",
        "zzzzzz": None,
    }
    assert decode(encode(Late())) == {"b": [1]}


def test_a_default_is_left_out_by_what_it_says_and_not_by_identity() -> None:
    again = Step(0, "create", v=int("1"), words="".join(["no", "ne"]), tags=(), more=[], facts={})
    assert encode(again) == encode_plainly(again) == encode(Step(0, "create"))


def test_true_is_not_the_default_one() -> None:
    loose = Step(0, "create", v=True)
    assert decode(encode(loose))["v"] is True
    assert encode_plainly(loose) == encode(loose)


@pytest.mark.parametrize(
    ("value", "kind", "where"),
    [
        pytest.param({"op": "create"}, Step, "seq", id="a field missing"),
        pytest.param({"op": "create", "seq": "1"}, Step, r"\$\.seq", id="text for a number"),
        pytest.param({"op": "create", "seq": True}, Step, r"\$\.seq", id="true for a number"),
        pytest.param({"op": "fly", "seq": 1}, Step, r"\$\.op", id="another word"),
        pytest.param({"op": "create", "seq": 1, "new": 1}, Step, "new", id="an unknown field"),
        pytest.param(
            {"op": "create", "seq": 1, "last_word": "x"}, Step, "last_word", id="a field under its other name"
        ),
        pytest.param({"op": "create", "seq": 1, "prev": str(CID)}, Step, r"\$\.prev", id="text for a link"),
        pytest.param({"op": "create", "seq": 1, "prev": CID.raw}, Step, r"\$\.prev", id="bytes for a link"),
        pytest.param(
            {"op": "create", "seq": 1, "prev": {"raw": CID.raw}}, Step, r"\$\.prev", id="a map for a link"
        ),
        pytest.param({"op": "create", "seq": 1, "sig": CID}, Step, r"\$\.sig", id="a link for bytes"),
        pytest.param(
            {"op": "create", "seq": 1, "tags": ["a", 1]},
            Step,
            r"\$\.tags\[1\]",
            id="a number in a list of texts",
        ),
        pytest.param({"op": "create", "seq": 1, "sig": "AQ=="}, Step, "one encoding", id="base64 for bytes"),
        pytest.param(
            {"op": "create", "seq": 1, "prev": None}, Step, "one encoding", id="a null that is left out"
        ),
        pytest.param({"op": "create", "seq": 1, "v": 1}, Step, "one encoding", id="a default written out"),
        pytest.param(
            {"op": "create", "seq": 1, "tags": []}, Step, "one encoding", id="an empty list written out"
        ),
        pytest.param(
            {"a": 1, "step": {"op": "create", "seq": 1}, "zzzzzz": 1}, Tagged, "one encoding", id="no tag"
        ),
        pytest.param(
            {"a": 1, "step": {"op": "create", "seq": 1}, "$type": "x", "zzzzzz": 1},
            Tagged,
            "type",
            id="another tag",
        ),
        pytest.param(
            {"a": 1, "new": 1}, Open, "one encoding", id="an unknown field that the type would drop"
        ),
        pytest.param({"when": "2026-01-01T00:00:00Z"}, Wrong, "no encoding", id="a type with no encoding"),
        pytest.param({"when": 1}, Wrong, "no encoding", id="an integer taken for a float"),
        pytest.param([1], Step, "array", id="a list for a record"),
        pytest.param("1", int, "str", id="text for an integer"),
    ],
)
def test_another_shape_is_refused_and_its_place_named(value: object, kind: Any, where: str) -> None:
    with pytest.raises(Refused, match=where) as refused:
        decode_as(encode(value), kind)
    assert refused.value.code == "wrong-shape"


def test_bytes_that_are_no_dag_cbor_keep_their_own_code() -> None:
    with pytest.raises(Refused) as refused:
        decode_as(bytes.fromhex("a2637365710062" + "6f70" + "66637265617465"), Step)
    assert refused.value.code == "key-order"


def test_plain_types_are_checked_too() -> None:
    assert decode_as(encode([1, 2]), list[int]) == [1, 2]
    assert decode_as(encode(CID), Cid) is not None
    assert decode_as(encode({"a": CID}), dict[str, Cid]) == {"a": CID}
