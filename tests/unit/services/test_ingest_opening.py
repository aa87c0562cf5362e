"""From what was handed in to a record, or to a coded answer: no input makes a lister fail."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingest_facts import GAME, GM, note, player, root
from weighbridge import codec
from weighbridge.identity import Signer, encode_envelope, sign_record
from weighbridge.limits import MAX_ENVELOPE, MAX_RECORD
from weighbridge_services.ingest import opening
from weighbridge_services.ingest.opening import Opened, Refusal, claim_of, read_record
from weighbridge_services.ingest.verifying import Claim, holds, packed, serve

ANN = player(1)
OTHER = f"at://{ANN.did}/example.coin.root/two"


def of_another_game() -> bytes:
    return encode_envelope(
        sign_record(ANN, OTHER, "example.coin.note", "a", {"game": OTHER, "text": "hello"})
    )


def without_game() -> bytes:
    value = {**codec.decode(encode_envelope(note(ANN, "a"))), "value": {"text": "hello"}}  # type: ignore[dict-item]
    return codec.encode(value)


def too_large() -> bytes:
    value = {
        **codec.decode(encode_envelope(note(ANN, "a"))),
        "value": {"game": GAME, "text": "x" * MAX_RECORD},
    }  # type: ignore[dict-item]
    return codec.encode(value)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "truncated"),
        (b"\x07", "bad-envelope"),
        (bytes(MAX_ENVELOPE + 1), "envelope-too-large"),
        (of_another_game(), "other-game"),
        (without_game(), "no-game"),
        (too_large(), "record-too-large"),
    ],
    ids=["nothing", "a number", "too much", "another game", "no game", "a large record"],
)
def test_what_cannot_be_attributed_or_encoded_is_refused_with_its_code(data: bytes, code: str) -> None:
    found = read_record(data, GAME)
    assert isinstance(found, Refusal)
    assert found.code == code


@given(st.binary(max_size=300))
def test_any_bytes_get_an_answer(data: bytes) -> None:
    assert isinstance(read_record(data, GAME), Opened | Refusal)


def test_a_fault_of_our_own_refuses_the_record_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(data: bytes) -> None:
        raise RecursionError

    monkeypatch.setattr(opening, "decode_envelope", fails)
    found = read_record(encode_envelope(note(ANN, "a")), GAME)
    assert isinstance(found, Refusal)
    assert found.code == "unreadable"


def test_the_root_is_of_its_own_game() -> None:
    assert isinstance(read_record(encode_envelope(root()), GAME), Opened)


# --- signatures --------------------------------------------------------------------------------------------


def claims(signer: Signer = GM) -> list[Claim]:
    found = read_record(encode_envelope(note(signer, "a")), GAME)
    assert isinstance(found, Opened)
    good = claim_of(found)
    return [good, good._replace(signature=bytes(64)), good._replace(message=good.message + b"x"), good]


def test_the_helper_answers_each_claim_in_order() -> None:
    target = io.BytesIO()
    serve(io.BytesIO(packed(claims()) + packed([]) + packed(claims()[:1])), target)
    assert target.getvalue() == b"\x01\x00\x00\x01" + b"\x01"
    assert [holds(each) for each in claims()] == [True, False, False, True]


def test_the_helper_ends_when_its_input_ends() -> None:
    target = io.BytesIO()
    serve(io.BytesIO(b"\x00"), target)
    assert target.getvalue() == b""
