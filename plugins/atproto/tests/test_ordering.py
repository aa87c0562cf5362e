"""What a fetched repository's records are taken by, since it does not say in which order they came."""

from __future__ import annotations

from atproto_helping import identity
from repo_making import MOVES, Made, frame, tid
from weighbridge.repos import Car, Cid
from weighbridge_atproto.commits import VerifiedCommit, verify_commit
from weighbridge_atproto.frames import CommitFrame, parse_frame
from weighbridge_atproto.hosts import whole_repo
from weighbridge_atproto.ordering import likely_older, place_of, since


def test_the_root_comes_first_then_what_an_account_has_once_then_moves_by_their_time() -> None:
    root = "town.delve.root/one"
    paths = [
        "town.delve.move/3l5aaaaaaaaa2",
        "town.delve.move/a1",
        "town.delve.crew/3l4aaaaaaaaa2",
        "town.delve.sheet/self",
        root,
    ]
    assert sorted(paths, key=lambda each: place_of(each, root)) == [
        root,
        "town.delve.sheet/self",
        "town.delve.move/a1",
        "town.delve.crew/3l4aaaaaaaaa2",
        "town.delve.move/3l5aaaaaaaaa2",
    ]


def told(made: Made, changes: dict[str, object]) -> VerifiedCommit:
    message = parse_frame(frame(made.commit(changes)))
    assert isinstance(message, CommitFrame)
    return verify_commit(message, identity(made))


def test_what_a_state_has_was_so_at_an_earlier_commit_or_came_later() -> None:
    made = Made()
    made.commit({f"{MOVES}/{n}": {"n": n} for n in range(50)})
    commit = told(made, {f"{MOVES}/x": {"n": 0}})
    made.commit({f"{MOVES}/new": {"n": 1}, f"{MOVES}/1": {"n": 11}, f"{MOVES}/2": None})
    state = whole_repo([made.export()], identity(made))
    same = since(commit, state)
    assert [same(f"{MOVES}/{key}") for key in ("0", "49", "new", "1", "2")] == [
        True,
        True,
        False,
        False,
        False,
    ]
    cut = {commit.commit.data: commit.bundle.car.blocks[commit.commit.data]}
    small = commit._replace(bundle=commit.bundle._replace(car=Car(commit.commit.cid, cut)))
    found = [since(small, state)(f"{MOVES}/{n}") for n in range(50)]
    assert None in found
    assert True in found
    assert since(None, state)(f"{MOVES}/0") is None


def test_a_tree_that_a_commit_only_names_and_that_is_none_says_nothing() -> None:
    made = Made()
    commit = told(made, {f"{MOVES}/x": {"n": 0}})
    state = whole_repo([made.export()], identity(made))
    bad = commit.commit._replace(data=Cid.of(b"no node"))
    state = state._replace(car=Car(state.car.root, {**state.car.blocks, bad.data: b"no node"}))
    odd = commit._replace(bundle=commit.bundle._replace(commit=bad))
    assert since(odd, state)(f"{MOVES}/x") is None


def test_a_key_says_when_its_record_was_likely_made() -> None:
    assert likely_older(f"{MOVES}/{tid(5_000_000)}", 5_000_000)
    assert not likely_older(f"{MOVES}/{tid(5_000_001)}", 5_000_000)
    assert likely_older(f"{MOVES}/self", 0)
