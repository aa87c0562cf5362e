"""Envelopes: signed records go both ways, and each way to spoil one has its own code."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.errors import Refused
from weighbridge.identity import (
    Signer,
    decode_envelope,
    ed25519,
    encode_envelope,
    envelope_from_json,
    envelope_to_json,
    open_envelope,
    sign_record,
    verify_envelope,
)
from weighbridge.identity.envelope import DOMAIN, signed_bytes

VECTORS = Path(__file__).resolve().parents[2] / "vectors" / "identity"
PUBLISHED = json.loads((VECTORS / "envelopes.json").read_text())
GM, ADA = Signer(b"g" * 32), Signer(b"a" * 32)
GAME = f"at://{GM.did}/town.delve.root/self"
MOVE = {"game": GAME, "kind": "say", "n": [1, {"deep": b"\0"}]}
ENVELOPE = sign_record(ADA, GAME, "town.delve.move", "3jzfcijpj2z2a", MOVE)
FIELDS = codec.decode(encode_envelope(ENVELOPE))


def signed(**changes):
    """A map like an envelope's, with changed fields (None: left out), signed by Ada as it then is."""
    fields = {name: value for name, value in ({**FIELDS, **changes}).items() if value is not None}
    fields.pop("sig", None)
    return codec.encode({**fields, "sig": ADA.sign(DOMAIN + codec.encode(fields))})


@pytest.mark.parametrize("case", PUBLISHED, ids=[case["name"] for case in PUBLISHED])
def test_an_envelope_is_that_of_the_vectors(case):
    envelope = open_envelope(bytes.fromhex(case["envelope"]))
    signer = Signer(bytes.fromhex(case["seed"]))
    again = sign_record(signer, case["game"], case["collection"], case["rkey"], envelope.value)
    assert again == envelope
    assert encode_envelope(again).hex() == case["envelope"]
    assert (envelope.author, envelope.uri, str(envelope.cid)) == (case["author"], case["uri"], case["cid"])
    assert envelope.record.hex() == case["record"]
    assert signed_bytes(envelope).hex() == case["signed"]
    assert ed25519.verify(signer.public, bytes.fromhex(case["signed"]), envelope.sig)
    assert envelope.is_root is (case["name"] == "root")


def test_the_signed_bytes_are_the_domain_and_the_rest_and_no_text():
    unsigned = {name: value for name, value in FIELDS.items() if name != "sig"}
    assert signed_bytes(ENVELOPE) == b"weighbridge/record/v1" + codec.encode(unsigned)
    with pytest.raises(UnicodeDecodeError):
        signed_bytes(ENVELOPE).decode()


def test_the_cid_is_over_the_value_alone_and_the_uri_tells_copies_apart():
    copied = sign_record(GM, GAME, "town.delve.move", "3jzfcijpj2z2a", MOVE)
    assert copied.cid == ENVELOPE.cid == Cid.of(codec.encode(MOVE))
    assert copied.uri != ENVELOPE.uri


def test_a_root_is_named_by_itself_and_names_no_game():
    root = sign_record(GM, None, "town.delve.root", "self", {"gm": GM.did})
    assert root.game == root.uri == GAME
    assert root.is_root
    assert open_envelope(encode_envelope(root)) == root
    assert not ENVELOPE.is_root


def test_the_root_of_a_new_gm_names_the_game_that_it_succeeds():
    root = sign_record(ADA, GAME, "town.delve.root", "self", {"gm": ADA.did, "succeeds": GAME})
    assert open_envelope(encode_envelope(root)) == root
    assert not root.is_root


def test_an_envelope_goes_through_a_file_of_json():
    text = json.dumps(envelope_to_json(ENVELOPE))
    again = envelope_from_json(json.loads(text))
    verify_envelope(again)
    assert again == ENVELOPE


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        pytest.param({"v": None}, "bad-envelope", id="no-version"),
        pytest.param({"v": True}, "bad-envelope", id="true-for-a-version"),
        pytest.param({"v": "1"}, "bad-envelope", id="text-for-a-version"),
        pytest.param({"v": 2}, "unknown-envelope-version", id="version-2"),
        pytest.param({"v": 0}, "unknown-envelope-version", id="version-0"),
        pytest.param({"extra": 1}, "bad-envelope", id="unknown-field"),
        *(
            pytest.param({name: None}, "bad-envelope", id=f"no-{name}")
            for name in ("author", "game", "collection")
        ),
        *(pytest.param({name: None}, "bad-envelope", id=f"no-{name}") for name in ("rkey", "value")),
        *(
            pytest.param({name: 7}, "bad-envelope", id=f"{name}-no-text")
            for name in ("author", "game", "collection", "rkey")
        ),
        pytest.param({"value": []}, "value-not-map", id="a-list-for-a-value"),
        pytest.param({"value": "x"}, "value-not-map", id="a-text-for-a-value"),
        pytest.param({"value": Cid.of(b"")}, "value-not-map", id="a-link-for-a-value"),
        pytest.param(
            {"author": "did:plc:z72i7hdynmk6r22z27h6tvur"}, "bad-author", id="author-of-another-method"
        ),
        pytest.param({"author": ADA.did + "1"}, "bad-author", id="author-a-character-long"),
        pytest.param(
            {"author": "did:key:zQ3shZc2QzApp2oymGvQbzP8eKheVshBHbU4ZYjeXqwSKEn6N"},
            "bad-author",
            id="author-secp256k1",
        ),
        pytest.param({"author": GM.did}, "bad-signature", id="another-author"),
        pytest.param({"collection": "delve"}, "bad-collection", id="collection-no-nsid"),
        pytest.param({"collection": "town.delve.move/x"}, "bad-collection", id="slash-in-the-collection"),
        pytest.param({"rkey": ".."}, "bad-rkey", id="dots-for-an-rkey"),
        pytest.param({"rkey": "a/b"}, "bad-rkey", id="slash-in-the-rkey"),
        pytest.param({"rkey": ""}, "bad-rkey", id="empty-rkey"),
        pytest.param({"rkey": "o" * 513}, "bad-rkey", id="long-rkey"),
        pytest.param({"game": "delvetown"}, "bad-game", id="game-no-uri"),
        pytest.param({"game": f"at://{GM.did}"}, "bad-game", id="a-repo-for-a-game"),
        pytest.param({"game": "at://gm.delve.town/town.delve.root/self"}, "bad-game", id="game-by-handle"),
        pytest.param({"game": GAME + "2"}, "other-game", id="envelope-of-another-game"),
        pytest.param({"value": {"kind": "say"}}, "no-game", id="record-without-a-game"),
        pytest.param({"value": {"game": GAME + "2"}}, "other-game", id="record-of-another-game"),
        pytest.param({"value": {"game": None}}, "other-game", id="null-for-a-game"),
        pytest.param({"value": {"game": [GAME]}}, "other-game", id="a-list-for-a-game"),
        pytest.param({"value": {"succeeds": GAME + "2"}}, "no-game", id="root-that-succeeds-another"),
        pytest.param(
            {"value": {"game": GAME, "x": b"x" * 262_144}}, "record-too-large", id="record-over-256-KiB"
        ),
        pytest.param(
            {"value": {"game": GAME, "x": b"x" * 300_000}}, "envelope-too-large", id="envelope-too-large"
        ),
    ],
)
def test_an_envelope_that_its_author_signed_wrong_is_refused(changes, code):
    with pytest.raises(Refused) as refused:
        open_envelope(signed(**changes))
    assert refused.value.code == code


def test_a_root_that_names_another_game_is_refused():
    with pytest.raises(Refused) as refused:
        sign_record(GM, None, "town.delve.root", "self", {"gm": GM.did, "game": GAME + "2"})
    assert refused.value.code == "other-game"


@pytest.mark.parametrize(
    ("sig", "code"),
    [
        pytest.param(None, "bad-envelope", id="none"),
        pytest.param("x" * 64, "bad-envelope", id="text"),
        pytest.param(b"", "bad-envelope", id="empty"),
        pytest.param(ENVELOPE.sig[:63], "bad-envelope", id="63-bytes"),
        pytest.param(ENVELOPE.sig + b"\0", "bad-envelope", id="65-bytes"),
        pytest.param(bytes(64), "bad-signature", id="zeros"),
        pytest.param(
            ENVELOPE.sig[:32]
            + (int.from_bytes(ENVELOPE.sig[32:], "little") + ed25519._L).to_bytes(32, "little"),
            "bad-signature",
            id="s-plus-l",
        ),
        pytest.param(ADA.sign(codec.encode(MOVE)), "bad-signature", id="over-the-value-alone"),
        pytest.param(
            ADA.sign(signed_bytes(ENVELOPE)[len(DOMAIN) :]), "bad-signature", id="without-the-domain"
        ),
        pytest.param(GM.sign(signed_bytes(ENVELOPE)), "bad-signature", id="of-another-key"),
    ],
)
def test_a_signature_that_is_not_the_authors_is_refused(sig, code):
    fields = {name: value for name, value in {**FIELDS, "sig": sig}.items() if value is not None}
    with pytest.raises(Refused) as refused:
        open_envelope(codec.encode(fields))
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("data", "code"),
    [
        pytest.param(b"", "truncated", id="nothing"),
        pytest.param(encode_envelope(ENVELOPE) + b"\0", "trailing-bytes", id="a-byte-more"),
        pytest.param(encode_envelope(ENVELOPE)[:-1], "truncated", id="a-byte-less"),
        pytest.param(b"\xbf\xff", "indefinite-length", id="indefinite"),
        pytest.param(b"\xa2\x61v\x01\x61v\x01", "duplicate-key", id="key-twice"),
        pytest.param(b"\xa1\x61v\xf9\x3c\x00", "float", id="float"),
        pytest.param(b"\xa1\x61v\x18\x01", "not-minimal", id="long-integer"),
        pytest.param(b"\xa0", "bad-envelope", id="empty-map"),
        pytest.param(b"\x80", "bad-envelope", id="a-list"),
        pytest.param(b"\xf6", "bad-envelope", id="null"),
    ],
)
def test_bytes_that_are_no_envelope_are_refused(data, code):
    with pytest.raises(Refused) as refused:
        open_envelope(data)
    assert refused.value.code == code


def test_decoding_alone_verifies_nothing():
    forged = msgspec.structs.replace(ENVELOPE, sig=bytes(64))
    assert decode_envelope(encode_envelope(forged)) == forged
    with pytest.raises(Refused) as refused:
        verify_envelope(forged)
    assert refused.value.code == "bad-signature"


@pytest.mark.parametrize(
    ("obj", "code"),
    [
        pytest.param([], "bad-envelope", id="a-list"),
        pytest.param({**envelope_to_json(ENVELOPE), "v": 2}, "unknown-envelope-version", id="version-2"),
        pytest.param({**envelope_to_json(ENVELOPE), "sig": "x"}, "bad-envelope", id="sig-as-text"),
        pytest.param(
            {**envelope_to_json(ENVELOPE), "sig": {"$bytes": "?"}}, "json-bytes", id="sig-no-base64"
        ),
        pytest.param({**envelope_to_json(ENVELOPE), "v": 1.0}, "float", id="float"),
    ],
)
def test_json_that_is_no_envelope_is_refused(obj, code):
    with pytest.raises(Refused) as refused:
        envelope_from_json(obj)
    assert refused.value.code == code


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.text(max_size=8)
    | st.binary(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
RECORDS = st.dictionaries(st.text(max_size=6), VALUES, max_size=4).map(lambda found: {**found, "game": GAME})


@given(st.binary(min_size=32, max_size=32), RECORDS, st.from_regex(r"[a-z0-9_~:-]{1,20}", fullmatch=True))
def test_envelopes_go_both_ways(seed, value, rkey):
    envelope = sign_record(Signer(seed), GAME, "town.delve.move", rkey, copy.deepcopy(value))
    data = encode_envelope(envelope)
    opened = open_envelope(data)
    assert opened == envelope
    assert opened.value == value
    assert encode_envelope(opened) == data


BYTES = encode_envelope(ENVELOPE)


@given(st.integers(0, len(BYTES) * 8 - 1))
def test_an_envelope_with_any_bit_flipped_is_refused(bit):
    data = bytearray(BYTES)
    data[bit // 8] ^= 1 << bit % 8
    with pytest.raises(Refused):
        open_envelope(bytes(data))


@given(st.integers(0, len(BYTES)), st.integers(0, len(BYTES)), st.binary(max_size=12))
def test_an_envelope_with_any_part_replaced_is_refused_or_the_same(start, end, part):
    data = BYTES[: min(start, end)] + part + BYTES[max(start, end) :]
    if data == BYTES:
        assert open_envelope(data) == ENVELOPE
    else:
        with pytest.raises(Refused):
            open_envelope(data)


@given(st.binary(max_size=200))
def test_any_bytes_are_refused_with_a_code(data):
    with pytest.raises(Refused):
        open_envelope(data)


@given(VALUES, st.sampled_from(sorted(FIELDS)))
def test_a_field_of_any_value_is_refused_or_signed_anew(value, name):
    if value == FIELDS[name] and type(value) is type(FIELDS[name]):
        return
    with pytest.raises(Refused):
        open_envelope(codec.encode({**FIELDS, name: value}))


@given(st.sampled_from(["author", "game", "collection", "rkey"]), st.text(max_size=30))
def test_a_field_of_any_text_refuses_to_be_signed_or_opens(name, text):
    fields = {"game": GAME, "collection": "town.delve.move", "rkey": "self", "author": ADA.did, name: text}
    value = {"game": fields["game"]}
    try:
        envelope = sign_record(ADA, fields["game"], fields["collection"], fields["rkey"], value)
    except Refused:
        return
    assert open_envelope(encode_envelope(envelope)) == envelope
