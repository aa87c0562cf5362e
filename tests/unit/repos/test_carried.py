"""Records of repositories on their way into a log: carried with their proof, and put together again from an entry."""

from __future__ import annotations

from contextlib import suppress
from itertools import count, islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repo_making import ALICE, BOB, MOVES, Key, Made
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.errors import Refused
from weighbridge.limits import MAX_PROOF, MAX_RECORD
from weighbridge.log import decode_entry, make_entry
from weighbridge.repos import (
    Commit,
    Proved,
    carry,
    carry_again,
    is_carried,
    open_carried,
    read_proof,
)
from weighbridge.tree import Tree, key_depth

PATH = f"{MOVES}/north"
URI = f"at://{ALICE}/{PATH}"
RECORD = codec.encode({"text": "north"})
DOC = Cid.of(b"document", 0x55)


def made_repo() -> tuple[Made, Commit]:
    made = Made()
    made.commit({f"{MOVES}/{n}": {"n": n} for n in range(60)})
    made.commit({PATH: {"text": "north"}})
    assert made.last is not None
    return made, made.last


def carried(path: str = PATH, record: bytes | None = RECORD, **changed: object) -> bytes:
    made, last = made_repo()
    cid = None if record is None else Cid.of(record)
    uri = f"at://{ALICE}/{path}"
    data = carry(uri, made.key.public.did_key, DOC, Proved(last, cid, record), made.tree.prove(path))
    value = codec.decode(data)
    assert isinstance(value, dict)
    return codec.encode({name: each for name, each in (value | changed).items() if each is not ...})


def test_a_carried_record_says_what_it_is_and_proves_it():
    found = open_carried(carried())
    assert (str(found.uri), found.record, found.value) == (URI, RECORD, {"text": "north"})
    assert found.prov.keys() == {"grade", "key", "doc", "rev", "blocks"}
    assert (found.prov["rev"], found.prov["doc"], found.prov["grade"]) == (
        found.commit.rev,
        DOC,
        "proved-now",
    )
    assert read_proof(found.proof, ALICE, PATH, Key().public).record == RECORD
    assert is_carried(carried())
    assert not is_carried(b"")


def test_the_end_of_a_record_is_carried_with_the_proof_of_its_absence():
    found = open_carried(carried(f"{MOVES}/gone", None))
    assert (found.record, found.cid, found.value) == (None, None, {})


def test_what_an_entry_keeps_carries_the_record_again():
    data = carried()
    found = open_carried(data)
    assert carry_again(URI, found.prov, found.record) == data
    assert carry_again(URI, {"sig": b""}, found.record) is None


BLOCKS = made_repo()[0].tree.prove(PATH)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        pytest.param(b"", "repo-proof-form", id="nothing"),
        pytest.param(carried(extra=1), "repo-proof-form", id="a-field-too-many"),
        pytest.param(carried(doc=...), "repo-proof-form", id="no-document"),
        pytest.param(carried(grade="trust-me"), "repo-proof-form", id="another-grade"),
        pytest.param(carried(blocks=[]), "repo-proof-form", id="no-commit"),
        pytest.param(carried(uri="at://alice.test/a.b.c/d"), "bad-at-uri", id="by-handle"),
        pytest.param(carried(uri=f"at://{BOB}/{PATH}"), "commit-other-did", id="of-another"),
        pytest.param(carried(uri=URI + "x"), "repo-proof-mismatch", id="at-another-path"),
        pytest.param(carried(key="did:key:z6Mk"), "repo-key", id="no-key"),
        pytest.param(carried(key=Key(number=9).public.did_key), "commit-signature", id="another-key"),
        pytest.param(carried(record=codec.encode({})), "repo-proof-mismatch", id="another-record"),
        pytest.param(carried(record=None), "repo-proof-mismatch", id="said-to-be-gone"),
        pytest.param(carried(f"{MOVES}/gone", codec.encode({})), "repo-proof-mismatch", id="made-up"),
        pytest.param(carried(blocks=[made_repo()[1].block]), "tree-block-missing", id="no-path"),
        pytest.param(
            carried(blocks=[made_repo()[1].block, *BLOCKS, b""]), "tree-block-extra", id="a-block-too-many"
        ),
        pytest.param(carried(blocks=[b"x" * MAX_PROOF, b"x"]), "repo-proof-size", id="no-room"),
        pytest.param(b"\xa6" + bytes(600_000), "repo-proof-size", id="far-too-long"),
    ],
)
def test_what_proves_no_record_is_refused(data, code):
    with pytest.raises(Refused) as refused:
        open_carried(data)
    assert refused.value.code == code


def picked(keys: int, deep: int) -> Made:
    """A repository whose keys were picked: so many in one node, and one that lies as deep above them."""
    names = (f"{MOVES}/{n:013}" for n in count())
    wide = [name for name in islice(names, 2 * keys) if key_depth(name) == 0][:keys]
    high = next(name for name in (f"a.b.c/{n}" for n in count()) if key_depth(name) >= deep)
    made = Made()
    made.records[Cid.of(RECORD)] = RECORD
    made.tree = Tree.build(dict.fromkeys([*wide, high], Cid.of(RECORD)))
    made.last = made.sign()
    return made


def test_a_record_of_a_tree_with_a_thousand_keys_in_one_node_far_down_is_listed():
    made = picked(1_000, deep=8)
    assert made.last is not None
    path = f"{MOVES}/{500:013}"
    cid = made.tree.get(path)
    there = Proved(made.last, cid, None if cid is None else RECORD)
    nodes = made.tree.prove(path)
    assert len(nodes) == 9
    assert sum(map(len, nodes)) > 55_000
    uri = f"at://{ALICE}/{path}"
    found = open_carried(carry(uri, made.key.public.did_key, DOC, there, nodes))
    root = make_entry(None, game=URI, at=1, op="tick")
    listed = make_entry(
        root, game=URI, at=2, op="create", uri=uri, author=ALICE, record=found.record or RECORD, prov=found.prov
    )  # fmt: skip
    assert decode_entry(listed.data).prov == found.prov


def test_what_is_proved_by_more_than_an_entry_holds_is_refused_before_anything_is_made_of_it():
    made = picked(5_000, deep=2)
    assert made.last is not None
    path = f"{MOVES}/{500:013}"
    nodes = made.tree.prove(path)
    with pytest.raises(Refused) as refused:
        carry(f"at://{ALICE}/{path}", made.key.public.did_key, DOC, Proved(made.last, None, None), nodes)
    assert refused.value.code == "repo-proof-size"


def test_the_largest_proof_of_the_largest_record_fits_a_message_of_the_log():
    blocks = [b"x" * MAX_PROOF]
    prov = {
        "grade": "proved-now",
        "key": Key().public.did_key,
        "doc": DOC,
        "rev": made_repo()[1].rev,
        "blocks": blocks,
    }
    record = b"x" * MAX_RECORD
    author = f"did:web:{'a' * 253}"
    uri = f"at://{author}/{'a' * 63}.{'b' * 63}.{'c' * 63}/{'k' * 512}"
    entry = make_entry(
        None, game=uri, at=2**53, op="create", uri=uri, author=author, record=record, prov=prov
    )
    message = codec.encode({"entry": entry.data, "record": record, "proof": carry_again(uri, prov, record)})
    assert len(message) < 8_000_000


def test_a_record_that_is_no_map_is_none():
    made = Made()
    made.commit({PATH: [1]})
    assert made.last is not None
    block = codec.encode([1])
    data = carry(
        URI, made.key.public.did_key, DOC, Proved(made.last, Cid.of(block), block), made.tree.prove(PATH)
    )
    with pytest.raises(Refused) as refused:
        open_carried(data)
    assert refused.value.code == "repo-proof-form"


GOOD = carried()


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(GOOD)), st.integers(0, 3), st.binary(max_size=4)), max_size=3))
def test_nothing_done_to_a_carried_record_makes_another_record_of_it(changes):
    data = bytearray(GOOD)
    for at, length, new in changes:
        data[at : at + length] = new
    with suppress(Refused):
        found = open_carried(bytes(data))
        assert (str(found.uri), found.record) == (URI, RECORD)
