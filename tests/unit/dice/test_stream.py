from __future__ import annotations

import hashlib
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weighbridge.beacon import parse_signature, verify
from weighbridge.cid import Cid
from weighbridge.codec import encode
from weighbridge.contract import Dice, Opened
from weighbridge.dice import (
    MAX_SIDES,
    QUICKNET,
    BadDice,
    DiceRanOut,
    Given,
    GivenOutOfRange,
    Stream,
    sealed_randomness,
)

VALUES = json.loads((Path(__file__).parents[2] / "vectors" / "dice" / "values.json").read_text())["cases"]
GAME = "at://did:plc:g/town.delve.root/self"
URI = "at://did:plc:a/town.delve.move/1"
CID = Cid.of(b"\xa0")


def stream(purpose: str = "ask", randomness: bytes = bytes(32), uri: str = URI, cid: Cid = CID) -> Stream:
    return Stream(randomness, GAME, uri, cid, purpose)


class Scripted(Stream):
    """A stream whose blocks are given."""

    def __init__(self, *blocks: bytes) -> None:
        super().__init__(bytes(32), GAME, URI, CID, "ask")
        self.blocks = blocks

    def block(self, c: int) -> bytes:
        return self.blocks[c]


@pytest.mark.parametrize("case", VALUES, ids=[f"round {case['round']}" for case in VALUES])
def test_the_independent_values_come_out(case: dict[str, Any]) -> None:
    randomness = verify(QUICKNET, case["round"], parse_signature(case["signature"]))
    dice = Stream(randomness, case["game"], case["uri"], Cid.parse(case["cid"]), case["purpose"])

    assert randomness.hex() == case["randomness"]
    assert dice.block(0).hex() == case["firstBlock"]
    assert [dice.die(sides) for sides in case["sizes"]] == case["values"]


def test_a_block_is_the_hash_of_everything_that_makes_a_roll_this_roll() -> None:
    for c in (0, 23, 24, 255, 256, 70_000):
        whole = encode(["weighbridge/dice/v1", bytes(32), GAME, URI, CID, "ask", c])
        assert stream().block(c) == hashlib.sha256(whole).digest()


def test_blocks_are_read_on_end() -> None:
    first, second = bytes(range(32)), bytes(range(32, 64))
    dice = Scripted(first, second)
    dice.roll(10, 2**24)

    assert dice.die(2**24) == 1 + int.from_bytes(bytes([30, 31, 32]), "big")
    assert dice.blocks_read == 2


def test_a_byte_that_would_favour_a_face_is_skipped() -> None:
    dice = Scripted(bytes([251, 252, 253, 254, 255, 0, 5, 6]) + bytes(24))

    assert dice.roll(4, 6) == [6, 1, 6, 1]


@pytest.mark.parametrize(
    ("sides", "width"),
    [
        (2, 1),
        (6, 1),
        (256, 1),
        (257, 2),
        (65_536, 2),
        (65_537, 3),
        (2**32, 4),
        (2**56 + 1, 8),
        (MAX_SIDES, 8),
    ],
)
def test_a_die_takes_the_fewest_bytes_that_reach_its_sides(sides: int, width: int) -> None:
    dice = Scripted(bytes(32))
    dice.roll(32 // width, sides)
    assert dice.blocks_read == 1

    with pytest.raises(IndexError):
        dice.roll(1 + 32 % width, sides)


@given(st.binary(min_size=32, max_size=32), st.lists(st.integers(2, MAX_SIDES), max_size=30))
def test_the_dice_are_those_of_a_plain_reading_of_the_definition(randomness: bytes, sizes: list[int]) -> None:
    dice = stream(randomness=randomness)

    assert [dice.die(sides) for sides in sizes] == plainly(stream(randomness=randomness), sizes)


def plainly(dice: Stream, sizes: list[int]) -> list[int]:
    whole = b"".join(dice.block(c) for c in range(60))
    faces, at = [], 0
    for sides in sizes:
        width = next(w for w in range(1, 9) if 256**w >= sides)
        while True:
            value = int.from_bytes(whole[at : at + width], "big")
            at += width
            if value < sides * (256**width // sides):
                break
        faces.append(1 + value % sides)
    return faces


def test_two_asks_in_one_round_have_dice_of_their_own() -> None:
    rolls = [
        stream().roll(20, 6),
        stream(purpose="resist").roll(20, 6),
        stream(uri=URI + "2").roll(20, 6),
        stream(cid=Cid.of(b"\x80")).roll(20, 6),
        stream(randomness=b"\1" * 32).roll(20, 6),
        Stream(bytes(32), GAME + "2", URI, CID, "ask").roll(20, 6),
    ]

    assert all(rolls[i] != rolls[j] for i in range(6) for j in range(i))
    assert stream().roll(20, 6) == rolls[0]


def test_a_roll_takes_up_where_the_last_ended() -> None:
    dice = stream()

    assert [*dice.roll(3, 10), dice.die(10)] == stream().roll(4, 10)


def test_named_dice_are_drawn_in_the_order_of_their_names() -> None:
    first, second, third = stream().roll(3, 6)

    assert stream().named(["c", "a", "b"], 6) == {"a": first, "b": second, "c": third}


def test_a_shuffle_swaps_from_the_end_with_dice_of_n_down_to_2_sides() -> None:
    dice = Given([1, 1, 2])

    assert dice.shuffle(["a", "b", "c", "d"]) == ["c", "b", "d", "a"]


def test_each_order_has_one_path() -> None:
    orders = {
        tuple(Given([x, y, z]).shuffle("abcd")) for x in range(1, 5) for y in range(1, 4) for z in range(1, 3)
    }

    assert len(orders) == 24


@pytest.mark.parametrize("items", [[], ["a"]], ids=["none", "one"])
def test_a_shuffle_of_one_or_none_draws_nothing(items: list[str]) -> None:
    assert Given([]).shuffle(items) == items


def test_every_item_can_be_picked() -> None:
    assert [Given([face]).pick("abc") for face in (1, 2, 3)] == ["a", "b", "c"]
    assert Given([]).pick("a") == "a"


def test_a_weighted_pick_is_by_half_open_bands_and_a_weight_of_0_never_wins() -> None:
    bands = [("none", 0), ("a", 2), ("never", 0), ("b", 3), ("last", 0)]

    assert [Given([face]).weighted(bands) for face in range(1, 6)] == ["a", "a", "b", "b", "b"]
    assert Given([]).weighted([("none", 0), ("only", 1)]) == "only"


@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(lambda dice: dice.die(1), id="one side"),
        pytest.param(lambda dice: dice.die(0), id="no side"),
        pytest.param(lambda dice: dice.die(-6), id="negative sides"),
        pytest.param(lambda dice: dice.die(2**63), id="2^63 sides"),
        pytest.param(lambda dice: dice.die(True), id="true sides"),
        pytest.param(lambda dice: dice.roll(-1, 6), id="a negative number of dice"),
        pytest.param(lambda dice: dice.named(["a", "a"], 6), id="a name twice"),
        pytest.param(lambda dice: dice.pick([]), id="a pick of nothing"),
        pytest.param(lambda dice: dice.weighted([]), id="a weighted pick of nothing"),
        pytest.param(lambda dice: dice.weighted([("a", 0)]), id="no weight at all"),
        pytest.param(lambda dice: dice.weighted([("a", 5), ("b", -1)]), id="a negative weight"),
        pytest.param(lambda dice: dice.weighted([("a", 2**63)]), id="weights beyond a die"),
    ],
)
@pytest.mark.parametrize("dice", [stream(), Given([1])], ids=["drawn", "given"])
def test_dice_that_there_are_not_are_refused(dice: Dice, ask: Any) -> None:
    with pytest.raises(BadDice):
        ask(dice)


def test_given_dice_come_in_the_order_given_and_may_be_left_over() -> None:
    dice = Given([3, 6, 20, 1])

    assert [dice.roll(2, 6), dice.die(20)] == [[3, 6], 20]


def test_given_dice_that_run_out_are_refused_with_their_own_code() -> None:
    with pytest.raises(DiceRanOut):
        Given([3]).roll(2, 6)


@pytest.mark.parametrize("value", [0, 7, -1, True, "3", None])
def test_a_given_value_that_is_no_face_of_the_die_is_refused(value: Any) -> None:
    with pytest.raises(GivenOutOfRange):
        Given([value]).die(6)


def test_a_secret_roll_is_drawn_from_the_beacon_and_the_opened_seal() -> None:
    def opened(salt: bytes, value: Any) -> Opened:
        return Opened(uri="at://did:plc:a/x/1", author="did:plc:a", slot=("s",), salt=salt, value=value)

    drawn = [
        sealed_randomness(bytes(32), opened(bytes(16), {"seed": "00"})),
        sealed_randomness(b"\1" * 32, opened(bytes(16), {"seed": "00"})),
        sealed_randomness(bytes(32), opened(b"\1" * 16, {"seed": "00"})),
        sealed_randomness(bytes(32), opened(bytes(16), {"seed": "01"})),
    ]

    whole = encode(["weighbridge/dice-sealed/v1", bytes(32), bytes(16), {"seed": "00"}])
    assert drawn[0] == hashlib.sha256(whole).digest()
    assert all(a != b for a, b in pairwise(sorted(drawn)))
