"""Every dag-cbor file of the IPLD vectors, every data-model vector of AT Protocol: kept, refused, listed."""

from __future__ import annotations

import base64
import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import cbor2
import pytest
from weighbridge.cid import Cid, from_foreign_text
from weighbridge.codec import cid_of, decode, encode, from_json, to_json
from weighbridge.codec.strict import decode_strictly
from weighbridge.errors import Refused

NO_FLOATS = "records and cells hold no floats"
ONE_FORM = "a link is a CIDv1, dag-cbor or raw, sha2-256"
ONE_HASH = "BLAKE3 is a DASL CID and none of ours: there is one hash"

# The fixtures that are valid DAG-CBOR and are refused all the same: folder -> (code, reason).
REFUSED_FIXTURES: dict[str, tuple[str, str]] = {
    **dict.fromkeys(
        (
            "cid-QmQg1v4o9xdT3Q14wh4S7dxZkDjyZ9ssFzFzyep1YrVJBY",
            "cid-QmRgutAxd8t7oGkSm4wmeuByG6M51wcTso6cubDdQtuEfL",
            "cid-QmXg9Pp2ytZ14xgmQjYEiHjVjMFXzCVVEcRTWJBmLgR39V",
            "dagpb_11unnamedlinks+data",
            "dagpb_1link",
            "dagpb_2link+data",
            "dagpb_4namedlinks+data",
            "dagpb_7unnamedlinks+data",
        ),
        ("cid-version", ONE_FORM),
    ),
    **dict.fromkeys(
        (
            "cid-arrayof",
            "cid-bagcqcera73rupyla6bauseyk75rslfys3st25spm75ykhvgusqvv2zfqtucq",
            "cid-bagyacvradn6dsgl6sw2jwoh7s3d37hq5wsu7g22wtdwnmaaaaaaaaaaaaaaa",
            "cid-bagyqcvraypzcitp3hsbtyyxhfyc3p7i3226lullm2rkzqsqqlhnxus7tqnea",
            "cid-bahaacvrabdhd3fzrwaambazyivoiustl2bo2c3rgweo2ug4rogcoz2apaqaa",
            "cid-bahaacvrasyauh7rmlyrmyc7qzvktjv7x6q2h6ttvei6qon43tl3riaaaaaaa",
            "cid-z8mWaJ1dZ9fH5EetPuRsj8jj26pXsgpsr",
            "cid-zdj7Wd8AMwqnhJGQCbFxBVodGSBG84TM7Hs1rcJuQMwTyfEDS",
            "garbage-00",
            "garbage-01",
            "garbage-05",
            "garbage-14",
            "garbage-16",
            "garbage-17",
        ),
        ("cid-codec", ONE_FORM),
    ),
    **dict.fromkeys(
        (
            "cid-bafkqabiaaebagba",
            "cid-mapof",
            "dagpb_Links_Hash_some",
            "dagpb_Links_Hash_some_Name_some",
            "dagpb_Links_Hash_some_Name_zero",
            "dagpb_Links_Hash_some_Tsize_some",
            "dagpb_Links_Hash_some_Tsize_zero",
            "dagpb_simple_forms_2",
            "dagpb_simple_forms_3",
            "dagpb_simple_forms_4",
            "garbage-02",
            "garbage-06",
            "garbage-18",
        ),
        ("cid-hash", ONE_FORM),
    ),
    **dict.fromkeys(
        (
            "float--0.5",
            "float--0.9999999999999999",
            "float--1.1",
            "float--1e-323",
            "float--8.940696716308594e-8",
            "float-0.5",
            "float-0.9999999999999999",
            "float-1.1",
            "float-1.1111111111111112",
            "float-1e-323",
            "float-8.940696716308594e-8",
            "float-82497.63712086187",
            "garbage-03",
            "garbage-07",
            "garbage-09",
            "garbage-11",
            "garbage-15",
            "garbage-19",
            "garbage-20",
            "garbage-22",
            "garbage-24",
        ),
        ("float", NO_FLOATS),
    ),
}

# Where dasl-testing says one thing and we do another: (file, type, name) -> (what we do, reason).
# Its tags name the specifications a case speaks for; `basic`, `dag-cbor` and `dasl-cid` could be ours.
DIFFERENT_DASL: dict[tuple[str, str, str], tuple[str, str]] = {
    ("cid.json", "roundtrip", "Big DASL CID"): ("cid-hash", ONE_HASH),
    ("floats.json", "roundtrip", "float reduction"): ("float", NO_FLOATS),
    ("floats.json", "roundtrip", "64-bit floats only"): ("float", NO_FLOATS),
    ("floats.json", "roundtrip", "short NaN"): ("float", NO_FLOATS),
    ("floats.json", "roundtrip", "zero float64"): ("float", NO_FLOATS),
    ("floats.json", "roundtrip", "zero float16"): ("float", NO_FLOATS),
    ("floats.json", "roundtrip", "64-bit subnormal number"): ("float", NO_FLOATS),
    ("integer_range.json", "roundtrip", "smallest unsigned bigint"): (
        "integer-range",
        "CBOR::Core alone has them",
    ),
    ("integer_range.json", "roundtrip", "highest negative bigint"): (
        "integer-range",
        "CBOR::Core alone has them",
    ),
    ("numeric_reduction.json", "roundtrip", "map with equal int and float keys"): (
        "non-text-key",
        "dCBOR alone",
    ),
    ("numeric_reduction.json", "roundtrip", "too small for int reduction, <-(2^63)"): ("float", NO_FLOATS),
    ("utf8.json", "invalid_in", "text not in Unicode Normalization Form C"): (
        "kept",
        "dCBOR alone normalises; DAG-CBOR, whose case this is too, keeps the bytes",
    ),
}

# The code each refused case of dasl-testing meets; the cases that are kept are all the others.
DASL_CODES: dict[str, dict[str, str]] = {
    "cid.json": {
        "long CID tag": "not-minimal",
        "invalid CID": "cid-form",
        "CIDv0": "cid-version",
        "invalid hash size": "cid-length",
        "empty CID": "cid-length",
        "short hash digest": "cid-length",
        "long hash digest": "cid-length",
        "CIDv1 that isn't raw or cbor": "cid-codec",
        "disallowed hash type (SHA-1)": "cid-hash",
        "CID with no null byte": "link-prefix",
    },
    "concat.json": {"concatenated objects / CBOR sequence": "trailing-bytes"},
    "map_keys.json": {
        "map with int key": "non-text-key",
        "map keys in incorrect order": "key-order",
        "duplicate map keys": "duplicate-key",
    },
    "utf8.json": {"invalid UTF-8": "invalid-text"},
}
DASL_CODES_BY_FILE = {
    "floats.json": "float",
    "indefinite.json": "indefinite-length",
    "integer_range.json": "integer-range",
    "numeric_reduction.json": "float",
    "short_form.json": "not-minimal",
    "simple.json": "simple-value",
    "tags.json": "tag",
}
BIGNUM_BEFORE_LENGTH = "bigint with leading zero bytes"

# The objects behind the cases of type `invalid_out`: what an encoder would have to be handed to write them.
OBJECTS: dict[str, tuple[object, str]] = {
    "f97e00": (float("nan"), "float"),
    "f97c00": (float("inf"), "float"),
    "f9fc00": (float("-inf"), "float"),
    "fb8000000000000000": (-0.0, "float"),
    "c249010000000000000000": (2**64, "integer-range"),
    "a10000": ({0: 0}, "non-text-key"),
    "f7": (cbor2.undefined, "unencodable"),
    "e0": (cbor2.CBORSimpleValue(0), "unencodable"),
    "c07819323032352d30352d32365431363a31383a31372d30343a3030": (
        datetime(2025, 5, 26, 16, 18, 17, tzinfo=UTC),
        "unencodable",
    ),
}


def outcome(data: bytes) -> str:
    """Return `kept` (and written again byte for byte) or the refusal's code, the same from both decoders."""
    try:
        value = decode(data)
    except Refused as refusal:
        with pytest.raises(type(refusal)):
            decode_strictly(data)
        return refusal.code
    assert decode_strictly(data) == value
    assert encode(value) == data
    return "kept"


def dag_json(obj: Any) -> Any:
    """Return a dag-json document as a value of ours."""
    if isinstance(obj, list):
        return [dag_json(item) for item in obj]
    if not isinstance(obj, dict):
        return obj
    if set(obj) == {"/"}:
        special = obj["/"]
        return Cid.parse(special) if isinstance(special, str) else base64.b64decode(special["bytes"] + "==")
    return {key: dag_json(item) for key, item in obj.items()}


def test_every_dag_cbor_fixture_is_kept_under_its_cid_or_listed(vectors: Path) -> None:
    met: Counter[str] = Counter()
    for file in sorted((vectors / "ipld" / "fixtures").glob("*/*.dag-cbor")):
        data, name = file.read_bytes(), file.parent.name
        code, _reason = REFUSED_FIXTURES.get(name, ("kept", ""))
        assert (name, outcome(data)) == (name, code)
        met[code] += 1
        if code == "kept":
            assert str(cid_of(decode(data))) == str(from_foreign_text(file.stem)) == file.stem
            (twin,) = file.parent.glob("*.dag-json")
            assert decode(data) == dag_json(json.loads(twin.read_text(encoding="utf-8")))
    listed = Counter(code for code, _reason in REFUSED_FIXTURES.values())
    assert met == listed + Counter(kept=128 - len(REFUSED_FIXTURES))


def test_every_negative_fixture_is_refused(vectors: Path) -> None:
    files = sorted((vectors / "ipld" / "negative-fixtures" / "dag-cbor").rglob("*.json"))
    cases = [(file.name, case) for file in files for case in json.loads(file.read_text(encoding="utf-8"))]
    met = {(file, case["name"]): outcome(bytes.fromhex(case["hex"])) for file, case in cases}
    assert met == {("duplicate-keys.json", "duplicate map keys"): "duplicate-key"}


def test_every_dasl_case_is_kept_refused_or_listed(vectors: Path) -> None:
    different = dict(DIFFERENT_DASL)
    seen = 0
    for file in sorted((vectors / "ipld" / "dasl-testing").rglob("*.json")):
        for case in json.loads(file.read_text(encoding="utf-8")):
            seen += 1
            place = file.name, case["type"], case["name"]
            if case["type"] == "invalid_out":
                value, code = OBJECTS[case["data"]]
                with pytest.raises(Refused) as refused:
                    encode(value)
                assert (place, refused.value.code) == (place, code)
            elif place in different:
                assert (place, outcome(bytes.fromhex(case["data"]))) == (place, different.pop(place)[0])
            else:
                assert (place, outcome(bytes.fromhex(case["data"]))) == (place, dasl_expectation(*place))
    assert not different
    assert seen == 105


def dasl_expectation(file: str, kind: str, name: str) -> str:
    """Return what the table says of a case on which we and dasl-testing agree."""
    if kind == "roundtrip":
        return "kept"
    if name == BIGNUM_BEFORE_LENGTH:
        return "integer-range"
    return DASL_CODES.get(file, {}).get(name) or DASL_CODES_BY_FILE[file]


def test_every_dag_cbor_file_of_the_vectors_is_read_by_a_test_above(vectors: Path) -> None:
    root = vectors / "ipld"
    read = {
        *(root / "fixtures").glob("*/*.dag-cbor"),
        *(root / "negative-fixtures" / "dag-cbor").rglob("*.json"),
        *(root / "dasl-testing").rglob("*.json"),
    }
    other = {file for file in root.rglob("*") if file.is_file()} - read
    of_other_codecs = {".dag-json", ".dag-pb"}
    for file in other:
        assert (
            file.suffix in of_other_codecs
            or file.parts[-3] in {"dag-json", "dag-pb"}
            or file.name.startswith(("LICENSE", "README", ".git"))
        ), file


# --- AT Protocol -------------------------------------------------------------------------------------------

# What the data-model vectors call valid or invalid and we judge otherwise at this place: note -> reason.
DIFFERENT_AT: dict[str, str] = {
    "float, but integer-like": "1.0 is a float here as well: integers are written as integers",
    "top-level not an object": "a value need not be a record; records are checked by their Lexicon",
    "record with $type null": "the Lexicon's affair",
    "record with $type wrong type": "the Lexicon's affair",
    "record with empty $type string": "the Lexicon's affair",
    "blob with string size": "the Lexicon's affair",
    "blob with missing key": "the Lexicon's affair",
}


def at_cases(vectors: Path, name: str) -> list[Any]:
    path = vectors / "atproto" / "interop" / "data-model" / f"data-model-{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def test_the_at_protocol_fixtures_have_their_bytes_their_json_and_their_cid(vectors: Path) -> None:
    cases = at_cases(vectors, "fixtures")
    for case in cases:
        data = base64.b64decode(case["cbor_base64"] + "==")
        value = from_json(case["json"])
        assert encode(value) == data
        assert str(cid_of(value)) == case["cid"]
        assert to_json(decode(data)) == case["json"]
    assert len(cases) == 3


def test_every_data_model_vector_is_judged_as_it_says_or_listed(vectors: Path) -> None:
    different = set(DIFFERENT_AT)
    for verdict in ("valid", "invalid"):
        for case in at_cases(vectors, verdict):
            try:
                from_json(case["json"])
                ours = "valid"
            except Refused:
                ours = "invalid"
            if ours != verdict:
                different.remove(case["note"])
    assert not different


def test_no_text_that_is_no_cid_is_read_as_one(vectors: Path) -> None:
    path = vectors / "atproto" / "interop" / "syntax" / "cid_syntax_invalid.txt"
    lines = [
        line for line in path.read_text(encoding="utf-8").split("\n") if line and not line.startswith("#")
    ]
    assert lines
    for line in lines:
        with pytest.raises(Refused):
            Cid.parse(line)
        with pytest.raises(Refused):
            from_foreign_text(line)
