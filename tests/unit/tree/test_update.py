"""Whatever the history, one content has one tree: held to a rebuild from nothing."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from weighbridge.cid import Cid
from weighbridge.codec import encode
from weighbridge.tree import Tree, diff, key_depth, load, mst, update, verify
from weighbridge.tree.errors import TreeKey, TreeValue
from weighbridge.tree.update import apply

VALUES = [Cid.of(b"%d" % number) for number in range(5)]


def mined(prefix: str, depth: int, count: int) -> list[str]:
    """Keys of this prefix and depth, found by trying."""
    tried = (f"{prefix}{number}" for number in itertools.count())
    return list(itertools.islice((key for key in tried if key_depth(key) == depth), count))


DEEP = [*mined("deep/", 4, 3), *mined("a", 5, 2), *mined("zz", 6, 1)]
MIDDLE = [*mined("m", 2, 4), *mined("cell/", 3, 3)]
KEYS = [*DEEP, *MIDDLE, *(f"cell/{number:02}" for number in range(40)), "a", "~", "cell", "cell/"]
CHANGES = st.dictionaries(st.sampled_from(KEYS), st.sampled_from([*VALUES, None]), max_size=12)


def by_definition(items: dict[str, Cid]) -> Cid:
    """The root of a tree as its definition has it: each node made of its parts, encoded by the codec."""

    def block(keys: list[str], depth: int) -> Cid | None:
        if not keys:
            return None
        own = [at for at, key in enumerate(keys) if key_depth(key) == depth]
        ends = [*own, len(keys)]
        left = block(keys[: ends[0]], depth - 1)
        entries, last = [], ""
        for at, end in itertools.pairwise(ends):
            key = keys[at]
            shared = len(last) - len(last.removeprefix(common(last, key)))
            after = block(keys[at + 1 : end], depth - 1)
            entries.append({"p": shared, "k": key[shared:].encode(), "v": items[key], "t": after})
            last = key
        return Cid.of(encode({"l": left, "e": entries}))

    found = block(sorted(items), max(map(key_depth, items), default=0))
    return found or Cid.of(encode({"l": None, "e": []}))


def common(one: str, two: str) -> str:
    pairs = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False))
    return "".join(pair[0] for pair in pairs)


def test_the_empty_tree_is_one_node_without_entries():
    assert Tree.empty().root == Cid.of(b"\xa2\x61e\x80\x61l\xf6")
    assert list(Tree.empty().items()) == []
    assert len(list(Tree.empty().blocks())) == 1


@given(st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES)))
def test_a_tree_is_what_the_definition_says(items):
    assert Tree.build(items).root == Tree.empty().update(items).root == by_definition(items)


@given(st.lists(CHANGES, max_size=6))
def test_any_history_ends_in_the_tree_of_its_content(history):
    tree, items = Tree.empty(), {}
    for changes in history:
        before = dict(tree.items())
        tree, old = tree.update(changes), tree
        items = {key: value for key, value in {**items, **changes}.items() if value is not None}
        assert dict(old.items()) == before
    assert tree.root == Tree.build(items).root
    assert list(tree.items()) == sorted(items.items())


class Histories(RuleBasedStateMachine):
    """Random batches upon batches, and whole rebuilds beside them."""

    def __init__(self) -> None:
        super().__init__()
        self.tree = Tree.empty()
        self.items: dict[str, Cid] = {}

    def change(self, changes: dict[str, Cid | None]) -> None:
        before = self.items
        self.items = {key: value for key, value in {**before, **changes}.items() if value is not None}
        after = self.tree.update(changes)
        expected = {key: (before.get(key), self.items.get(key)) for key in before.keys() | self.items.keys()}
        found = {key: (was, now) for key, was, now in diff(self.tree, after)}
        assert found == {key: pair for key, pair in expected.items() if pair[0] != pair[1]}
        self.tree = after

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
    def one_content_has_one_tree(self):
        rebuilt = Tree.build(self.items)
        assert self.tree.root == rebuilt.root
        assert self.tree.level == rebuilt.level

    @invariant()
    def it_is_canonical_as_the_strict_reader_sees_it(self):
        assert load(dict(self.tree.blocks()), self.tree.root).root == self.tree.root

    @invariant()
    def every_key_is_found_or_proved_absent(self):
        for key in KEYS[::7]:
            assert self.tree.get(key) == self.items.get(key)
            assert verify(self.tree.root, key, self.tree.prove(key)) == self.items.get(key)


Histories.TestCase.settings = settings(max_examples=40, stateful_step_count=15, deadline=None)
TestHistories = Histories.TestCase


def test_many_neighbours_of_one_depth_make_one_fat_node():
    keys = mined("fat/", 0, 3000)
    tree = Tree.build(dict.fromkeys(keys, VALUES[0]))
    assert len(list(tree.blocks())) == 1
    grown = tree.update(dict.fromkeys(keys[::2], VALUES[1])).update(dict.fromkeys(keys[1::2]))
    assert grown.root == Tree.build(dict.fromkeys(keys[::2], VALUES[1])).root


def test_a_deep_key_stands_on_a_tower_of_empty_nodes_that_goes_with_it():
    tree = Tree.build({f"cell/{number:02}": VALUES[0] for number in range(3)})
    (deep,) = mined("zz", 6, 1)
    tower = tree.update({deep: VALUES[0]})
    assert tower.level == 6
    assert len(list(tower.blocks())) == len(list(tree.blocks())) + 6 - tree.level
    assert tower.update({deep: None}).root == tree.root


def test_emptying_what_hangs_under_a_tower_goes_through_each_level_once(monkeypatch):
    (top,) = mined("0", 7, 1)
    tree = Tree.build({top: VALUES[0], "cell/00": VALUES[0]})
    calls = []

    def counted(node, level, changes):
        calls.append(level)
        return apply(node, level, changes)

    monkeypatch.setattr(update, "apply", counted)
    monkeypatch.setattr(mst, "apply", counted)
    emptied = tree.update({"cell/00": None})
    assert calls == list(range(7, key_depth("cell/00") - 1, -1))
    assert emptied.root == Tree.build({top: VALUES[0]}).root
    assert tree.update({top: None, "cell/00": None}).root == Tree.empty().root


def test_a_value_that_looks_like_a_subtree_is_not_taken_for_it():
    (top,) = mined("m", 1, 1)
    below, after = mined("a", 0, 2), mined("z", 0, 1)
    items = dict.fromkeys([*below, *after], VALUES[0])
    subtree = Tree.build(dict.fromkeys(below, VALUES[0])).root
    tree = Tree.build({**items, top: subtree})
    assert subtree in dict(tree.blocks())
    changed = {below[0]: VALUES[1]}
    assert tree.update(changed).root == Tree.build({**items, top: subtree, **changed}).root
    changed = {below[0]: VALUES[1], top: VALUES[2]}
    assert tree.update(changed).root == Tree.build({**items, **changed}).root


def test_taking_out_what_is_not_there_changes_nothing():
    tree = Tree.build({"a": VALUES[0]})
    assert tree.update({"b": None, DEEP[-1]: None}).root == tree.root
    assert Tree.empty().update({"b": None}).root == Tree.empty().root
    assert tree.update({}) is tree


def test_untouched_nodes_are_shared_between_a_tree_and_the_next():
    tree = Tree.build({f"cell/{number:04}": VALUES[0] for number in range(500)})
    after = tree.update({"cell/0250": VALUES[1]})
    kept = {cid for cid, _ in tree.blocks()} & {cid for cid, _ in after.blocks()}
    assert len(kept) >= len(list(tree.blocks())) - tree.level - 1


@pytest.mark.parametrize(
    "key",
    [
        pytest.param("", id="empty"),
        pytest.param("ä", id="beyond ASCII"),
        pytest.param("k" * 1025, id="too long"),
        pytest.param(b"k", id="bytes"),
        pytest.param(5, id="a number"),
    ],
)
def test_what_is_no_key_is_refused(key):
    with pytest.raises(TreeKey):
        Tree.empty().update({"k": VALUES[0], key: VALUES[0]})
    with pytest.raises(TreeKey):
        Tree.empty().prove(key)
    with pytest.raises(TreeKey):
        verify(Tree.empty().root, key, Tree.empty().prove("k"))


def test_the_longest_key_is_a_key():
    items = {"k" * 1024: VALUES[0], "k" * 1023: VALUES[1]}
    tree = Tree.build(items)
    assert tree.root == by_definition(items)
    assert load(dict(tree.blocks()), tree.root).root == tree.root


@pytest.mark.parametrize("value", ["text", b"bytes", VALUES[0].raw, 5])
def test_what_is_no_cid_is_no_value(value):
    with pytest.raises(TreeValue):
        Tree.empty().update({"k": value})
    with pytest.raises(TreeValue):
        Tree.build({"k": value})


def test_nothing_is_no_value_to_build_with():
    with pytest.raises(TreeValue):
        Tree.build({"k": None})
