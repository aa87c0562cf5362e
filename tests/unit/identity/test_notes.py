"""C2SP signed notes and cosignatures: the published examples, round trips, and a row for each refusal."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weighbridge.errors import Refused
from weighbridge.identity import (
    COSIGNATURE,
    SIGNATURE,
    NoteSignature,
    Signer,
    VerifierKey,
    cosign,
    cosigners,
    format_note,
    open_note,
    parse_note,
    parse_vkey,
    sign_note,
    verifier_key,
    verify_signature,
)
from weighbridge.identity.signing import cosigned_bytes

VECTORS = Path(__file__).resolve().parents[2] / "vectors" / "identity"
PUBLISHED = json.loads((VECTORS / "notes.json").read_text())
GAME = "at://did:plc:z72i7hdynmk6r22z27h6tvur/town.delve.root/self"
TEXT = f"{GAME}\n7\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
ADA, BEN = Signer(b"a" * 32), Signer(b"b" * 32)
ADA_KEY = verifier_key("ada.example/log", SIGNATURE, ADA.public)
BEN_KEY = verifier_key("ben.example/w1", COSIGNATURE, BEN.public)
SIGNED = sign_note(ADA, "ada.example/log", TEXT)
COSIGNED = cosign(BEN, "ben.example/w1", TEXT, 1_700_000_000)
NOTE = format_note(TEXT, [SIGNED, COSIGNED])

NAMES = st.text(
    st.characters(min_codepoint=0x21, exclude_categories=["Cs", "Z", "C"]), min_size=1, max_size=20
).filter(lambda name: "+" not in name)
TEXTS = st.text(
    st.characters(min_codepoint=0x20, exclude_categories=["Cs"]) | st.just("\n"), max_size=80
).map(lambda text: text + "\n")


@pytest.mark.parametrize("case", PUBLISHED, ids=[case["name"] for case in PUBLISHED])
def test_a_published_note_opens_and_is_written_back_as_it_was(case):
    data = case["note"].encode()
    keys = [parse_vkey(vkey) for vkey in case["vkeys"]]
    assert [str(key) for key in keys] == case["vkeys"]
    opened = open_note(data, keys)
    assert [(str(one.key), one.time) for one in opened.verified] == list(
        zip(case["vkeys"], case["times"], strict=True)
    )
    assert str(parse_note(data)).encode() == data
    for key in keys:
        assert open_note(data, [key]).keys == {key}


def test_the_example_of_the_go_package_is_signed_byte_for_byte():
    case = PUBLISHED[0]
    note = parse_note(case["note"].encode())
    signature = sign_note(Signer(bytes.fromhex(case["seed"])), "PeterNeumann", note.text)
    assert format_note(note.text, [signature]) == case["note"].encode()


@pytest.mark.parametrize("case", PUBLISHED, ids=[case["name"] for case in PUBLISHED])
def test_a_changed_text_is_refused_for_each_key(case):
    changed = case["note"].replace("\n", " \n", 1).encode()
    for vkey in case["vkeys"]:
        with pytest.raises(Refused) as refused:
            open_note(changed, [parse_vkey(vkey)])
        assert refused.value.code == "bad-note-signature"


def test_a_note_of_a_signature_and_a_cosignature_opens_with_the_time_of_the_latter():
    opened = open_note(NOTE, [BEN_KEY, ADA_KEY])
    assert opened.text == TEXT
    assert [(one.key, one.time) for one in opened.verified] == [(ADA_KEY, None), (BEN_KEY, 1_700_000_000)]


def test_signatures_of_unknown_keys_are_ignored_even_under_a_known_name_or_id():
    same_name = NoteSignature("ada.example/log", b"\0\0\0\0", b"junk")
    same_id = NoteSignature("eve.example", ADA_KEY.key_id, b"j")
    data = format_note(TEXT, [same_name, same_id, SIGNED])
    assert open_note(data, [ADA_KEY]).keys == {ADA_KEY}


def test_a_cosignature_is_over_its_header_its_time_and_the_whole_text():
    assert cosigned_bytes("o\n1\nr\n", 1679315147) == b"cosignature/v1\ntime 1679315147\no\n1\nr\n"
    assert COSIGNED.signature[:8] == (1_700_000_000).to_bytes(8, "big")


def test_one_key_has_two_ids_as_signer_and_as_cosigner_and_neither_signature_is_the_other():
    as_cosigner = verifier_key("ada.example/log", COSIGNATURE, ADA.public)
    assert as_cosigner.key_id != ADA_KEY.key_id
    crossed = NoteSignature("ada.example/log", as_cosigner.key_id, bytes(8) + SIGNED.signature)
    with pytest.raises(Refused) as refused:
        verify_signature(TEXT, as_cosigner, crossed)
    assert refused.value.code == "bad-note-signature"
    with pytest.raises(Refused) as refused:
        verify_signature(TEXT, as_cosigner, SIGNED)
    assert refused.value.code == "bad-note-signature"


@pytest.mark.parametrize(("count", "accepted"), [(16, True), (65, True), (256, True), (257, False)])
def test_a_note_may_have_many_signatures(count, accepted):
    data = TEXT + "\n" + str(SIGNED) * count
    if accepted:
        assert len(open_note(data.encode(), [ADA_KEY]).verified) == count
    else:
        with pytest.raises(Refused) as refused:
            open_note(data.encode(), [ADA_KEY])
        assert refused.value.code == "note-too-large"


def test_the_text_ends_at_the_last_blank_line():
    text = "one\n\n— ada.example/log AAAA\n\n\ntwo\n"
    data = format_note(text, [sign_note(ADA, "ada.example/log", text)])
    assert open_note(data, [ADA_KEY]).text == text


def with_line(signature):
    return f"{TEXT}\n{signature}".encode()


LINE = "— ada.example/log " + str(SIGNED).split(" ")[2]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        pytest.param(b"", "bad-note", id="empty"),
        pytest.param(TEXT.encode(), "bad-note", id="no-signatures"),
        pytest.param((TEXT + "\n").encode(), "bad-note", id="no-signature-line"),
        pytest.param((TEXT + LINE).encode(), "bad-note", id="no-blank-line"),
        pytest.param(("\n" + LINE).encode(), "bad-note", id="no-text"),
        pytest.param(NOTE[:-1], "bad-note", id="no-newline-at-the-end"),
        pytest.param(NOTE + b"\n", "bad-note", id="a-blank-line-at-the-end"),
        pytest.param(b"\xff" + NOTE, "bad-note", id="not-utf-8"),
        pytest.param(b"\xed\xa0\x80" + NOTE, "bad-note", id="surrogate"),
        pytest.param(b"a\tb" + NOTE, "bad-note", id="tab"),
        pytest.param(NOTE.replace(b"\n", b"\r\n"), "bad-note", id="carriage-returns"),
        pytest.param(b"\0" + NOTE, "bad-note", id="nul"),
        pytest.param(with_line(LINE.replace("—", "-")), "bad-note", id="hyphen"),
        pytest.param(with_line(LINE.replace("— ", "—")), "bad-note", id="no-space-after-the-dash"),
        pytest.param(with_line(LINE.replace("— ", "—  ")), "bad-note", id="two-spaces"),
        pytest.param((TEXT + "\n " + LINE).encode(), "bad-note", id="leading-space"),
        pytest.param(with_line(LINE[:-1] + " \n"), "bad-note", id="trailing-space"),
        pytest.param(with_line(LINE.replace("ada.", "ada+")), "bad-note", id="plus-in-the-name"),
        pytest.param(with_line(LINE.replace("ada.", "ada\u2003")), "bad-note", id="wide-space-in-the-name"),
        pytest.param(with_line(LINE.replace("ada.example/log", "")), "bad-note", id="no-name"),
        pytest.param(with_line("— ada.example/log AAAA\n"), "bad-note", id="three-bytes"),
        pytest.param(with_line("— ada.example/log AAAAAA==\n"), "bad-note", id="a-key-id-alone"),
        pytest.param(with_line("— ada.example/log AAAAAAA\n"), "bad-note", id="no-padding"),
        pytest.param(with_line("— ada.example/log AAAAAAB=\n"), "bad-note", id="loose-bits"),
        pytest.param(with_line("— ada.example/log AAAA_-AA\n"), "bad-note", id="base64url"),
        pytest.param(b"cosignature/v1\ntime 1\n" + NOTE, "reserved-note-text", id="a-cosignature-as-a-note"),
        pytest.param(with_line("— eve.example AAAAAAAA\n"), "no-known-signature", id="unknown-key-alone"),
        pytest.param(NOTE.replace(b"\n7\n", b"\n8\n"), "bad-note-signature", id="another-size"),
        pytest.param(
            with_line(f"{SIGNED}{NoteSignature('ada.example/log', ADA_KEY.key_id, bytes(64))}"),
            "bad-note-signature",
            id="a-good-and-a-bad-one-of-a-known-key",
        ),
        pytest.param(
            with_line(NoteSignature("ada.example/log", ADA_KEY.key_id, SIGNED.signature[:63])),
            "bad-note-signature",
            id="short-signature",
        ),
        pytest.param(
            with_line(NoteSignature("ben.example/w1", BEN_KEY.key_id, b"\0\1\2")),
            "bad-note-signature",
            id="short-cosignature",
        ),
        pytest.param(
            with_line(NoteSignature("ben.example/w1", BEN_KEY.key_id, b"\xff" + COSIGNED.signature[1:])),
            "bad-note-signature",
            id="time-over-63-bits",
        ),
        pytest.param(
            with_line(NoteSignature("ben.example/w1", BEN_KEY.key_id, b"\0\0\0\1" + COSIGNED.signature[4:])),
            "bad-note-signature",
            id="another-time",
        ),
        pytest.param(b"x" * 20_000 + b"\n" + NOTE, "note-too-large", id="long-text"),
        pytest.param(b"x" * 200_000, "note-too-large", id="long-note"),
    ],
)
def test_what_is_no_note_of_ours_is_refused(data, code):
    with pytest.raises(Refused) as refused:
        open_note(data, [ADA_KEY, BEN_KEY])
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("no newline", "bad-note"),
        ("", "bad-note"),
        ("bell\a\n", "bad-note"),
        ("\ud800\n", "bad-note"),
        ("cosignature/v1\ntime 5\no\n1\nr\n", "reserved-note-text"),
        ("x" * 16_384 + "\n", "note-too-large"),
    ],
    ids=["no-newline", "empty", "control", "surrogate", "cosignature", "too-large"],
)
def test_no_key_signs_a_text_that_is_no_note(text, code):
    for sign in (lambda: sign_note(ADA, "a", text), lambda: cosign(ADA, "a", text, 1)):
        with pytest.raises(Refused) as refused:
            sign()
        assert refused.value.code == code


@pytest.mark.parametrize(
    "name", ["", "a b", "a+b", "a\nb", "a\u00a0b", "a\u3000", "\ud800", "x" * 4097], ids=ascii
)
def test_no_key_signs_under_a_name_that_is_none(name):
    with pytest.raises(Refused) as refused:
        sign_note(ADA, name, TEXT)
    assert refused.value.code == "bad-key-name"


@pytest.mark.parametrize("time", [-1, 2**63])
def test_a_cosignature_has_a_time_of_63_bits(time):
    with pytest.raises(Refused) as refused:
        cosign(ADA, "a", TEXT, time)
    assert refused.value.code == "bad-cosignature-time"


def test_a_cosignature_of_a_later_time_is_refused_even_if_its_key_signed_it():
    late = b"\x80" + bytes(7) + BEN.sign(cosigned_bytes(TEXT, 2**63))
    signature = NoteSignature("ben.example/w1", BEN_KEY.key_id, late)
    with pytest.raises(Refused) as refused:
        open_note(format_note(TEXT, [signature]), [BEN_KEY])
    assert refused.value.code == "bad-note-signature"


def test_a_signature_line_is_verified_only_by_the_key_that_it_names():
    for name, key_id in (("eve.example", SIGNED.key_id), ("ada.example/log", b"1234")):
        line = NoteSignature(name, key_id, SIGNED.signature)
        with pytest.raises(Refused) as refused:
            verify_signature(TEXT, ADA_KEY, line)
        assert refused.value.code == "bad-note-signature"


def test_a_note_is_not_written_without_signatures_or_with_a_name_that_is_none():
    for signatures in ([], [NoteSignature("a b", b"1234", b"5")], [NoteSignature("a", b"123", b"5")]):
        with pytest.raises(Refused) as refused:
            format_note(TEXT, signatures)
        assert refused.value.code == "bad-note"


def test_two_known_keys_of_one_name_and_id_are_refused():
    class Same(VerifierKey, frozen=True):
        @property
        def key_id(self):
            return ADA_KEY.key_id

    with pytest.raises(Refused) as refused:
        open_note(NOTE, [ADA_KEY, Same("ada.example/log", SIGNATURE, BEN.public)])
    assert refused.value.code == "ambiguous-note-key"


def test_a_key_that_is_known_twice_is_known():
    assert open_note(NOTE, [ADA_KEY, ADA_KEY]).keys == {ADA_KEY}


def test_cosigners_are_told_by_their_did_and_earliest_time():
    later = cosign(BEN, "ben.example/w1", TEXT, 1_700_000_005)
    data = format_note(TEXT, [SIGNED, later, COSIGNED])
    keys = {"did:plc:ben": BEN_KEY, "did:plc:ada": ADA_KEY}
    assert cosigners(data, keys) == {"did:plc:ben": 1_700_000_000}
    assert cosigners(format_note(TEXT, [SIGNED]), {"did:plc:ben": BEN_KEY}) == {}


@pytest.mark.parametrize(
    ("vkey", "code"),
    [
        pytest.param("", "bad-vkey", id="empty"),
        pytest.param("name", "bad-vkey", id="name-alone"),
        pytest.param("name+12345678", "bad-vkey", id="no-key"),
        pytest.param(str(ADA_KEY).upper(), "bad-vkey", id="upper-case"),
        pytest.param("x" + str(ADA_KEY), "bad-vkey", id="another-name"),
        pytest.param(str(ADA_KEY) + "\n", "bad-vkey", id="trailing-newline"),
        pytest.param(str(ADA_KEY)[:-4], "bad-vkey", id="29-bytes"),
        pytest.param(str(ADA_KEY) + "AAAA", "bad-vkey", id="35-bytes"),
        pytest.param("a+12345678+", "bad-vkey", id="nothing-in-base64"),
        pytest.param("a+1234567+AQID", "bad-vkey", id="seven-digits"),
        pytest.param("a+123456789+AQID", "bad-vkey", id="nine-digits"),
        pytest.param("a+12345678+AQ_-", "bad-vkey", id="base64url"),
        pytest.param(str(VerifierKey("a", 1, bytes(32))), "bad-vkey", id="order-4"),
        pytest.param(str(VerifierKey("a b", 1, ADA.public)), "bad-key-name", id="space-in-the-name"),
        pytest.param(str(VerifierKey("", 1, ADA.public)), "bad-key-name", id="no-name"),
        pytest.param(str(VerifierKey("a", 2, ADA.public)), "vkey-type", id="ecdsa"),
        pytest.param(str(VerifierKey("a", 6, b"m" * 1312)), "vkey-type", id="ml-dsa"),
    ],
)
def test_a_text_that_is_no_verifier_key_is_refused(vkey, code):
    with pytest.raises(Refused) as refused:
        parse_vkey(vkey)
    assert refused.value.code == code


def test_a_verifier_key_of_another_type_than_the_wanted_is_refused():
    assert parse_vkey(str(ADA_KEY), SIGNATURE) == ADA_KEY
    with pytest.raises(Refused) as refused:
        parse_vkey(str(ADA_KEY), COSIGNATURE)
    assert refused.value.code == "vkey-type"


def test_the_name_of_a_key_may_be_an_at_uri():
    key = verifier_key(GAME, SIGNATURE, ADA.public)
    assert parse_vkey(str(key)) == key
    assert open_note(format_note(TEXT, [sign_note(ADA, GAME, TEXT)]), [key]).keys == {key}


@given(TEXTS, st.lists(st.tuples(NAMES, st.integers(0, 2**63 - 1) | st.none()), min_size=1, max_size=5))
def test_notes_go_both_ways(text, who):
    signatures = [sign_note(ADA, n, text) if time is None else cosign(ADA, n, text, time) for n, time in who]
    keys = [verifier_key(name, SIGNATURE if time is None else COSIGNATURE, ADA.public) for name, time in who]
    opened = open_note(format_note(text, signatures), keys)
    assert opened.text == text
    assert [(one.key.name, one.time) for one in opened.verified] == who


@given(st.integers(0, len(NOTE) * 8 - 1))
def test_a_flipped_bit_is_never_signed_by_both(bit):
    data = bytearray(NOTE)
    data[bit // 8] ^= 1 << bit % 8
    with contextlib.suppress(Refused):
        assert len(open_note(bytes(data), [ADA_KEY, BEN_KEY]).verified) < 2
