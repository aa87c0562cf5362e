"""Nodes and proofs that come from others: the canonical ones are read, everything else is refused by name."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from weighbridge.cid import Cid
from weighbridge.codec import decode, encode
from weighbridge.tree import Tree, diff, key_depth, load, lookup, verify
from weighbridge.tree.errors import (
    BlockExtra,
    BlockMismatch,
    BlockMissing,
    NodeDepth,
    NodeEmpty,
    NodeEncoding,
    NodeOrder,
    NodePrefix,
    NodeTooLarge,
    TreeKey,
    TreeRefused,
)

VALUE, OTHER = Cid.of(b"value"), Cid.of(b"other")


def keys_of(depth: int, prefix: str = "k"):
    return (f"{prefix}{n:05}" for n in itertools.count() if key_depth(f"{prefix}{n:05}") == depth)


LOW = list(itertools.islice(keys_of(0), 5))
HIGH = list(itertools.islice(keys_of(1), 3))
HIGHER = list(itertools.islice(keys_of(2), 1))


def entry(key: str, after: Cid | None = None, shared: int = 0, value: object = VALUE) -> dict:
    return {"k": key.encode()[shared:], "p": shared, "t": after, "v": value}


def node(*entries: dict, left: Cid | None = None) -> bytes:
    return encode({"e": list(entries), "l": left})


def blocks_of(*blocks: bytes) -> dict[Cid, bytes]:
    return {Cid.of(block): block for block in blocks}


def shared(one: str, two: str) -> int:
    return len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False))))


def row(*keys: str) -> list[dict]:
    """Entries of these keys with the prefixes they must have."""
    pairs = itertools.pairwise(["", *keys])
    return [entry(key, shared=shared(before, key)) for before, key in pairs]


def test_what_the_refusals_below_vary_is_accepted_as_it_stands():
    assert list(load(blocks_of(node(*row(*LOW[:2]))), Cid.of(node(*row(*LOW[:2])))).items()) == [
        (LOW[0], VALUE),
        (LOW[1], VALUE),
    ]


GOOD = node(*row(*LOW[:2]))
LEFT = node(*row(*[key for key in LOW if key < HIGH[0]]))
BEFORE_ALL = node(*row(*itertools.islice(keys_of(0, "j"), 1)))
AFTER_ALL = node(*row(*itertools.islice(keys_of(0, "l"), 1)))
EMPTY = node()


@pytest.mark.parametrize(
    ("block", "error"),
    [
        pytest.param(b"", NodeEncoding, id="nothing"),
        pytest.param(b"\x80", NodeEncoding, id="a list"),
        pytest.param(GOOD[:-1], NodeEncoding, id="a byte short"),
        pytest.param(GOOD + b"\x00", NodeEncoding, id="a trailing byte"),
        pytest.param(GOOD.replace(b"\x61e\x82", b"\x61e\x98\x02"), NodeEncoding, id="a count too long"),
        pytest.param(GOOD.replace(b"ap\x00", b"ap\x18\x00"), NodeEncoding, id="a number too long"),
        pytest.param(GOOD.replace(b"\x61e\x82", b"\x61e\x83"), NodeEncoding, id="an entry too few"),
        pytest.param(GOOD.replace(b"\x61e\x82", b"\x61e\x9f"), NodeEncoding, id="a list without end"),
        pytest.param(
            GOOD.replace(b"\x61e\x82", b"\x61e\x9a\xff\xff\xff\xff"), NodeEncoding, id="a huge count"
        ),
        pytest.param(encode({"e": []}), NodeEncoding, id="no l"),
        pytest.param(encode({"e": [], "l": None, "x": 1}), NodeEncoding, id="a field too many"),
        pytest.param(encode({"e": {}, "l": None}), NodeEncoding, id="entries that are no list"),
        pytest.param(encode({"e": [{"k": b"k", "p": 0, "v": VALUE}], "l": None}), NodeEncoding, id="no t"),
        pytest.param(
            encode({"e": [entry(LOW[0]) | {"k": LOW[0]}], "l": None}), NodeEncoding, id="a text key"
        ),
        pytest.param(encode({"e": [entry(LOW[0]) | {"p": -1}], "l": None}), NodeEncoding, id="p below 0"),
        pytest.param(node(entry(LOW[0], value=b"v")), NodeEncoding, id="a value that is no link"),
        pytest.param(
            node(entry(LOW[0]), left=Cid.of(b"", 0x55)), NodeEncoding, id="a subtree that is a raw block"
        ),
        pytest.param(
            GOOD.replace(b"\x01\x71\x12\x20", b"\x01\x70\x12\x20"), NodeEncoding, id="a value of dag-pb"
        ),
        pytest.param(node(entry(LOW[0]) | {"p": 1}), NodePrefix, id="p at the first entry"),
        pytest.param(node(entry(LOW[0]), entry(LOW[1])), NodePrefix, id="p shorter than it can be"),
        pytest.param(
            node(entry(LOW[0]), entry(LOW[1], shared=shared(*LOW[:2]) - 1)), NodePrefix, id="p one too short"
        ),
        pytest.param(
            node(entry(LOW[0]), entry(LOW[1]) | {"p": 60}), NodePrefix, id="p beyond the key before"
        ),
        pytest.param(node(*row(LOW[1], LOW[0])), NodeOrder, id="keys that decrease"),
        pytest.param(node(*row(LOW[0], LOW[0])), NodeOrder, id="a key twice"),
        pytest.param(node(*row(LOW[0] + "a", LOW[0])), NodeOrder, id="a key after one it begins"),
        pytest.param(node(*row(*sorted([LOW[0], HIGH[0]]))), NodeDepth, id="two depths"),
        pytest.param(node(*row(LOW[0]), left=Cid.of(EMPTY)), NodeDepth, id="a subtree below the bottom"),
        pytest.param(node(left=Cid.of(GOOD)), NodeEmpty, id="a root without keys"),
        pytest.param(node(entry("")), TreeKey, id="an empty key"),
        pytest.param(node(entry("ä")), TreeKey, id="a key beyond ASCII"),
        pytest.param(node(entry("k" * 1025)), TreeKey, id="a key too long"),
        pytest.param(node(entry(HIGH[0]), left=Cid.of(EMPTY)), NodeEmpty, id="an empty node below the root"),
        pytest.param(node(entry(HIGH[0], Cid.of(LEFT))), NodeOrder, id="smaller keys after"),
        pytest.param(node(entry(HIGH[0], Cid.of(BEFORE_ALL))), NodeOrder, id="much smaller keys after"),
        pytest.param(node(entry(HIGH[0]), left=Cid.of(AFTER_ALL)), NodeOrder, id="larger keys before"),
        pytest.param(node(entry(HIGHER[0]), left=Cid.of(BEFORE_ALL)), NodeDepth, id="a level left out"),
        pytest.param(b"\xa2\x61e\x80\x61l\xf6" * 400_000, NodeTooLarge, id="too large"),
    ],
)
def test_a_node_that_is_not_canonical_is_refused(block, error):
    blocks = blocks_of(block, GOOD, LEFT, BEFORE_ALL, AFTER_ALL, EMPTY)
    with pytest.raises(error) as caught:
        load(blocks, Cid.of(block))
    assert type(caught.value) is error
    # A proof is refused for the same reason, wherever its path meets the fault.
    if error not in (NodeOrder, NodeDepth, NodeEmpty):
        with pytest.raises(error):
            verify(Cid.of(block), LOW[0], [block])


@pytest.mark.parametrize(
    ("root", "below", "key", "error"),
    [
        pytest.param(node(entry(HIGH[0]), left=Cid.of(EMPTY)), EMPTY, "a", NodeEmpty, id="an empty node"),
        pytest.param(node(entry(HIGH[0], Cid.of(LEFT))), LEFT, "zzz", NodeOrder, id="smaller keys after"),
        pytest.param(
            node(entry(HIGHER[0]), left=Cid.of(BEFORE_ALL)), BEFORE_ALL, "a", NodeDepth, id="a level less"
        ),
        pytest.param(
            node(*row(LOW[0]), left=Cid.of(BEFORE_ALL)), BEFORE_ALL, "a", NodeDepth, id="below the bottom"
        ),
    ],
)
def test_a_proof_through_a_node_out_of_place_is_refused(root, below, key, error):
    with pytest.raises(error):
        verify(Cid.of(root), key, [root, below])


def test_the_empty_tree_is_loaded_and_proves_that_nothing_is_there():
    assert load(blocks_of(EMPTY), Cid.of(EMPTY)).root == Tree.empty().root
    assert verify(Tree.empty().root, "k", [EMPTY]) is None


ITEMS = {f"cell/{number:03}": Cid.of(b"%d" % number) for number in range(300)}
TREE = Tree.build(ITEMS)
BLOCKS = dict(TREE.blocks())


def test_presence_and_absence_are_proved():
    for key in [*list(ITEMS)[::10], "cell/0005", "cell", "z", "a"]:
        proof = TREE.prove(key)
        assert verify(TREE.root, key, proof) == ITEMS.get(key)
        assert lookup(TREE.root, key, BLOCKS) == ITEMS.get(key)
        assert len(proof) <= TREE.level + 1


@given(st.sampled_from([*list(ITEMS)[::7], "cell/0005", "z"]), st.data())
def test_a_proof_with_any_byte_changed_is_refused(key, data):
    proof = TREE.prove(key)
    at = data.draw(st.integers(0, len(proof) - 1))
    place = data.draw(st.integers(0, len(proof[at]) - 1))
    flip = data.draw(st.integers(1, 255))
    proof[at] = proof[at][:place] + bytes([proof[at][place] ^ flip]) + proof[at][place + 1 :]
    with pytest.raises(BlockMismatch):
        verify(TREE.root, key, proof)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        pytest.param(lambda proof: proof[:-1], BlockMissing, id="the last left out"),
        pytest.param(lambda proof: [], BlockMissing, id="all left out"),
        pytest.param(lambda proof: proof[1:], BlockMismatch, id="the first left out"),
        pytest.param(lambda proof: [*proof, proof[-1]], BlockExtra, id="the last twice"),
        pytest.param(lambda proof: [*proof, b""], BlockExtra, id="one too many"),
        pytest.param(lambda proof: proof[::-1], BlockMismatch, id="upside down"),
    ],
)
def test_a_proof_of_other_blocks_is_refused(change, error):
    key = next(key for key in ITEMS if key_depth(key) == 0)
    with pytest.raises(error):
        verify(TREE.root, key, change(TREE.prove(key)))


def test_a_proof_holds_under_no_other_root():
    with pytest.raises(BlockMismatch):
        verify(OTHER, "cell/000", TREE.prove("cell/000"))
    with pytest.raises(NodeEncoding):
        verify(Cid.of(b"", 0x55), "cell/000", [b""])


def test_a_tree_is_loaded_from_its_blocks_among_others():
    assert load({**BLOCKS, OTHER: b"other"}, TREE.root).root == TREE.root
    assert dict(load(BLOCKS, TREE.root).items()) == ITEMS


def test_a_block_that_is_missing_or_another_is_refused():
    for cid, known in BLOCKS.items():
        with pytest.raises(BlockMissing):
            load({other: block for other, block in BLOCKS.items() if other != cid}, TREE.root)
        with pytest.raises(BlockMismatch):
            load({**BLOCKS, cid: known + b"\x00"}, TREE.root)
    with pytest.raises(BlockMissing):
        lookup(TREE.root, "cell/000", {})


def test_a_partly_loaded_tree_reads_and_changes_what_it_has_and_refuses_the_rest():
    key = next(key for key in ITEMS if key_depth(key) == 0)
    part = load(blocks_of(*TREE.prove(key)), TREE.root, partial=True)
    assert part.root == TREE.root
    assert part.get(key) == ITEMS[key]
    assert part.update({key: OTHER}).root == TREE.update({key: OTHER}).root
    with pytest.raises(BlockMissing):
        list(part.items())
    with pytest.raises(BlockMissing):
        list(part.blocks())
    with pytest.raises(BlockMissing):
        part.update(dict.fromkeys(ITEMS))
    with pytest.raises(BlockMissing):
        part.prove("cell/299")
    assert [found.key for found in diff(part, part.update({key: OTHER}))] == [key]


def flipped(at: int, bit: int) -> bytes:
    block = BLOCKS[TREE.root]
    at %= len(block)
    return block[:at] + bytes([block[at] ^ 1 << bit]) + block[at + 1 :]


@settings(max_examples=200)
@given(st.binary(max_size=120) | st.builds(flipped, st.integers(0), st.integers(0, 7)))
def test_any_block_is_the_one_encoding_of_its_node_or_refused(block):
    try:
        tree = load(blocks_of(block), Cid.of(block), partial=True)
    except TreeRefused:
        return
    assert tree.root == Cid.of(block)
    assert encode(decode(block)) == block


def test_two_trees_differ_in_what_was_changed_and_nothing_else():
    after = TREE.update({"cell/000": OTHER, "cell/111": None, "new": VALUE, "cell/299": ITEMS["cell/299"]})
    assert list(diff(TREE, after)) == [
        ("cell/000", ITEMS["cell/000"], OTHER),
        ("cell/111", ITEMS["cell/111"], None),
        ("new", None, VALUE),
    ]
    assert list(diff(TREE, TREE)) == []
    assert [found.key for found in diff(Tree.empty(), TREE)] == sorted(ITEMS)
    assert [found.key for found in diff(TREE, Tree.empty())] == sorted(ITEMS)


def test_what_two_trees_share_is_not_read_to_compare_them():
    key = list(ITEMS)[150]
    after = TREE.update({key: OTHER})
    proof = blocks_of(*TREE.prove(key))
    part = load(proof, TREE.root, partial=True)
    assert [found.key for found in diff(part, after)] == [key]
