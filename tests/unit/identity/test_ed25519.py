"""Ed25519: what a strict verifier accepts, and each edge at which it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weighbridge.identity import Signer, ed25519, verify
from weighbridge.identity.keys import BadSeed

VECTORS = Path(__file__).resolve().parents[2] / "vectors" / "identity"
EDGES: list[dict[str, Any]] = json.loads((VECTORS / "ed25519.json").read_text())
RFC8032: list[dict[str, str]] = json.loads((VECTORS / "rfc8032.json").read_text())
SEEDS = st.binary(min_size=32, max_size=32)


@pytest.mark.parametrize("case", RFC8032, ids=[case["name"] for case in RFC8032])
def test_a_signature_is_that_of_rfc_8032(case):
    signer = Signer(bytes.fromhex(case["seed"]))
    message, signature = bytes.fromhex(case["message"]), bytes.fromhex(case["signature"])
    assert signer.public.hex() == case["public"]
    assert signer.sign(message) == signature
    assert verify(signer.public, message, signature)


@pytest.mark.parametrize("case", EDGES, ids=[case["name"] for case in EDGES])
def test_an_edge_of_the_curve_is_judged_as_a_strict_verifier_judges_it(case):
    public, message, signature = (bytes.fromhex(case[name]) for name in ("public", "message", "signature"))
    assert verify(public, message, signature) is case["valid"]


def test_the_vectors_hold_all_fourteen_encodings_of_points_of_small_order():
    keys = {
        case["public"] for case in EDGES if case["name"].startswith("small-A-") and "-R-" not in case["name"]
    }
    assert len(keys) == 14
    assert not any(ed25519.is_sound_point(bytes.fromhex(key)) for key in keys)


@pytest.mark.parametrize(
    ("public", "signature"),
    [
        pytest.param(31, 64, id="short-key"),
        pytest.param(33, 64, id="long-key"),
        pytest.param(0, 64, id="no-key"),
        pytest.param(32, 63, id="short-signature"),
        pytest.param(32, 65, id="long-signature"),
        pytest.param(32, 0, id="no-signature"),
    ],
)
def test_another_length_is_refused(public, signature):
    signer = Signer(bytes(32))
    key = (signer.public + b"\1")[:public]
    assert not verify(key, b"m", (signer.sign(b"m") + b"\0")[:signature])


@pytest.mark.parametrize("length", [0, 31, 33, 64])
def test_a_seed_of_another_length_than_32_is_refused(length):
    with pytest.raises(BadSeed) as refused:
        Signer(bytes(length))
    assert refused.value.code == "bad-seed"


def test_a_signer_shows_its_did_and_never_its_seed():
    signer = Signer(bytes(range(32)))
    assert signer.did in repr(signer)
    assert bytes(range(32)).hex() not in repr(signer)
    assert not hasattr(signer, "__dict__")


@given(SEEDS, st.binary(max_size=64))
def test_what_a_signer_signs_verifies(seed, message):
    signer = Signer(seed)
    assert verify(signer.public, message, signer.sign(message))


@given(SEEDS, st.binary(max_size=32), st.integers(0, 511))
def test_a_flipped_bit_of_a_signature_is_refused(seed, message, bit):
    signer = Signer(seed)
    signature = bytearray(signer.sign(message))
    signature[bit // 8] ^= 1 << bit % 8
    assert not verify(signer.public, message, bytes(signature))
