"""did:key: one text for each Ed25519 key, and a code for each other text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weighbridge.errors import Refused
from weighbridge.identity import Signer, did_key, is_did_key, public_key

VECTORS = Path(__file__).resolve().parents[2] / "vectors" / "identity"
PUBLISHED = json.loads((VECTORS / "did-key.json").read_text())
DID = "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp"
ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def base58(data):
    number, text = int.from_bytes(data, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = ALPHABET[digit] + text
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + text


@pytest.mark.parametrize("case", PUBLISHED, ids=[case["seed"][-2:] for case in PUBLISHED])
def test_a_key_has_the_published_did(case):
    signer = Signer(bytes.fromhex(case["seed"]))
    assert signer.did == case["did"]
    assert public_key(case["did"]) == signer.public


@given(st.binary(min_size=32, max_size=32))
def test_a_did_key_goes_both_ways(seed):
    public = Signer(seed).public
    assert public_key(did_key(public)) == public
    assert is_did_key(did_key(public))


@pytest.mark.parametrize(
    ("did", "code"),
    [
        pytest.param("did:plc:z72i7hdynmk6r22z27h6tvur", "not-did-key", id="another-method"),
        pytest.param("", "not-did-key", id="empty"),
        pytest.param("did:key:", "not-did-key", id="no-key"),
        pytest.param("DID:KEY:" + DID[8:], "not-did-key", id="upper-case"),
        pytest.param("did:key:f" + "ed01" + "11" * 32, "not-did-key", id="base16"),
        pytest.param(" " + DID, "not-did-key", id="leading-space"),
        pytest.param("did:key:z", "did-key-encoding", id="nothing-after-z"),
        pytest.param(DID + " ", "did-key-encoding", id="trailing-space"),
        pytest.param(DID + "\n", "did-key-encoding", id="trailing-newline"),
        pytest.param(DID[:-1] + "0", "did-key-encoding", id="zero-is-no-base58"),
        pytest.param(DID[:-1] + "l", "did-key-encoding", id="l-is-no-base58"),
        pytest.param(DID[:-1] + "１", "did-key-encoding", id="wide-digit"),
        pytest.param(DID + "#z6Mk", "did-key-encoding", id="fragment"),
        pytest.param("did:key:z" + "6" * 129, "did-key-encoding", id="endless"),
        pytest.param("did:key:z1" + DID[9:], "did-key-codec", id="leading-zero-byte"),
        pytest.param(
            "did:key:zQ3shZc2QzApp2oymGvQbzP8eKheVshBHbU4ZYjeXqwSKEn6N", "did-key-codec", id="secp256k1"
        ),
        pytest.param("did:key:zDnaembgSGUhZULN2Caob4HLJPaxBh92N7rtH21TErzqf8HQo", "did-key-codec", id="p256"),
        pytest.param(
            "did:key:z6LSbysY2xFMRpGMhb7tFTLMpeuPRaqaWM1yECx2AtzE3KCc", "did-key-codec", id="x25519"
        ),
        pytest.param("did:key:z" + base58(b"\xed\x81\x00" + b"\x11" * 32), "did-key-codec", id="long-varint"),
        pytest.param(DID[:-1], "did-key-codec", id="a-character-short"),
        pytest.param("did:key:z" + base58(b"\xed\x01" + b"\x11" * 31), "weak-key", id="31-bytes"),
        pytest.param("did:key:z" + base58(b"\xed\x01" + b"\x11" * 33), "weak-key", id="33-bytes"),
        pytest.param("did:key:z" + base58(b"\xed\x01" + b"\x01" + bytes(31)), "weak-key", id="order-1"),
        pytest.param("did:key:z" + base58(b"\xed\x01" + b"\xff" * 32), "weak-key", id="y-over-p"),
    ],
)
def test_another_text_is_refused(did, code):
    with pytest.raises(Refused) as refused:
        public_key(did)
    assert refused.value.code == code
    assert not is_did_key(did)


@pytest.mark.parametrize("public", [b"", bytes(31), bytes(33), bytes(32), b"\xff" * 32], ids=len)
def test_no_did_is_made_of_what_is_no_sound_key(public):
    with pytest.raises(Refused) as refused:
        did_key(public)
    assert refused.value.code == "weak-key"


@given(st.text(max_size=60))
def test_any_text_is_refused_with_a_code_or_is_the_did_of_its_key(tail):
    did = "did:key:z" + tail
    try:
        assert did_key(public_key(did)) == did
    except Refused as refused:
        code = refused.code
    else:
        return
    assert code in {"did-key-encoding", "did-key-codec", "weak-key"}
