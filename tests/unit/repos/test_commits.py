"""Commits, CARs and proofs of repositories: made ones of both curves, and those of a PDS."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repo_making import ALICE, BOB, CURVES, MOVES, NOW, Key, Made, tid, with_block_flipped
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.errors import Refused
from weighbridge.limits import MAX_RECORD, MAX_SLICE
from weighbridge.logfile import write_car
from weighbridge.repos import (
    Tree,
    check_commit,
    check_path,
    check_rev,
    load,
    parse_document_key,
    prove,
    read_commit,
    read_proof,
    read_repo,
    read_slice,
    write_proof,
)
from weighbridge.repos import car as cars

PATH = f"{MOVES}/3kaaaaaaaaa2a"


def fields(**changed):
    whole = {
        "data": Tree.empty().root,
        "did": ALICE,
        "prev": None,
        "rev": tid(NOW),
        "sig": b"x",
        "version": 3,
    }
    return {name: value for name, value in (whole | changed).items() if value is not ...}


@pytest.mark.parametrize("curve", CURVES)
def test_a_signed_commit_holds_for_its_repository_and_key(curve):
    made = Made(key=Key(curve))
    commit = made.sign()
    check_commit(commit, ALICE, made.key.public)
    assert commit.cid == Cid.of(commit.block)
    assert commit.at == NOW
    with pytest.raises(Refused) as refused:
        check_commit(commit, BOB, made.key.public)
    assert refused.value.code == "commit-other-did"
    with pytest.raises(Refused) as refused:
        check_commit(commit, ALICE, Key(curve, 9).public)
    assert refused.value.code == "commit-signature"
    with pytest.raises(Refused) as refused:
        check_commit(made.sign(high=True), ALICE, made.key.public)
    assert refused.value.code == "commit-high-s"


@pytest.mark.parametrize(
    ("block", "code"),
    [
        pytest.param(codec.encode(fields(version=2)), "commit-version", id="version-2"),
        pytest.param(codec.encode(fields(version=True)), "commit-version", id="version-true"),
        pytest.param(codec.encode(fields(prev=...)), "commit-form", id="no-prev"),
        pytest.param(codec.encode(fields(sig=...)), "commit-form", id="unsigned"),
        pytest.param(codec.encode(fields(extra=1)), "commit-form", id="a-field-too-many"),
        pytest.param(codec.encode(fields(did="alice")), "commit-form", id="no-did"),
        pytest.param(codec.encode(fields(rev="today")), "commit-form", id="no-tid"),
        pytest.param(codec.encode(fields(data=None)), "commit-form", id="no-data"),
        pytest.param(codec.encode(fields(data=Cid.of(b"", 0x55))), "commit-form", id="data-a-blob"),
        pytest.param(codec.encode(fields(sig="x")), "commit-form", id="signature-a-text"),
        pytest.param(codec.encode([]), "commit-form", id="no-map"),
        pytest.param(codec.encode(fields()) + b"\0", "commit-form", id="bytes-behind"),
        pytest.param(b"", "commit-form", id="nothing"),
        pytest.param(bytes(5000), "commit-form", id="too-long"),
    ],
)
def test_what_is_no_commit_is_refused(block, code):
    with pytest.raises(Refused) as refused:
        read_commit(block)
    assert refused.value.code == code


def test_revs_increase_and_lie_at_most_five_minutes_ahead():
    check_rev(tid(NOW), None, NOW)
    check_rev(tid(NOW + 300_000_000), tid(NOW), NOW)
    for rev, last, code in [
        (tid(NOW), tid(NOW), "commit-rev-order"),
        (tid(NOW - 1), tid(NOW), "commit-rev-order"),
        (tid(NOW + 300_000_001), None, "commit-rev-future"),
        ("jzzzzzzzzzzzz", None, "commit-rev-future"),
    ]:
        with pytest.raises(Refused) as refused:
            check_rev(rev, last, NOW)
        assert refused.value.code == code


@pytest.mark.parametrize(
    "path", ["", "town.delve.move", "town.delve.move/", "/x", "a/b", f"{MOVES}/..", f"{PATH}/x"]
)
def test_a_path_is_a_collection_and_a_record_key(path):
    with pytest.raises(Refused) as refused:
        check_path(path)
    assert refused.value.code == "repo-path"
    assert check_path(PATH) == tuple(PATH.split("/"))


def made_repo() -> Made:
    made = Made()
    made.commit(
        {f"{MOVES}/3kaaaaaaaaa{n:02}".replace("0", "a").replace("1", "b"): {"n": n} for n in range(60)}
    )
    made.commit({PATH: {"text": "north"}})
    return made


def test_a_proof_shows_a_record_and_its_absence_and_is_always_the_same_bytes():
    made = made_repo()
    assert made.last is not None
    record = codec.encode({"text": "north"})
    data = prove(made.last, made.tree, PATH, record)
    proved = read_proof(data, ALICE, PATH, made.key.public)
    assert (proved.cid, proved.record, proved.commit.rev) == (Cid.of(record), record, made.last.rev)
    whole = read_repo([made.export()])
    assert prove(made.last, load(whole.blocks, made.last.data), PATH, record) == data
    absent = prove(made.last, made.tree, f"{MOVES}/none", None)
    assert read_proof(absent, ALICE, f"{MOVES}/none", made.key.public)[1:] == (None, None)


def test_a_tampered_proof_is_refused_by_what_is_wrong():
    made = made_repo()
    last = made.last
    assert last is not None
    record = codec.encode({"text": "north"})
    nodes = made.tree.prove(PATH)
    whole = prove(last, made.tree, PATH, record)
    huge = codec.encode({"text": "x" * MAX_RECORD})
    made.put({f"{MOVES}/huge": {"text": "x" * MAX_RECORD}})
    made.at += 1
    later = made.sign()
    cases = {
        "car-block-hash": with_block_flipped(whole),
        "car-truncated": whole[:-1],
        "tree-block-missing": write_proof(last, nodes[:-1], record),
        "repo-record-absent": write_proof(last, nodes, None),
        "repo-car-root": b"".join(write_car([Cid.of(b"")], [])),
        "repo-car-size": bytes(MAX_SLICE + 1),
        "commit-version": b"".join(write_car([Cid.of(record)], [(Cid.of(record), record)])),
    }
    for code, data in cases.items():
        with pytest.raises(Refused) as refused:
            read_proof(data, ALICE, PATH, made.key.public)
        assert refused.value.code == code
    with pytest.raises(Refused) as refused:
        read_proof(prove(later, made.tree, f"{MOVES}/huge", huge), ALICE, f"{MOVES}/huge", made.key.public)
    assert refused.value.code == "repo-record-absent"
    with pytest.raises(Refused) as refused:
        read_slice(b"".join(write_car([], [])))
    assert refused.value.code == "repo-car-root"


def test_a_car_of_too_many_or_too_large_blocks_is_left_before_it_fills_the_memory(monkeypatch):
    monkeypatch.setattr(cars, "MAX_SLICE_BLOCKS", 10)
    monkeypatch.setattr(cars, "MAX_REPO", 1000)
    blocks = [(Cid.of(bytes([n])), bytes([n])) for n in range(12)]
    with pytest.raises(Refused) as refused:
        read_slice(b"".join(write_car([blocks[0][0]], blocks)))
    assert refused.value.code == "repo-car-size"

    def endless():
        while True:
            yield bytes(100)

    with pytest.raises(Refused):
        read_repo(endless())
    header = b"".join(write_car([blocks[0][0]], []))
    with pytest.raises(Refused) as refused:
        read_repo([header + b"\xff\xff\xff\xff\x7f"])
    assert refused.value.code == "car-block-size"


# --- what a PDS wrote --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pds(own_vectors):
    folder = own_vectors / "atproto/own-pds"
    names = json.loads((folder / "manifest.json").read_text())
    method = json.loads((folder / "did_docs.json").read_text())[names["alice"]]["verificationMethod"][0]
    return folder, names, parse_document_key(method["type"], method["publicKeyMultibase"])


def test_the_commit_of_a_pds_holds_under_the_key_of_its_document_and_of_its_first_operation(pds):
    folder, names, key = pds
    car = read_repo([(folder / "alice.car").read_bytes()])
    commit = read_commit(car.head)
    check_commit(commit, names["alice"], key)
    audit = json.loads((folder / "plc_audit.json").read_text())[names["alice"]]
    assert audit[0]["operation"]["verificationMethods"]["atproto"] == key.did_key
    assert load(car.blocks, commit.data).root == commit.data


def test_the_proofs_of_a_pds_show_a_record_and_the_absence_of_a_deleted_one(pds):
    folder, names, key = pds
    there, gone = (f"{names['collection']}/{names[each]}" for each in ("updated_rkey", "deleted_rkey"))
    proved = read_proof((folder / "record_proof.car").read_bytes(), names["alice"], there, key)
    assert proved.record is not None
    assert codec.decode(proved.record)["text"] == "north"
    proved = read_proof((folder / "exclusion_proof.car").read_bytes(), names["alice"], gone, key)
    assert (proved.cid, proved.record) == (None, None)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_no_bytes_make_reading_a_proof_fail_otherwise_than_refused(data):
    good = bytearray(write_proof(Made().sign(), [Tree.empty().node.block], None))
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(good) - 1))
        good[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))
        if not good:
            break
    with suppress(Refused):
        read_proof(bytes(good), ALICE, PATH, Key().public)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_commit_or_refused(block):
    with suppress(Refused):
        read_commit(block)
    with suppress(Refused):
        read_slice(block)
