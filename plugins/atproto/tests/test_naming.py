"""Which accounts a record names."""

from __future__ import annotations

import pytest
from repo_making import ALICE, BOB
from weighbridge_atproto.naming import dids_in, has_repository


def test_dids_and_at_uris_among_its_texts_are_found_once_in_their_order():
    value = {
        "sheets": [BOB, f"at://{ALICE}/town.delve.sheet/self"],
        "deep": {"more": [{"crew": f"at://{BOB}/town.delve.crew/x"}], "web": "did:web:delve.town"},
        "key": "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
        "words": f"ask {ALICE}, she knows", "number": 5, "bytes": ALICE.encode(), "handle": "at://alice.test/a.b.c/d",
    }  # fmt: skip
    assert list(dids_in(value)) == [BOB, ALICE, "did:web:delve.town"]


@pytest.mark.parametrize("value", [None, 5, "", [], {}, "at://", "at:///x", ["did:plc:"], b"did:plc:x"])
def test_of_what_names_nobody_nobody_is_found(value: object):
    assert list(dids_in(value)) == []


def test_a_value_of_great_depth_is_walked():
    value: object = ALICE
    for _ in range(10_000):
        value = [value]
    assert list(dids_in(value)) == [ALICE]


def test_only_methods_with_repositories_are_followed_up():
    assert has_repository(ALICE)
    for other in ("did:key:z6Mk", "did:example:x", "did:plc:" + "a" * 300, "alice.test", None, 5):
        assert not has_repository(other)
