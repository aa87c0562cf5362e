"""The tree that a fold changes in place is the tree of its content, whatever the history."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from weighbridge.cid import Cid
from weighbridge.tree import Tree, key_depth, verify
from weighbridge.tree.errors import TreeKey
from weighbridge.tree.node import NODE_LINK
from weighbridge.tree.state import StateTree

VALUES = [Cid.of(b"%d" % number) for number in range(5)]


def mined(prefix: str, depth: int, count: int) -> list[str]:
    """Keys of this prefix and depth, found by trying."""
    tried = (f"{prefix}{number}" for number in itertools.count())
    return list(itertools.islice((key for key in tried if key_depth(key) == depth), count))


LINK_LIKE = NODE_LINK[1:].decode("ascii")
# Keys whose entries hold what a link begins with: behind a length that is the link's own first byte, and without it.
SLY = [f"{LINK_LIKE}{'k' * count}" for count in (1, 30, 31, 32, 33, 207, 463)]
DEEP = [*mined("deep/", 4, 3), *mined("a", 5, 2), *mined("zz", 6, 1)]
MIDDLE = [*mined("m", 2, 4), *mined("cell/", 3, 3), *mined("n", 1, 8)]
KEYS = [*DEEP, *MIDDLE, *SLY, *(f"cell/{number:02}" for number in range(40)), "a", "~", "cell", "cell/"]
CHANGES = st.dictionaries(st.sampled_from(KEYS), st.sampled_from([*VALUES, None]), max_size=12)


class Histories(RuleBasedStateMachine):
    """Random batches upon batches in place, and the content that they leave."""

    def __init__(self) -> None:
        super().__init__()
        self.tree = StateTree()
        self.items: dict[str, Cid] = {}

    def change(self, changes: dict[str, Cid | None]) -> None:
        self.tree.update(changes)
        self.items = {key: value for key, value in {**self.items, **changes}.items() if value is not None}

    @rule(changes=CHANGES)
    def batch(self, changes):
        self.change(changes)

    @rule(key=st.sampled_from(KEYS), value=st.sampled_from([*VALUES, None]))
    def single(self, key, value):
        self.change({key: value})

    @rule(keys=st.sets(st.sampled_from(KEYS), min_size=20))
    def clear(self, keys):
        self.change(dict.fromkeys(keys))

    @rule(keys=st.sets(st.sampled_from(KEYS), min_size=20), value=st.sampled_from(VALUES))
    def fill(self, keys, value):
        self.change(dict.fromkeys(keys, value))

    @invariant()
    def it_has_the_root_of_its_content(self):
        assert self.tree.root == Tree.build(self.items).root

    @invariant()
    def its_proofs_are_those_of_a_tree_built_anew(self):
        rebuilt = Tree.build(self.items)
        for key in KEYS[::5]:
            assert self.tree.prove(key) == rebuilt.prove(key)
            assert verify(self.tree.root, key, self.tree.prove(key)) == self.items.get(key)


Histories.TestCase.settings = settings(max_examples=60, stateful_step_count=15, deadline=None)
TestHistories = Histories.TestCase


@given(st.lists(CHANGES, max_size=4))
def test_it_goes_the_way_of_the_tree_that_is_never_changed(history):
    tree, state = Tree.empty(), StateTree()
    for changes in history:
        tree = tree.update(changes)
        state.update(changes)
        assert state.root == tree.root


def test_a_large_tree_grows_day_by_day_as_if_built_at_once():
    state, items = StateTree(), {}
    for day in range(12):
        changes = {f"act/{who:03}:{day:05}": VALUES[(day + who) % 5] for who in range(0, 400, 1 + day % 3)}
        changes |= {f"sheet/{who:03}": VALUES[day % 5] for who in range(0, 400, 7)}
        gone = {f"act/{who:03}:{day - 1:05}": None for who in range(0, 400, 5)}
        state.update({**changes, **gone})
        items = {key: value for key, value in {**items, **changes, **gone}.items() if value is not None}
        assert state.root == Tree.build(items).root


def test_a_value_that_looks_like_a_subtree_is_not_taken_for_it():
    (top,) = mined("m", 1, 1)
    below, after = mined("a", 0, 2), mined("z", 0, 1)
    items = dict.fromkeys([*below, *after], VALUES[0])
    subtree = Tree.build(dict.fromkeys(below, VALUES[0])).root
    state = StateTree()
    state.update({**items, top: subtree})
    state.update({below[0]: VALUES[1]})
    assert state.root == Tree.build({**items, top: subtree, below[0]: VALUES[1]}).root


def test_a_tree_that_was_emptied_is_the_empty_tree():
    state = StateTree()
    state.update(dict.fromkeys(KEYS, VALUES[0]))
    state.update(dict.fromkeys(KEYS))
    assert state.root == Tree.empty().root
    assert state.prove("cell") == Tree.empty().prove("cell")
    state.update({DEEP[-1]: None})
    assert state.root == Tree.empty().root


@pytest.mark.parametrize("key", ["", "ä", "k" * 1025])
def test_what_is_no_key_is_refused(key):
    state = StateTree()
    with pytest.raises(TreeKey):
        state.update({"k": VALUES[0], key: VALUES[0]})
    assert state.root == Tree.empty().root
    with pytest.raises(TreeKey):
        state.prove(key)
