from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from weighbridge.cid import Cid
from weighbridge.codec import from_json, to_json
from weighbridge.errors import Refused
from weighbridge.limits import MAX_NESTING

CID = Cid.of(b"a block")


class Move(msgspec.Struct, omit_defaults=True):
    to: str
    seal: bytes | None = None
    note: str | None = None


def test_links_and_bytes_have_their_own_objects() -> None:
    value = {"link": CID, "bytes": b"\x00\xff", "list": [None, True, -5, "水", {}]}
    written = to_json(value)
    assert written == {
        "link": {"$link": str(CID)},
        "bytes": {"$bytes": "AP8"},
        "list": [None, True, -5, "水", {}],
    }
    assert from_json(json.loads(json.dumps(written))) == value


def test_a_struct_is_written_as_its_record() -> None:
    assert to_json(Move("docks", b"\x01")) == {"to": "docks", "seal": {"$bytes": "AQ"}}


@pytest.mark.parametrize("text", ["AQI=", "AQI"])
def test_base64_may_be_padded(text: str) -> None:
    assert from_json({"$bytes": text}) == b"\x01\x02"


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("obj", "code"),
    [
        pytest.param({"a": 1.0}, "float", id="float"),
        pytest.param({"a": 2**64}, "integer-range", id="an integer past 64 bits"),
        pytest.param({"a": "\ud800"}, "invalid-text", id="a lone surrogate"),
        pytest.param({1: 2}, "non-text-key", id="an integer key"),
        pytest.param({"a": {1}}, "unencodable", id="what is no JSON"),
        pytest.param(deep(MAX_NESTING + 1), "nesting", id="one list too deep"),
        pytest.param(deep(500), "nesting", id="far too deep"),
        pytest.param({"$link": str(CID)[:-1]}, "json-link", id="a CID cut short"),
        pytest.param({"$link": "QmbWqxBEKC3P8tqsKc98xmWNzrzDtRLMiMPL8wBuTGsMnR"}, "json-link", id="CIDv0"),
        pytest.param({"$link": 1}, "json-link", id="a link that is a number"),
        pytest.param({"$link": str(CID), "a": 1}, "json-link", id="a link with company"),
        pytest.param({"$link": str(CID), "$bytes": ""}, "json-link", id="a link and bytes"),
        pytest.param({"$bytes": "A"}, "json-bytes", id="base64 cut short"),
        pytest.param({"$bytes": "AR"}, "json-bytes", id="last bits that belong to no byte"),
        pytest.param({"$bytes": "A_8"}, "json-bytes", id="the other base64"),
        pytest.param({"$bytes": "AQ==="}, "json-bytes", id="too much padding"),
        pytest.param({"$bytes": "A Q="}, "json-bytes", id="a space"),
        pytest.param({"$bytes": "ÄQ=="}, "json-bytes", id="not ASCII"),
        pytest.param({"$bytes": [1]}, "json-bytes", id="bytes that are a list"),
        pytest.param({"$bytes": "", "a": 1}, "json-bytes", id="bytes with company"),
    ],
)
def test_other_json_is_refused_with_its_own_code(obj: object, code: str) -> None:
    with pytest.raises(Refused) as refused:
        from_json(obj)
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("value", "code"),
    [
        pytest.param({"a": {"$link": "x"}}, "json-link", id="a map that would read as a link"),
        pytest.param([{"$bytes": "x"}], "json-bytes", id="a map that would read as bytes"),
        pytest.param(1.5, "float", id="a float"),
        pytest.param({1}, "unencodable", id="a set"),
    ],
)
def test_what_would_not_come_back_is_not_written(value: object, code: str) -> None:
    with pytest.raises(Refused) as refused:
        to_json(value)
    assert refused.value.code == code
