"""DID documents: where each is fetched, and what it must say."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from atproto_helping import HOST, code_of, document, identities_in
from hypothesis import given
from hypothesis import strategies as st
from repo_making import ALICE, BOB, Key
from weighbridge.ports import Refused
from weighbridge_atproto.documents import document_address, host_address, read_document

PLC = "https://plc.delve.town"


def read(**changed):
    return read_document(ALICE, json.dumps(document(**changed)).encode())


@pytest.mark.parametrize(
    ("did", "address"),
    [
        (ALICE, f"{PLC}/{ALICE}"),
        ("did:web:Delve.town", "https://delve.town/.well-known/did.json"),
        ("did:web:localhost%3A2583", "http://localhost:2583/.well-known/did.json"),
    ],
)
def test_a_document_is_fetched_where_its_method_says(did, address):
    assert document_address(did, PLC + "/") == address


@pytest.mark.parametrize(
    "did",
    [
        "did:plc:short", "did:plc:" + "A" * 24, "did:web:delve.town:alice", "did:web:delve.town%3A8080",
        "did:web:10.0.0.1", "did:web:localhost", "did:web:2130706433", "did:key:z6Mk", "did:web:%5B%3A%3A1%5D",
        "alice.delve.town", f"{ALICE}/../x",
    ],
)  # fmt: skip
def test_no_other_did_is_resolved(did):
    assert code_of(lambda: document_address(did, PLC)) == "did-method"


def test_a_document_says_key_host_and_handle():
    found = read()
    assert (found.key, found.host, found.handle) == (Key().public, HOST, "alice.delve.town")
    assert str(found.cid).startswith("bafkrei")
    assert read(alsoKnownAs=...).handle is None
    assert read(alsoKnownAs=["at://localhost"]).handle is None


def test_the_recorded_documents_have_keys_of_the_older_form(pds):
    found = identities_in(pds)
    audits = json.loads((pds / "plc_audit.json").read_text())
    for did, identity in found.items():
        newest = audits[did][-1]["operation"]
        assert identity.key.did_key == newest["verificationMethods"]["atproto"]
        assert f"at://{identity.handle}" == newest["alsoKnownAs"][0]
        assert identity.host == "http://localhost:2583"


METHOD = document()["verificationMethod"][0]
SERVICE = document()["service"][0]


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        pytest.param({"id": BOB}, "did-document-other", id="of-another"),
        pytest.param({"id": ...}, "did-document", id="of-nobody"),
        pytest.param({"verificationMethod": ...}, "did-document-no-key", id="no-methods"),
        pytest.param({"verificationMethod": [METHOD | {"id": "#atproto_label"}]}, "did-document-no-key", id="labels"),
        pytest.param({"verificationMethod": [METHOD | {"id": f"{BOB}#atproto"}]}, "did-document-no-key", id="theirs"),
        pytest.param({"verificationMethod": [{"id": "#atproto"}]}, "did-document-no-key", id="no-text"),
        pytest.param({"verificationMethod": [METHOD | {"publicKeyMultibase": "z1"}]}, "repo-key", id="no-key"),
        pytest.param({"service": []}, "did-document-no-host", id="no-service"),
        pytest.param({"service": "x"}, "did-document-no-host", id="services-a-text"),
        pytest.param({"service": [SERVICE | {"id": "#other"}]}, "did-document-no-host", id="another-service"),
        *(
            pytest.param({"service": [SERVICE | {"serviceEndpoint": address}]}, "did-document-no-host", id=name)
            for name, address in {
                "ftp": "ftp://a.b", "path": HOST + "/x", "query": HOST + "?x", "user": "https://a@b.c",
                "port": "https://a.b:x", "list": ["https://a.b"], "empty": "",
            }.items()
        ),
    ],
)  # fmt: skip
def test_a_document_that_does_not_say_it_is_refused(changed, code):
    assert code_of(lambda: read(**changed)) == code


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff", b"[" * 60_000, bytes(70_000)], ids=repr)
def test_what_is_no_document_is_refused(data):
    assert code_of(lambda: read_document(ALICE, data)) == "did-document"


def test_an_address_is_compared_without_its_slash_and_case():
    assert host_address("HTTPS://PDS.delve.town/") == HOST


@given(st.binary(max_size=60), st.text(max_size=30))
def test_any_bytes_are_a_document_or_refused(data, text):
    for each in (data, json.dumps({"id": ALICE, "service": text, "verificationMethod": [text]}).encode()):
        with suppress(Refused):
            read_document(ALICE, each)
    with suppress(Refused):
        host_address(text)
