from __future__ import annotations

import contextlib
from collections import OrderedDict, defaultdict, deque
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import Any, NamedTuple

import msgspec
import pytest
from weighbridge.cid import Cid
from weighbridge.codec import cid_of, decode, encode, encoding
from weighbridge.codec.plain import encode_plainly
from weighbridge.errors import Refused
from weighbridge.limits import MAX_NESTING


class Colour(StrEnum):
    RED = "red"


class Size(IntEnum):
    BIG = 9


class Fraction(Enum):
    HALF = 0.5


LINK_BYTES = Cid.of(b"a block").raw


class Text(str):
    pass


class Number(int):
    pass


class Pair(NamedTuple):
    one: int
    two: int


class Liar:
    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise ValueError("I have no class")

    def __repr__(self) -> str:
        raise ValueError("nor a name")

    def __eq__(self, other: object) -> bool:
        raise ValueError("nor an equal")

    __hash__ = None  # type: ignore[assignment]


class Row(msgspec.Struct, array_like=True):
    one: int


class Loose(msgspec.Struct, omit_defaults=True):
    name: Any = None


LOOP: list[Any] = []
LOOP += [LOOP, LOOP]
UNSET_FIELD = Loose()
del UNSET_FIELD.name


@pytest.mark.parametrize(
    ("value", "code"),
    [
        pytest.param(1.0, "float", id="float"),
        pytest.param([{"a": float("nan")}], "float", id="NaN within"),
        pytest.param(2**64, "integer-range", id="2^64"),
        pytest.param(-(2**64) - 1, "integer-range", id="-2^64 - 1"),
        pytest.param(10**5000, "integer-range", id="an integer too long to print"),
        pytest.param("\ud800", "invalid-text", id="a lone surrogate"),
        pytest.param({"\udfff": 1}, "invalid-text", id="a lone surrogate as key"),
        pytest.param({1: 2}, "non-text-key", id="an integer key"),
        pytest.param({b"a": 2}, "non-text-key", id="a key of bytes"),
        pytest.param({None: 2}, "non-text-key", id="no key"),
        pytest.param({("a",): 2}, "non-text-key", id="a tuple as key"),
        pytest.param({"a": 1, 2: 3}, "non-text-key", id="mixed keys"),
        pytest.param(LOOP, "nesting", id="a list in itself"),
        pytest.param(bytearray(b"a"), "unencodable", id="bytearray"),
        pytest.param(memoryview(b"a"), "unencodable", id="memoryview"),
        pytest.param({1, 2}, "unencodable", id="set"),
        pytest.param(frozenset(), "unencodable", id="frozenset"),
        pytest.param(Decimal(1), "unencodable", id="Decimal"),
        pytest.param(1j, "unencodable", id="complex"),
        pytest.param(datetime(2026, 1, 1, tzinfo=UTC), "unencodable", id="datetime"),
        pytest.param(deque([1]), "unencodable", id="deque"),
        pytest.param(iter([1]), "unencodable", id="iterator"),
        pytest.param(OrderedDict(a=1), "unencodable", id="a subclass of dict"),
        pytest.param(defaultdict(int), "unencodable", id="another subclass of dict"),
        pytest.param(Text("a"), "unencodable", id="a subclass of str"),
        pytest.param(Number(1), "unencodable", id="a subclass of int"),
        pytest.param(Pair(1, 2), "unencodable", id="a subclass of tuple"),
        pytest.param(Fraction.HALF, "unencodable", id="an enum of floats"),
        pytest.param(Row(1), "unencodable", id="an array_like struct"),
        pytest.param(Loose(1.5), "float", id="a struct with a float"),
        pytest.param({"a": [{"b": 1, "c": [True, None, 1.5]}]}, "float", id="a float deep down"),
        pytest.param({"a": {"b": OrderedDict(c=1)}}, "unencodable", id="a subclass of dict deep down"),
        pytest.param({"a": {"b": 1, 2: "c"}}, "non-text-key", id="a number as key deep down"),
        pytest.param(Loose(Loose(object())), "unencodable", id="a struct with an object"),
        pytest.param(UNSET_FIELD, "unencodable", id="a struct with a field missing"),
        pytest.param(object(), "unencodable", id="object"),
        pytest.param(int, "unencodable", id="a class"),
        pytest.param(Loose, "unencodable", id="a struct class"),
        pytest.param(len, "unencodable", id="a function"),
        pytest.param(..., "unencodable", id="ellipsis"),
        pytest.param(Liar(), "unencodable", id="an object that raises at everything"),
        pytest.param([Liar()], "unencodable", id="a list of one"),
    ],
)
def test_what_has_no_encoding_is_refused_with_its_own_code(value: object, code: str) -> None:
    for write in (encode, encode_plainly):
        with pytest.raises(Refused) as refused:
            write(value)
        assert refused.value.code == code


def test_a_refusal_names_the_path() -> None:
    with pytest.raises(Refused, match=r"at \$\.rules\.gates\[1\]\.price") as refused:
        encode({"rules": {"gates": [{}, {"price": 1.5}]}})
    assert refused.value.detail["path"] == "$.rules.gates[1].price"


@pytest.mark.parametrize("wrap", [lambda value: [value], lambda value: {"a": value}, Loose])
def test_nesting_ends_at_its_limit(wrap: Any) -> None:
    value: Any = 1
    for _ in range(MAX_NESTING):
        value = wrap(value)
    assert encode(value) == encode_plainly(value)
    with pytest.raises(Refused) as refused:
        encode(wrap(value))
    assert refused.value.code == "nesting"


def test_nesting_of_a_hundred_thousand_is_refused_like_one_too_many() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(Refused) as refused:
        encode(value)
    assert refused.value.code == "nesting"
    while value:  # taken apart by hand: CPython frees deep nesting recursively
        value = value.pop()


@pytest.mark.parametrize(
    ("value", "same_as"),
    [
        pytest.param((1, (2,)), [1, [2]], id="tuples are lists"),
        pytest.param(Colour.RED, "red", id="a text enum is its text"),
        pytest.param([Size.BIG], [9], id="an integer enum is its integer"),
        pytest.param({Colour.RED: 1}, {"red": 1}, id="a text enum as key"),
        pytest.param({"a": [LINK_BYTES]}, {"a": [LINK_BYTES]}, id="bytes that look like a link are bytes"),
        pytest.param({"a": [Cid(LINK_BYTES)]}, {"a": [Cid(LINK_BYTES)]}, id="a link is a link"),
        pytest.param(True, True, id="true is no integer"),
        pytest.param({"b": 1, "a": 2}, {"a": 2, "b": 1}, id="the order of a dict says nothing"),
    ],
)
def test_some_objects_stand_for_values(value: object, same_as: object) -> None:
    assert encode(value) == encode_plainly(value) == encode(same_as)
    assert decode(encode(value)) == same_as


def test_true_and_one_are_two_values() -> None:
    assert encode(True) != encode(1)
    assert encode({"a": False}) != encode({"a": 0})


@pytest.mark.parametrize(
    "first", [{"a": 1, "b": 2}, {1: 2}, {True: 1}, {Colour.RED: 1}, {"red": 1}], ids=repr
)
def test_what_was_encoded_before_changes_nothing(first: dict[Any, int]) -> None:
    def answers() -> list[object]:
        found: list[object] = []
        for value in (
            {"a": 1, "b": 2},
            {1: 2},
            {True: 1},
            {1.0: 1},
            {Colour.RED: 1},
            {Text("red"): 1},
            {"b": 3, "a": 4},
        ):
            try:
                found.append(encode(value))
            except Refused as refusal:
                found.append(refusal.code)
        return found

    encoding._key_plans.clear()
    cold = answers()
    encoding._key_plans.clear()
    with contextlib.suppress(Refused):
        encode(first)
    assert answers() == answers() == cold


def test_keys_that_players_choose_do_not_fill_the_memory() -> None:
    for number in range(3 * encoding._MOST_PLANS):
        encode({f"k{number}": 1})
        encode({f"did:key:z{number:060}": 1})
        encode(dict.fromkeys((f"{number}/{key}" for key in range(40)), 1)) if number < 50 else None
    assert len(encoding._key_plans) <= encoding._MOST_PLANS
    assert all(len(keys) <= encoding._MOST_KEYS for keys in encoding._key_plans)
    assert all(len(key) <= encoding._LONGEST_KEY for keys in encoding._key_plans for key in keys)


def test_the_cid_of_a_value_is_of_its_bytes() -> None:
    value = {"a": [1, Cid.of(b"x")]}
    assert cid_of(value) == Cid.of(encode(value))
