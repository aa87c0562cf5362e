from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from weighbridge import bls
from weighbridge.beacon import (
    BadChainKey,
    BadSignatureLength,
    BadSignatureText,
    NotAPoint,
    PointAtInfinity,
    RoundOutOfRange,
    UnknownScheme,
    WrongSignature,
    WrongSubgroup,
    message_of,
    parse_signature,
    verify,
    verify_many,
)
from weighbridge.chain import QUICKNET, Chain
from weighbridge.errors import Refused

FOLDER = Path(__file__).parents[2] / "vectors" / "drand"
BEACONS = json.loads((FOLDER / "quicknet_beacons.json").read_text())
NEGATIVES = json.loads((FOLDER / "negatives.json").read_text())
REAL = [(beacon["round"], bytes.fromhex(beacon["signature"])) for beacon in BEACONS]

CODES: dict[str, set[str]] = {
    "wrong_chain": {"signature-wrong"},
    "wrong_round": {"signature-wrong", "round-out-of-range"},
    "wrong_key": {"signature-wrong"},
    "wrong_point": {"signature-wrong"},
    "negated": {"signature-wrong"},
    "length": {"signature-length"},
    "bit_flip": {"signature-not-a-point", "signature-subgroup"},
    "not_on_curve": {"signature-not-a-point"},
    "field_overflow": {"signature-not-a-point"},
    "field_boundary": {"signature-not-a-point"},
    "flags": {"signature-not-a-point"},
    "not_in_subgroup": {"signature-subgroup"},
    "infinity": {"signature-infinity"},
}


def name(case: dict[str, Any]) -> str:
    return f"{case['category']}: {case['reason']} ({case['round']})"


def code_of(round: int, signature: bytes, chain: Chain = QUICKNET) -> str:
    with pytest.raises(Refused) as refusal:
        verify(chain, round, signature)
    return refusal.value.code


def test_every_real_beacon_verifies_to_its_randomness() -> None:
    assert len(BEACONS) == 315
    for beacon in BEACONS:
        randomness = verify(QUICKNET, beacon["round"], parse_signature(beacon["signature"]))
        assert randomness.hex() == beacon["randomness"]


@pytest.mark.parametrize("case", NEGATIVES["signature_cases"], ids=name)
def test_a_false_signature_is_refused_by_its_reason(case: dict[str, Any]) -> None:
    assert code_of(case["round"], bytes.fromhex(case["signature"])) in CODES[case["category"]]


def test_every_category_of_false_signatures_is_met() -> None:
    assert {case["category"] for case in NEGATIVES["signature_cases"]} == set(CODES)


@pytest.mark.parametrize("case", NEGATIVES["dst_cases"], ids=lambda case: case["reason"])
def test_a_real_signature_is_false_under_another_domain_tag(case: dict[str, Any]) -> None:
    hash_to_group = type(bls.hash_to_g1(b"")).hash_to_group  # type: ignore[attr-defined]
    hashed = hash_to_group(message_of(case["round"]), case["dst"].encode())
    point = bls.read_g1(bytes.fromhex(case["signature"]))

    assert case["dst"].encode() != bls.DST
    assert not bls.signed(point, hashed, bls.read_g2(QUICKNET.public_key))


FASTNET = [case for case in NEGATIVES["signature_cases"] if "FASTNET" in case["reason"]]
G2_DST = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_"


@pytest.mark.parametrize("case", FASTNET, ids=lambda case: str(case["round"]))
def test_a_beacon_valid_under_the_old_fastnet_scheme_is_refused_even_with_its_own_key(
    case: dict[str, Any],
) -> None:
    key = bytes.fromhex(case["valid_under_public_key"])
    signature = bytes.fromhex(case["signature"])
    hash_to_group = type(bls.hash_to_g1(b"")).hash_to_group  # type: ignore[attr-defined]
    by_its_scheme = hash_to_group(message_of(case["round"]), G2_DST)

    assert bls.signed(bls.read_g1(signature), by_its_scheme, bls.read_g2(key))
    assert code_of(case["round"], signature) == WrongSignature.code
    assert code_of(case["round"], signature, Chain("db" * 32, key, 3, 0)) == WrongSignature.code


OTHER_RFC = [
    case
    for case in NEGATIVES["signature_cases"]
    if case["category"] == "wrong_chain" and "rfc9380" in case["reason"]
]


@pytest.mark.parametrize("case", OTHER_RFC, ids=name)
def test_a_beacon_of_another_chain_of_the_same_scheme_verifies_under_that_chain_alone(
    case: dict[str, Any],
) -> None:
    other = Chain("af" * 32, bytes.fromhex(case["valid_under_public_key"]), 3, 0)

    assert len(verify(other, case["round"], bytes.fromhex(case["signature"]))) == 32


@pytest.mark.parametrize("scheme", ["bls-unchained-on-g1", "pedersen-bls-chained", ""])
def test_a_chain_of_another_scheme_is_refused_by_name(scheme: str) -> None:
    other = msgspec.structs.replace(QUICKNET, scheme=scheme)

    with pytest.raises(UnknownScheme, match=repr(scheme)):
        verify(other, *REAL[0])
    with pytest.raises(UnknownScheme):
        verify_many(other, REAL[:2])


@pytest.mark.parametrize(
    "key",
    [b"", bytes(96), b"\xc0" + bytes(95), QUICKNET.public_key[:95]],
    ids=["empty", "zeros", "infinity", "short"],
)
def test_a_chain_whose_key_is_no_point_is_refused(key: bytes) -> None:
    with pytest.raises(BadChainKey):
        verify(msgspec.structs.replace(QUICKNET, public_key=key), *REAL[0])


@pytest.mark.parametrize("round", [0, -1, 2**64, True, "1"])
def test_a_round_that_cannot_be_is_refused(round: Any) -> None:
    assert code_of(round, REAL[0][1]) == RoundOutOfRange.code


GOOD = REAL[0][1].hex()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(GOOD.upper(), id="upper case"),
        pytest.param("0x" + GOOD, id="0x in front"),
        pytest.param("0x" + GOOD[2:], id="0x in front and 96 characters"),
        pytest.param(GOOD[:-1], id="an odd length"),
        pytest.param(GOOD[:-2], id="47 bytes"),
        pytest.param(GOOD + "00", id="49 bytes"),
        pytest.param("", id="empty"),
        pytest.param(" " + GOOD, id="a space in front"),
        pytest.param(GOOD + "\n", id="a line end behind"),
        pytest.param("g" + GOOD[1:], id="no hex digit"),
        pytest.param("٣" + GOOD[1:], id="a digit of another script"),
        pytest.param(None, id="nothing"),
        pytest.param(b"00" * 48, id="bytes"),
    ],
)
def test_a_signature_in_text_is_96_lower_case_hex_digits_and_nothing_else(text: Any) -> None:
    with pytest.raises(BadSignatureText):
        parse_signature(text)


@given(st.binary(max_size=100))
def test_any_other_bytes_are_refused_and_raise_nothing_else(data: bytes) -> None:
    assert code_of(1000, data) in {
        BadSignatureLength.code,
        NotAPoint.code,
        PointAtInfinity.code,
        WrongSubgroup.code,
        WrongSignature.code,
    }


def test_a_batch_gives_each_beacon_what_it_gives_alone() -> None:
    results = verify_many(QUICKNET, REAL)

    assert results == [bytes.fromhex(beacon["randomness"]) for beacon in BEACONS]


def test_an_empty_batch_is_empty() -> None:
    assert verify_many(QUICKNET, []) == []


def test_a_batch_finds_every_false_one_and_says_why() -> None:
    false = [(case["round"], bytes.fromhex(case["signature"])) for case in NEGATIVES["signature_cases"]]
    mixed = [pair for both in zip(REAL, false, strict=False) for pair in both]
    results = verify_many(QUICKNET, mixed)

    for (round, signature), result in zip(mixed, results, strict=True):
        if isinstance(result, bytes):
            assert result == verify(QUICKNET, round, signature)
        else:
            assert result.code == code_of(round, signature)
    assert sum(isinstance(result, Refused) for result in results) == len(false)


@pytest.mark.parametrize("place", [0, 1, 7, 15])
def test_a_batch_finds_the_one_false_beacon_wherever_it_stands(place: int) -> None:
    batch = list(REAL[:16])
    batch[place] = (batch[place][0], REAL[20][1])
    results = verify_many(QUICKNET, batch)

    assert [i for i, result in enumerate(results) if isinstance(result, Refused)] == [place]


def test_two_false_signatures_that_cancel_out_in_a_plain_sum_are_both_found() -> None:
    (round_a, a), (round_b, b) = REAL[0], REAL[1]
    shift = bls.hash_to_g1(b"anything")
    false_a = (bls.read_g1(a) + shift).compress()
    false_b = (bls.read_g1(b) + -shift).compress()
    results = verify_many(QUICKNET, [(round_a, false_a), (round_b, false_b), *REAL[2:6]])

    assert [isinstance(result, WrongSignature) for result in results] == [
        True,
        True,
        False,
        False,
        False,
        False,
    ]


def test_swapped_signatures_are_both_found() -> None:
    swapped = [(REAL[0][0], REAL[1][1]), (REAL[1][0], REAL[0][1]), REAL[2]]

    assert [isinstance(result, bytes) for result in verify_many(QUICKNET, swapped)] == [False, False, True]


def test_one_beacon_twice_in_a_batch_is_right_both_times() -> None:
    assert len(set(verify_many(QUICKNET, [REAL[3]] * 5))) == 1  # type: ignore[arg-type]


@given(st.lists(st.integers(1, 2**128 - 1), min_size=1, max_size=40))
def test_the_sum_by_buckets_is_the_sum_of_the_products(scalars: list[int]) -> None:
    points = [bls.hash_to_g1(bytes([i])) for i in range(len(scalars))]
    products = [point.scalar_mul(scalar) for point, scalar in zip(points, scalars, strict=True)]
    plain = products[0]
    for product in products[1:]:
        plain += product

    assert bls.combine(points, scalars, 128).compress() == plain.compress()
