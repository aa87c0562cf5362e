"""Keys of repositories, held to AT Protocol's signature files and to both curves."""

from __future__ import annotations

import base64
import json

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from repo_making import CURVES, Key
from weighbridge.repos import K256, P256, RepoPublicKey, parse_did_key, parse_document_key
from weighbridge.repos.errors import RepoKey, RepoRefused
from weighbridge.repos.keys import to_base58

LEGACY = {K256: "EcdsaSecp256k1VerificationKey2019", P256: "EcdsaSecp256r1VerificationKey2019"}


def from_base58(text: str) -> int:
    number = 0
    for letter in text:
        number = number * 58 + "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz".index(letter)
    return number


def crypto(vectors, name):
    return json.loads((vectors / "atproto/interop/crypto" / name).read_text())


def test_every_signature_fixture_holds_or_not_as_it_says(vectors):
    cases = crypto(vectors, "signature-fixtures.json")
    assert len(cases) == 6
    for case in cases:
        message, signature = (
            base64.b64decode(case[name] + "==") for name in ("messageBase64", "signatureBase64")
        )
        key = parse_did_key(case["publicKeyDid"])
        assert parse_document_key(case["didDocSuite"], case["publicKeyMultibase"]) == key
        if case["validSignature"]:
            key.verify(message, signature)
            continue
        with pytest.raises(RepoRefused) as refused:
            key.verify(message, signature)
        wanted = "commit-high-s" if "high-s" in case["tags"] else "commit-signature-form"
        assert refused.value.code == wanted, case["comment"]


@pytest.mark.parametrize(
    ("name", "curve", "count"), [("w3c_didkey_K256.json", K256, 5), ("w3c_didkey_P256.json", P256, 1)]
)
def test_every_did_key_of_the_vectors_is_that_of_its_private_key(vectors, name, curve, count):
    cases = crypto(vectors, name)
    assert len(cases) == count
    for case in cases:
        hexed = case.get("privateKeyBytesHex")
        number = int(hexed, 16) if hexed else from_base58(case["privateKeyBytesBase58"])
        assert parse_did_key(case["publicDidKey"]) == Key(curve, number).public
        assert Key(curve, number).public.did_key == case["publicDidKey"]


@pytest.mark.parametrize("curve", CURVES)
def test_a_key_is_the_same_in_every_form_documents_have(curve):
    key = Key(curve)
    assert parse_document_key("Multikey", key.public.did_key.removeprefix("did:key:")) == key.public
    for point in (key.point, key.long_point):
        assert parse_document_key(LEGACY[curve], "z" + to_base58(point)) == key.public
    assert hash(key.public) == hash(RepoPublicKey(curve, key.long_point))
    assert key.public != Key(curve, 8).public
    assert key.public.did_key in repr(key.public)


@pytest.mark.parametrize("curve", CURVES)
def test_a_signature_holds_for_its_key_and_message_only(curve):
    key = Key(curve)
    signature = key.sign(b"a move")
    key.public.verify(b"a move", signature)
    other = P256 if curve == K256 else K256
    refusals = {
        "commit-signature": [
            (key.public, b"another", signature),
            (Key(curve, 8).public, b"a move", signature),
        ],
        "commit-high-s": [(key.public, b"a move", key.sign(b"a move", high=True))],
        "commit-signature-form": [
            (key.public, b"a move", signature[:63]),
            (key.public, b"a move", signature + b"\0"),
            (key.public, b"a move", bytes(64)),
            (key.public, b"a move", b"\xff" * 64),
        ],
    }
    for code, cases in refusals.items():
        for public, message, given in cases:
            with pytest.raises(RepoRefused) as refused:
                public.verify(message, given)
            assert refused.value.code == code
    with pytest.raises(RepoRefused):
        Key(other).public.verify(b"a move", signature)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        pytest.param(None, "did:key:", id="empty"),
        pytest.param(None, "did:web:a.b", id="another-method"),
        pytest.param(None, "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK", id="ed25519"),
        pytest.param(None, "did:key:z0OIl", id="no-base58"),
        pytest.param(None, "did:key:z" + "1" * 200, id="too-long"),
        pytest.param(None, "did:key:z" + to_base58(b"\xe7\x01\x02" + b"\xff" * 32), id="not-on-the-curve"),
        pytest.param(None, "did:key:z" + to_base58(b"\xe7\x01" + Key().long_point), id="long-in-a-did-key"),
        pytest.param("Multikey", "z" + to_base58(Key().long_point), id="bare-point-as-multikey"),
        pytest.param("Ed25519VerificationKey2020", "z" + to_base58(Key().point), id="another-suite"),
        pytest.param(LEGACY[K256], "z" + to_base58(Key().point[:32]), id="short-point"),
        pytest.param(LEGACY[K256], "z" + to_base58(Key(P256).long_point), id="point-of-the-other-curve"),
        pytest.param(LEGACY[K256], "m" + base64.b64encode(Key().point).decode(), id="another-multibase"),
    ],
)
def test_what_is_no_key_of_a_repository_is_refused(kind, text):
    with pytest.raises(RepoKey) as refused:
        parse_did_key(text) if kind is None else parse_document_key(kind, text)
    assert refused.value.code == "repo-key"


def test_both_curves_are_at_hand():
    assert all(isinstance(curve, ec.EllipticCurve) for curve in CURVES.values())
