"""The names of AT Protocol, held to its interoperability vectors."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weighbridge.identity import syntax
from weighbridge.identity.syntax import AtUri, BadAtUri, parse_at_uri, parse_record_uri

CHECKS = {
    "did": syntax.is_did,
    "handle": syntax.is_handle,
    "atidentifier": syntax.is_at_identifier,
    "nsid": syntax.is_nsid,
    "recordkey": syntax.is_rkey,
    "tid": syntax.is_tid,
    "aturi": syntax.is_at_uri,
}
DID = "did:plc:z72i7hdynmk6r22z27h6tvur"
RECORD = f"at://{DID}/town.delve.move/3jzfcijpj2z2a"


def lines(vectors, name):
    text = (vectors / "atproto" / "interop" / "syntax" / f"{name}.txt").read_text()
    return [line for line in text.split("\n") if line and not line.startswith("#")]


@pytest.mark.parametrize("name", CHECKS)
def test_each_valid_name_of_the_vectors_is_accepted(vectors, name):
    rows = lines(vectors, f"{name}_syntax_valid")
    assert rows
    assert [row for row in rows if not CHECKS[name](row)] == []


@pytest.mark.parametrize("name", CHECKS)
def test_each_invalid_name_of_the_vectors_is_refused(vectors, name):
    rows = lines(vectors, f"{name}_syntax_invalid")
    assert rows
    assert [row for row in rows if CHECKS[name](row)] == []


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize(
    "text", [None, 7, b"did:plc:abc", "", " ", "\n", "did:plc:abc\n", "a.b.c\n", "é"], ids=repr
)
def test_what_is_no_name_is_none_of_any_kind(check, text):
    assert not check(text)


@pytest.mark.parametrize(
    ("check", "text"),
    [
        pytest.param(syntax.is_did, "did:plc:" + "a" * 2040, id="did"),
        pytest.param(syntax.is_handle, "a" * 61 + "." + ".".join(["a" * 63] * 3), id="handle"),
        pytest.param(syntax.is_nsid, "a" * 61 + "." + ".".join(["a" * 63] * 4), id="nsid"),
        pytest.param(syntax.is_rkey, "a" * 512, id="rkey"),
    ],
)
def test_a_name_of_the_greatest_length_is_one_and_a_longer_is_none(check, text):
    assert check(text)
    assert not check("a" + text if check is not syntax.is_did else text + "a")


@pytest.mark.parametrize(
    ("text", "uri"),
    [
        (f"at://{DID}", AtUri(DID)),
        (f"at://{DID}/town.delve.move", AtUri(DID, "town.delve.move")),
        (RECORD, AtUri(DID, "town.delve.move", "3jzfcijpj2z2a")),
        ("at://gm.delve.town/town.delve.root/self", AtUri("gm.delve.town", "town.delve.root", "self")),
    ],
)
def test_an_at_uri_comes_apart_and_together_again(text, uri):
    assert parse_at_uri(text) == uri
    assert str(uri) == text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"at://{DID}", id="a-repo"),
        pytest.param(f"at://{DID}/town.delve.move", id="a-collection"),
        pytest.param("at://gm.delve.town/town.delve.root/self", id="by-handle"),
        pytest.param(RECORD + "/x", id="a-part-too-many"),
        pytest.param(RECORD + "#/text", id="fragment"),
        pytest.param(RECORD + "?v=1", id="query"),
        pytest.param(RECORD + "/", id="trailing-slash"),
        pytest.param(RECORD + "\n", id="trailing-newline"),
        pytest.param("AT" + RECORD[2:], id="upper-case-scheme"),
        pytest.param(f"at://{DID}/town.delve.move/..", id="dots"),
        pytest.param("at://" + "a" * 8200, id="too-long"),
        pytest.param(None, id="no-text"),
    ],
)
def test_what_names_no_record_of_a_did_is_refused(text):
    with pytest.raises(BadAtUri) as refused:
        parse_record_uri(text)
    assert refused.value.code == "bad-at-uri"
    assert not syntax.is_record_uri(text)


@given(at=st.integers(0, 60), cut=st.integers(0, 3), put=st.text(alphabet="ad:.-%_~/@#09Z\n ", max_size=3))
def test_what_is_found_at_once_is_what_is_taken_apart(at, cut, put):
    text = RECORD[:at] + put + RECORD[at + cut :]
    with contextlib.suppress(BadAtUri):
        parse_record_uri(text)
        assert syntax.is_record_uri(text)
        return
    assert not syntax.is_record_uri(text)


@pytest.mark.parametrize(
    ("did", "collection", "rkey"),
    [
        pytest.param(2_048, 11, 3, id="did"),
        pytest.param(20, 317, 3, id="collection"),
        pytest.param(20, 11, 512, id="rkey"),
    ],
)
def test_a_record_s_uri_has_parts_of_the_greatest_length_and_no_longer(did, collection, rkey):
    def uri(did: int, collection: int, rkey: int) -> str:
        nsid = "a." * (collection // 2 - 1) + "b" * (collection % 2 + 2)
        return f"at://did:a:{'a' * (did - 6)}/{nsid}/{'x' * rkey}"

    assert syntax.is_record_uri(uri(did, collection, rkey))
    more = [did + (did == 2_048), collection + (collection == 317), rkey + (rkey == 512)]
    assert not syntax.is_record_uri(uri(*more))


@given(st.text(alphabet="ad:.-%_~/@#09Z\n ", max_size=40))
def test_any_text_is_an_at_uri_or_refused_as_one(text):
    uri = "at://" + text
    with contextlib.suppress(BadAtUri):
        assert str(parse_at_uri(uri)) == uri


@pytest.mark.parametrize(
    "text", ["a." * 158 + "a", "a-" * 150 + ".b", "did:a:" + ":" * 2040, "-." * 120], ids=len
)
def test_a_hostile_name_is_judged_at_once(text):
    for check in CHECKS.values():
        check(text)
    syntax.is_record_uri(f"at://{DID}/{text}/x")
