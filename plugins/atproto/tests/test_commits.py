"""Commits from a stream: what a PDS sent, made ones of both curves, and everything that can be tampered with."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from atproto_helping import HOST, code_of, frames_in, identities_in, identity
from hypothesis import given, settings
from hypothesis import strategies as st
from repo_making import BOB, CURVES, MOVES, NOW, Key, Made, frame, tid, with_block_flipped
from weighbridge.ports import Refused
from weighbridge.repos import Cid, Tree, codec, open_carried, read_proof, write_car
from weighbridge.repos import car as cars
from weighbridge.tree import key_depth
from weighbridge_atproto import chain
from weighbridge_atproto.checklist import examine_commit, examine_sync
from weighbridge_atproto.commits import VerifiedCommit, verify_commit
from weighbridge_atproto.frames import CommitFrame, SyncFrame, parse_frame

LATER = 2 * NOW


@pytest.mark.parametrize(("name", "commits"), [("live_frames.bin", 31), ("replay_frames.bin", 27)])
def test_every_recorded_commit_holds_and_follows_the_one_before(pds: Path, name: str, commits: int):
    known, repos, applied = identities_in(pds), {}, 0
    for data in frames_in(pds / name):
        message = parse_frame(data)
        if isinstance(message, CommitFrame):
            verified = examine_commit(message, known[message.repo], "http://localhost:2583")
            repo = repos.get(message.repo, chain.Repo(message.repo))
            step = chain.on_commit(repo, verified.link(applied), LATER)
            assert (step.refusal, step.fetch) == (None, False)
            repos[message.repo], applied = step.repo, applied + len(step.apply)
        elif isinstance(message, SyncFrame):
            commit = examine_sync(message, known[message.repo], "http://localhost:2583")
            assert chain.on_sync(repos[message.repo], commit, LATER).repo == repos[message.repo]
    assert applied == commits


def test_every_change_of_the_recorded_commits_has_its_own_proof(pds: Path):
    known, proved = identities_in(pds), 0
    for data in frames_in(pds / "live_frames.bin"):
        message = parse_frame(data)
        if isinstance(message, CommitFrame):
            who = known[message.repo]
            verified = verify_commit(message, who)
            for change in verified.changes:
                found = open_carried(verified.bundle.carry(change.path, change.cid))
                assert read_proof(found.proof, who.did, change.path, who.key).cid == change.cid
                proved += 1
    assert proved > 230


@pytest.mark.parametrize("curve", CURVES)
def test_creates_updates_and_deletes_of_both_curves_hold(curve: str):
    made = Made(key=Key(curve))
    who = identity(made)
    repo = chain.Repo(made.did)
    for changes in (
        {},
        {f"{MOVES}/{n}": {"n": n} for n in range(50)},
        {f"{MOVES}/3": {"n": 33}, f"{MOVES}/4": None, f"{MOVES}/x": {"n": 0}},
        {f"{MOVES}/{n}": None for n in range(50) if n != 4},
    ):
        message = parse_frame(frame(made.commit(changes)))
        assert isinstance(message, CommitFrame)
        step = chain.on_commit(repo, examine_commit(message, who, HOST).link(1), NOW * 2)
        assert len(step.apply) == 1
        repo = step.repo
    assert repo.data == made.tree.root


# --- the tampering table -----------------------------------------------------------------------------------


def two_commits() -> tuple[Made, dict[str, Any]]:
    """A repository of forty records, and the message of a commit that creates, updates and deletes."""
    made = Made()
    made.commit({})
    made.commit({f"{MOVES}/{n}": {"n": n} for n in range(40)})
    return made, made.commit({f"{MOVES}/new": {"n": 1}, f"{MOVES}/1": {"n": 11}, f"{MOVES}/2": None})


def flipped(_: Made, body: dict[str, Any]) -> None:
    body["blocks"] = with_block_flipped(body["blocks"])


def dropped(_: Made, body: dict[str, Any]) -> None:
    body["ops"] = body["ops"][:-1]


def made_up(_: Made, body: dict[str, Any]) -> None:
    body["ops"] = [
        *body["ops"],
        {"action": "delete", "path": f"{MOVES}/9999", "cid": None, "prev": Cid.of(b"")},
    ]


def other_prev_data(_: Made, body: dict[str, Any]) -> None:
    body["prevData"] = Tree.empty().root


def other_prev(_: Made, body: dict[str, Any]) -> None:
    body["ops"][1]["prev"] = Cid.of(b"x")


def other_cid(_: Made, body: dict[str, Any]) -> None:
    body["ops"][0]["cid"] = Cid.of(b"x")


def twice(_: Made, body: dict[str, Any]) -> None:
    body["ops"] = [*body["ops"], body["ops"][0]]


def create_with_prev(_: Made, body: dict[str, Any]) -> None:
    body["ops"][0]["prev"] = Cid.of(b"x")


def resigned(made: Made, body: dict[str, Any], **changed: Any) -> None:
    before, key = made.tree, changed.pop("key", made.key)
    old, made.key = made.key, key
    commit = made.sign(**changed)
    made.key = old
    body |= {"commit": commit.cid, "blocks": made.slice(commit, before), "rev": commit.rev}


def high_s(made: Made, body: dict[str, Any]) -> None:
    resigned(made, body, high=True)


def other_key(made: Made, body: dict[str, Any]) -> None:
    resigned(made, body, key=Key(number=9))


def other_did(made: Made, body: dict[str, Any]) -> None:
    resigned(made, body, did=BOB)


def other_rev(_: Made, body: dict[str, Any]) -> None:
    body["rev"] = tid(NOW)


def other_commit(_: Made, body: dict[str, Any]) -> None:
    body["commit"] = Cid.of(b"x")


def too_big(_: Made, body: dict[str, Any]) -> None:
    body["tooBig"] = True


def car_bomb(_: Made, body: dict[str, Any]) -> None:
    block = b"\xa0"
    cid = Cid.of(block)
    body["blocks"] = b"".join(write_car([cid], [(cid, block)] * 30_000))


def length_bomb(_: Made, body: dict[str, Any]) -> None:
    body["blocks"] = b"".join(write_car([body["commit"]], [])) + b"\xff\xff\xff\xff\x7f"


def node(entries: list[dict[str, Any]], left: Cid | None = None) -> bytes:
    return codec.encode({"e": entries, "l": left})


def with_tree(made: Made, body: dict[str, Any], root: bytes, *others: bytes) -> None:
    commit = made.sign(data=Cid.of(root))
    blocks = [(commit.cid, commit.block), *((Cid.of(each), each) for each in (root, *others))]
    body |= {"commit": commit.cid, "rev": commit.rev, "blocks": b"".join(write_car([commit.cid], blocks))}


def entry(key: str, p: int = 0, t: Cid | None = None) -> dict[str, Any]:
    return {"k": key.encode(), "p": p, "t": t, "v": Cid.of(b"v")}


def path_twice_in_the_tree(made: Made, body: dict[str, Any]) -> None:
    path = f"{MOVES}/7"
    with_tree(made, body, node([entry(path), entry("", len(path))]))


def wrong_depth(made: Made, body: dict[str, Any]) -> None:
    """Two keys of different depths in one node."""
    paths = sorted([f"{MOVES}/7", next(f"{MOVES}/{n}" for n in range(9, 999) if depth(n) != depth(7))])
    with_tree(made, body, node([entry(paths[0]), entry(paths[1][len(MOVES) + 1 :], len(MOVES) + 1)]))


def depth(number: int) -> int:
    return Tree.build({f"{MOVES}/{number}": Cid.of(b"v")}).level


def mined_depth(made: Made, body: dict[str, Any]) -> None:
    """A key mined to lie deep, over a chain of empty nodes that never gets to an end."""
    high = next(n for n in range(100_000) if depth(n) >= 4)
    below = node([], None)
    with_tree(made, body, node([entry(f"{MOVES}/{high}")], Cid.of(below)), below)


TAMPERED: list[tuple[Callable[[Made, dict[str, Any]], None], str]] = [
    (flipped, "car-block-hash"),
    (dropped, "op-inversion"),
    (made_up, "op-inversion"),
    (other_prev_data, "op-inversion"),
    (other_prev, "op-inversion"),
    (other_cid, "op-mismatch"),
    (twice, "op-duplicate"),
    (create_with_prev, "op-form"),
    (high_s, "commit-high-s"),
    (other_key, "commit-signature"),
    (other_did, "frame-mismatch"),
    (other_rev, "frame-mismatch"),
    (other_commit, "frame-mismatch"),
    (too_big, "frame-size"),
    (car_bomb, "repo-car-size"),
    (length_bomb, "car-block-size"),
    (path_twice_in_the_tree, "tree-node-order"),
    (wrong_depth, "tree-node-depth"),
    (mined_depth, "tree-node-empty"),
]


@pytest.mark.parametrize(("tamper", "code"), TAMPERED, ids=lambda each: getattr(each, "__name__", each))
def test_a_tampered_commit_is_refused_by_what_is_wrong(tamper: Callable[..., None], code: str):
    made, body = two_commits()
    who = identity(made)
    good = parse_frame(frame(body))
    assert isinstance(good, CommitFrame)
    examine_commit(good, who, HOST)

    def tampered() -> VerifiedCommit:
        tamper(made, body)
        message = parse_frame(frame(body))
        assert isinstance(message, CommitFrame)
        return examine_commit(message, who, HOST)

    assert code_of(tampered) == code


def test_a_cycle_needs_a_block_under_a_false_name_and_is_refused_by_its_hash():
    made, body = two_commits()
    root = node([entry(f"{MOVES}/7")], Cid.of(b"some node"))
    commit = made.sign(data=Cid.of(root))
    blocks = [(commit.cid, commit.block), (Cid.of(root), root), (Cid.of(b"some node"), root)]
    body |= {"commit": commit.cid, "blocks": b"".join(write_car([commit.cid], blocks)), "rev": commit.rev}
    message = parse_frame(frame(body))
    assert isinstance(message, CommitFrame)
    assert code_of(lambda: examine_commit(message, identity(made), HOST)) == "car-block-hash"


def test_a_key_mined_to_lie_deep_is_read_for_what_it_is_and_costs_one_node_a_level():
    made = Made()
    made.commit({})
    deep = next(f"{MOVES}/{n}" for n in range(10**6) if key_depth(f"{MOVES}/{n}") >= 7)
    body = made.commit({deep: {"n": 1}, f"{MOVES}/low": {"n": 2}})
    message = parse_frame(frame(body))
    assert isinstance(message, CommitFrame)
    verified = examine_commit(message, identity(made), HOST)
    assert verified.bundle.tree.level >= 7
    low = verified.bundle.tree.prove(f"{MOVES}/low")
    assert len(low) == 1 + verified.bundle.tree.level - key_depth(f"{MOVES}/low")
    assert sum(map(len, low)) < 1_000


def test_a_message_from_another_host_than_the_document_names_is_refused():
    made, body = two_commits()
    message = parse_frame(frame(body))
    assert isinstance(message, CommitFrame)
    assert (
        code_of(lambda: examine_commit(message, identity(made), "https://relay.delve.town")) == "other-host"
    )
    assert examine_commit(message, identity(made), None).commit.did == made.did


def test_a_bad_record_costs_that_record_and_not_the_commit():
    made = Made()
    made.commit({})
    body = made.commit(
        {f"{MOVES}/fine": {"n": 1}, f"{MOVES}/huge": {"n": "x" * 300_000}, "no path": {"n": 1}}
    )
    message = parse_frame(frame(body))
    assert isinstance(message, CommitFrame)
    verified = verify_commit(message, identity(made))
    found = [verified.changes[0], *verified.changes[1:]]
    assert open_carried(verified.bundle.carry(found[0].path, found[0].cid)).value == {"n": 1}
    assert code_of(lambda: verified.bundle.carry(found[1].path, found[1].cid)) == "repo-record-absent"
    assert code_of(lambda: verified.bundle.carry(found[2].path, found[2].cid)) == "repo-path"


@pytest.mark.parametrize("tamper", [car_bomb, length_bomb], ids=lambda each: each.__name__)
def test_a_bomb_of_a_car_is_refused_in_bounded_memory(
    tamper: Callable[..., None], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(cars, "MAX_SLICE_BLOCKS", 1_000)
    made, body = two_commits()
    tamper(made, body)
    message = parse_frame(frame(body))
    assert isinstance(message, CommitFrame)
    who = identity(made)
    tracemalloc.start()
    try:
        with pytest.raises(Refused):
            examine_commit(message, who, HOST)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3_000_000


_MADE, _BODY = two_commits()
_WHO = identity(_MADE)
_GOOD = frame(_BODY)
_CHANGE = st.tuples(st.integers(0, len(_GOOD)), st.integers(0, 3), st.binary(max_size=4))


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, len(_GOOD)), st.integers(0, 3), st.binary(max_size=4)),
        min_size=1,
        max_size=4,
    )
)
def test_no_change_to_a_frame_makes_another_commit_of_it(changes: list[tuple[int, int, bytes]]):
    data = bytearray(_GOOD)
    for at, length, new in changes:
        data[at : at + length] = new
    with suppress(Refused):
        message = parse_frame(bytes(data))
        if isinstance(message, CommitFrame):
            found = verify_commit(message, _WHO)
            assert found.commit.cid == _BODY["commit"]
            assert {each.path: each.cid for each in found.changes} == {
                op["path"]: op["cid"] for op in _BODY["ops"]
            }
