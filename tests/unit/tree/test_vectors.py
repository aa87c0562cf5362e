"""The tree against what AT Protocol publishes and what a PDS in fact wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.tree import Tree, diff, key_depth, load, lookup, shared_prefix
from weighbridge.tree.errors import BlockMissing

COMMIT_PROOFS = [
    "two deep split",
    "two deep leafless split",
    "add on edge with neighbor two layers down",
    "merge and split in multi-op commit",
    "complex multi-op commit",
    "split with earlier leaves on same layer",
]


def read_json(path: Path):
    return json.loads(path.read_text(encoding="utf-8"))


def read_car(path: Path) -> tuple[Cid, dict[Cid, bytes]]:
    """The root and the blocks of a CAR v1."""
    data = path.read_bytes()

    def length(at: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value, at

    size, at = length(0)
    header = codec.decode(data[at : at + size])
    at += size
    blocks = {}
    while at < len(data):
        size, at = length(at)
        blocks[Cid(data[at : at + 36])] = data[at + 36 : at + size]
        at += size
    return header["roots"][0], blocks


def test_common_prefixes_are_those_of_atproto(vectors):
    for case in read_json(vectors / "atproto/interop/mst/common_prefix.json"):
        assert shared_prefix(case["left"].encode(), case["right"].encode()) == case["len"]


def test_key_heights_are_those_of_atproto(vectors):
    for case in read_json(vectors / "atproto/interop/mst/key_heights.json"):
        assert key_depth(case["key"]) == case["height"]


def test_the_example_keys_have_the_depths_their_names_say(vectors):
    keys = (vectors / "atproto/interop/mst/example_keys.txt").read_text(encoding="utf-8").split()
    assert len(keys) == 156
    assert [key_depth(key) for key in keys] == [int(key[1]) for key in keys]
    value = Cid.of(b"")
    tree = Tree.build((key, value) for key in keys)
    assert tree.level == max(int(key[1]) for key in keys)
    assert load(dict(tree.blocks()), tree.root).root == tree.root


@pytest.fixture(params=COMMIT_PROOFS)
def commit_proof(request, vectors):
    cases = {
        case["comment"]: case
        for case in read_json(vectors / "atproto/interop/firehose/commit-proof-fixtures.json")
    }
    assert list(cases) == COMMIT_PROOFS
    return cases[request.param]


def trees_around(case) -> tuple[Tree, Tree]:
    value = Cid.parse(case["leafValue"])
    before = Tree.build(dict.fromkeys(case["keys"], value))
    return before, before.update({**dict.fromkeys(case["adds"], value), **dict.fromkeys(case["dels"])})


def test_a_commit_leads_from_root_to_root(commit_proof):
    before, after = trees_around(commit_proof)
    assert str(before.root) == commit_proof["rootBeforeCommit"]
    assert str(after.root) == commit_proof["rootAfterCommit"]
    changed = [*commit_proof["adds"], *commit_proof["dels"]]
    assert [found.key for found in diff(before, after)] == sorted(changed)


def test_a_commit_can_be_undone_from_the_blocks_of_its_proof_alone(commit_proof):
    _, after = trees_around(commit_proof)
    proof = {cid: block for cid, block in after.blocks() if str(cid) in commit_proof["blocksInProof"]}
    assert len(proof) == len(commit_proof["blocksInProof"])
    part = load(proof, after.root, partial=True)
    value = Cid.parse(commit_proof["leafValue"])
    undone = part.update(
        {**dict.fromkeys(commit_proof["adds"]), **dict.fromkeys(commit_proof["dels"], value)}
    )
    assert str(undone.root) == commit_proof["rootBeforeCommit"]


def test_the_repo_of_a_pds_is_canonical_and_is_rebuilt_from_its_records(own_vectors):
    root, blocks = read_car(own_vectors / "atproto/own-pds/alice.car")
    data = codec.decode(blocks[root])["data"]
    tree = load(blocks, data)
    records = list(tree.items())
    assert len(records) == 228
    assert all(value in blocks for _, value in records)
    assert Tree.build(records).root == tree.root == data
    assert all(blocks[cid] == block for cid, block in tree.blocks())


def commits_of(frames: bytes):
    """The commits among the frames of a firehose, each written down behind its length."""
    at = 0
    while at < len(frames):
        end = at + 4 + int.from_bytes(frames[at : at + 4], "little")
        frame = frames[at + 4 : end]
        at = end
        # Every header is a map of two short texts and the operation; a commit's is this one.
        header = b"\xa2at\x67#commitbop\x01"
        if frame.startswith(header):
            yield codec.decode(frame[len(header) :])


def test_every_commit_of_a_firehose_is_undone_to_the_root_it_came_from(vectors, tmp_path):
    undone = 0
    for commit in commits_of((vectors / "atproto/own-pds/live_frames.bin").read_bytes()):
        car = tmp_path / "commit.car"
        car.write_bytes(commit["blocks"])
        root, blocks = read_car(car)
        part = load(blocks, codec.decode(blocks[root])["data"], partial=True)
        for op in commit["ops"]:
            assert part.get(op["path"]) == op["cid"]
        before = part.update({op["path"]: op.get("prev") for op in commit["ops"]})
        if commit.get("prevData") is not None:
            assert before.root == commit["prevData"]
            undone += 1
    assert undone > 20


def test_a_record_is_proved_by_what_a_pds_answers(own_vectors):
    folder = own_vectors / "atproto/own-pds"
    root, blocks = read_car(folder / "record_proof.car")
    names = read_json(folder / "manifest.json")
    found = lookup(
        codec.decode(blocks[root])["data"], f"{names['collection']}/{names['updated_rkey']}", blocks
    )
    assert found is not None
    assert codec.decode(blocks[found])["text"] == "north"


def test_a_deleted_record_is_proved_absent_by_what_a_pds_answers(own_vectors):
    folder = own_vectors / "atproto/own-pds"
    root, blocks = read_car(folder / "exclusion_proof.car")
    names = read_json(folder / "manifest.json")
    data = codec.decode(blocks[root])["data"]
    assert lookup(data, f"{names['collection']}/{names['deleted_rkey']}", blocks) is None
    with pytest.raises(BlockMissing):
        lookup(data, "town.delve.move/zzz", blocks)


def test_our_proof_of_a_record_is_made_of_the_blocks_a_pds_sends(own_vectors):
    folder = own_vectors / "atproto/own-pds"
    root, repo = read_car(folder / "alice.car")
    names = read_json(folder / "manifest.json")
    tree = load(repo, codec.decode(repo[root])["data"])
    for car, rkey in (("record_proof.car", "updated_rkey"), ("exclusion_proof.car", "deleted_rkey")):
        _, sent = read_car(folder / car)
        ours = tree.prove(f"{names['collection']}/{names[rkey]}")
        assert set(ours) <= set(sent.values())
