from __future__ import annotations

from typing import Any

import pytest
from weighbridge.seals import BadSalt, BadSeal, ShortSalt, parse_salt, parse_seal, seal_hash

GAME, AUTHOR = "at://did:plc:g/world.delta.root/r", "did:plc:a"
SLOT = ["assign", "at://did:plc:a/world.delta.move/d"]
VALUE: Any = [{"card": "c", "rule": "Jab", "dice": [1]}]
SALT = bytes(range(16))


def test_the_check_value_of_the_specification_comes_out() -> None:
    seal = seal_hash(GAME, AUTHOR, SLOT, SALT, VALUE)

    assert seal == "9cf4d27a338df6123968f039f11b9ba2e71d143fee5d98d30164805f9df63e80"
    assert parse_seal(seal) == seal


def test_a_seal_is_of_one_game_author_slot_salt_and_value() -> None:
    seals = {
        seal_hash(GAME, AUTHOR, SLOT, SALT, VALUE),
        seal_hash(GAME + "2", AUTHOR, SLOT, SALT, VALUE),
        seal_hash(GAME, AUTHOR + "2", SLOT, SALT, VALUE),
        seal_hash(GAME, AUTHOR, ["assign"], SALT, VALUE),
        seal_hash(GAME, AUTHOR, SLOT, SALT + b"\0", VALUE),
        seal_hash(GAME, AUTHOR, SLOT, SALT, []),
    }

    assert len(seals) == 6


@pytest.mark.parametrize(
    "text", ["", "ab" * 31, "ab" * 33, "AB" * 32, "0x" + "ab" * 31, "ab" * 32 + "\n", None, 7]
)
def test_a_seal_that_is_not_64_lower_case_hex_digits_is_refused(text: object) -> None:
    with pytest.raises(BadSeal):
        parse_seal(text)


@pytest.mark.parametrize("salt", [bytes(16), bytes(1000)], ids=["16 bytes", "1000 bytes"])
def test_a_salt_of_16_bytes_or_more_is_read(salt: bytes) -> None:
    assert parse_salt(salt.hex()) == salt


@pytest.mark.parametrize("text", ["a" * 33, "AB" * 16, "zz" * 16, "ab" * 16 + "\n", None, b"ab" * 16])
def test_a_salt_that_is_no_hex_of_whole_bytes_is_refused(text: object) -> None:
    with pytest.raises(BadSalt):
        parse_salt(text)


@pytest.mark.parametrize("text", ["", "ab" * 15])
def test_a_salt_under_16_bytes_is_refused_with_its_own_code(text: str) -> None:
    with pytest.raises(ShortSalt):
        parse_salt(text)
