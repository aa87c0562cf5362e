from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weighbridge.log import (
    EMPTY_ROOT,
    CompactRange,
    MerkleLog,
    leaf_hash,
    node_hash,
    verify_consistency,
    verify_inclusion,
)
from weighbridge.log.errors import (
    ConsistencyRefused,
    FrontierRefused,
    HashRefused,
    InclusionRefused,
    RangeRefused,
)

# The leaves and roots that implementations of RFC 6962 have tested themselves by from its first days on.
KNOWN_LEAVES = [
    "",
    "00",
    "10",
    "2021",
    "3031",
    "40414243",
    "5051525354555657",
    "606162636465666768696a6b6c6d6e6f",
]
KNOWN_ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
LEAVES = [b"leaf %d" % number for number in range(34)]
OTHER = sha256(b"other").digest()


def by_definition(leaves: list[bytes]) -> bytes:
    """MTH as RFC 6962 2.1 defines it, and nothing else."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return sha256(b"\x00" + leaves[0]).digest()
    half = 1
    while half * 2 < len(leaves):
        half *= 2
    return sha256(b"\x01" + by_definition(leaves[:half]) + by_definition(leaves[half:])).digest()


def log_of(leaves: list[bytes]) -> MerkleLog:
    log = MerkleLog()
    for leaf in leaves:
        log.append(leaf)
    return log


LOG = log_of(LEAVES)
SIZES = range(len(LEAVES) + 1)


def test_the_known_roots_of_rfc_6962_come_out():
    log = log_of([bytes.fromhex(leaf) for leaf in KNOWN_LEAVES])
    assert [log.root(size).hex() for size in range(9)] == KNOWN_ROOTS


def test_append_returns_the_index_of_the_leaf():
    log = MerkleLog()
    assert [log.append(b"a"), log.append(b"b"), log.append_hash(OTHER)] == [0, 1, 2]
    assert (log.size, log.leaf(1), log.leaf(2)) == (3, leaf_hash(b"b"), OTHER)


@pytest.mark.parametrize("size", SIZES)
def test_every_past_root_is_what_the_definition_says(size):
    assert LOG.root(size) == by_definition(LEAVES[:size])


@pytest.mark.parametrize("size", SIZES)
def test_every_leaf_is_proved_included(size):
    for index in range(size):
        verify_inclusion(leaf_hash(LEAVES[index]), index, size, LOG.inclusion(index, size), LOG.root(size))


@pytest.mark.parametrize("new", SIZES)
def test_every_earlier_size_is_proved_consistent(new):
    for old in range(new + 1):
        verify_consistency(old, new, LOG.consistency(old, new), LOG.root(old), LOG.root(new))


def test_the_proofs_of_seven_leaves_are_those_of_c2sp():
    a, b, c, d, e, f, g = (leaf_hash(leaf) for leaf in LEAVES[:7])
    h, i, j = node_hash(a, b), node_hash(c, d), node_hash(e, f)
    k, right = node_hash(h, i), node_hash(j, g)
    assert LOG.inclusion(0, 7) == [b, i, right]
    assert LOG.inclusion(3, 7) == [c, h, right]
    assert LOG.inclusion(6, 7) == [j, k]
    assert LOG.consistency(3, 7) == [c, d, h, right]
    assert LOG.consistency(4, 7) == [right]
    assert LOG.consistency(6, 7) == [j, g, k]


def broken_proofs(proof: list[bytes]) -> list[list[bytes]]:
    """Every way to get a proof wrong by one hash."""
    places = range(len(proof))
    flipped = [[*proof[:at], bytes([proof[at][0] ^ 1]) + proof[at][1:], *proof[at + 1 :]] for at in places]
    dropped = [[*proof[:at], *proof[at + 1 :]] for at in places]
    doubled = [[*proof[:at], proof[at], *proof[at:]] for at in places]
    swapped = [[*proof[:at], proof[at + 1], proof[at], *proof[at + 2 :]] for at in places[:-1]]
    return [*flipped, *dropped, *doubled, *swapped, [*proof, OTHER], [OTHER, *proof]]


@pytest.mark.parametrize("size", range(1, 18))
def test_an_inclusion_proof_wrong_by_one_hash_is_refused(size):
    for index in range(size):
        for proof in broken_proofs(LOG.inclusion(index, size)):
            with pytest.raises(InclusionRefused):
                verify_inclusion(LOG.leaf(index), index, size, proof, LOG.root(size))


@pytest.mark.parametrize("size", range(2, 18))
def test_an_inclusion_proof_holds_for_no_other_index_leaf_or_root(size):
    for index in range(size):
        proof = LOG.inclusion(index, size)
        for other in (*range(size), -1, size, size + 1, True, None):
            if other is True or other != index:
                with pytest.raises(InclusionRefused):
                    verify_inclusion(LOG.leaf(index), other, size, proof, LOG.root(size))
        with pytest.raises(InclusionRefused):
            verify_inclusion(OTHER, index, size, proof, LOG.root(size))
        with pytest.raises(InclusionRefused):
            verify_inclusion(LOG.leaf(index), index, size, proof, OTHER)


def test_an_inner_node_is_not_proved_to_be_a_leaf_of_a_larger_log():
    inner = node_hash(LOG.leaf(0), LOG.leaf(1))
    with pytest.raises(InclusionRefused):
        verify_inclusion(inner, 0, 4, LOG.inclusion(0, 4)[1:], LOG.root(4))


def test_a_proof_of_larger_logs_proves_nothing_about_smaller_ones_of_the_same_shape():
    with pytest.raises(InclusionRefused):
        verify_inclusion(LOG.leaf(3), 1, 2, LOG.inclusion(3, 4), LOG.root(4))
    with pytest.raises(ConsistencyRefused):
        verify_consistency(6, 7, LOG.consistency(14, 15), LOG.root(14), LOG.root(15))


@pytest.mark.parametrize("new", range(18))
def test_a_consistency_proof_wrong_by_one_hash_or_root_is_refused(new):
    for old in range(new + 1):
        proof, first, second = LOG.consistency(old, new), LOG.root(old), LOG.root(new)
        for broken in broken_proofs(proof):
            with pytest.raises(ConsistencyRefused):
                verify_consistency(old, new, broken, first, second)
        with pytest.raises(ConsistencyRefused):
            verify_consistency(old, new, proof, OTHER, second)
        if old:
            with pytest.raises(ConsistencyRefused):
                verify_consistency(old, new, proof, first, OTHER)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(5, 4, id="shrinking"),
        pytest.param(-1, 4, id="negative"),
        pytest.param(1, 1 << 63, id="beyond 63 bits"),
        pytest.param(True, 4, id="a truth"),
        pytest.param(None, 4, id="nothing"),
    ],
)
def test_sizes_that_no_logs_have_are_refused_in_a_consistency_proof(old, new):
    with pytest.raises(ConsistencyRefused):
        verify_consistency(old, new, [], OTHER, OTHER)


@pytest.mark.parametrize("digest", [b"", b"\x00" * 31, b"\x00" * 33, bytearray(32), "x" * 32, None])
def test_what_is_no_hash_is_refused_wherever_it_stands(digest):
    with pytest.raises(HashRefused):
        verify_inclusion(digest, 0, 1, [], OTHER)
    with pytest.raises(HashRefused):
        verify_inclusion(OTHER, 0, 2, [digest], OTHER)
    with pytest.raises(HashRefused):
        verify_consistency(1, 2, [OTHER], OTHER, digest)
    for log in (MerkleLog(), CompactRange()):
        with pytest.raises(HashRefused):
            log.append_hash(digest)


def test_subtrees_have_the_roots_of_their_leaves():
    for end in SIZES:
        for start in range(end):
            width = 1
            while width < end - start:
                width *= 2
            if start % width:
                with pytest.raises(RangeRefused):
                    LOG.subtree_root(start, end)
            else:
                assert LOG.subtree_root(start, end) == by_definition(LEAVES[start:end])


@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(lambda log: log.root(35), id="root beyond the end"),
        pytest.param(lambda log: log.root(-1), id="root of less than nothing"),
        pytest.param(lambda log: log.root(True), id="root of a truth"),
        pytest.param(lambda log: log.leaf(34), id="leaf beyond the end"),
        pytest.param(lambda log: log.leaf(-1), id="leaf before the start"),
        pytest.param(lambda log: log.inclusion(3, 3), id="leaf beyond the size"),
        pytest.param(lambda log: log.inclusion(0, 35), id="inclusion beyond the end"),
        pytest.param(lambda log: log.consistency(3, 2), id="shrinking"),
        pytest.param(lambda log: log.consistency(-1, 2), id="negative"),
        pytest.param(lambda log: log.subtree_root(0, 0), id="no leaves"),
        pytest.param(lambda log: log.subtree_root(2, 1), id="backwards"),
        pytest.param(lambda log: log.subtree_root(-2, 0), id="subtree before the start"),
        pytest.param(lambda log: log.subtree_root(0, 35), id="subtree beyond the end"),
    ],
)
def test_what_the_log_does_not_have_is_refused(ask):
    with pytest.raises(RangeRefused):
        ask(LOG)


@pytest.mark.parametrize("size", SIZES)
def test_a_restored_log_goes_on_like_the_one_it_was(size):
    part = log_of(LEAVES[:size])
    for restored in (
        MerkleLog.restore(part.leaf_hashes()),
        MerkleLog.restore([leaf_hash(leaf) for leaf in LEAVES[:size]]),
    ):
        for leaf in LEAVES[size:]:
            restored.append(leaf)
        assert [restored.root(at) for at in SIZES] == [LOG.root(at) for at in SIZES]
        assert restored.inclusion(0) == LOG.inclusion(0)


def test_a_row_that_is_no_row_of_hashes_is_refused():
    with pytest.raises(HashRefused):
        MerkleLog.restore(b"\x00" * 33)


@given(st.lists(st.binary(max_size=8), max_size=300), st.data())
def test_a_compact_range_has_the_root_of_the_whole_log_and_survives_being_written(leaves, data):
    cut = data.draw(st.integers(0, len(leaves)))
    first = CompactRange()
    for leaf in leaves[:cut]:
        first.append(leaf)
    second = CompactRange.from_bytes(first.to_bytes())
    third = second.copy()
    for leaf in leaves[cut:]:
        second.append_hash(leaf_hash(leaf))
    log = log_of(leaves)
    assert (first.root(), second.root()) == (log.root(cut), log.root())
    assert (third.size, third.root(), len(second.hashes)) == (cut, log.root(cut), len(leaves).bit_count())


def test_the_root_of_nothing_is_the_hash_of_nothing():
    assert MerkleLog().root() == CompactRange().root() == EMPTY_ROOT


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\x00", id="no list"),
        pytest.param(b"\x82\x00\x80\x00", id="trailing byte"),
        pytest.param(b"\x81\x00", id="no hashes"),
        pytest.param(b"\x82\x20\x80", id="negative size"),
        pytest.param(b"\x82\xf5\x81\x58\x20" + OTHER, id="a truth for a size"),
        pytest.param(b"\x82\x01\x80", id="too few hashes"),
        pytest.param(b"\x82\x00\x81\x58\x20" + OTHER, id="too many hashes"),
        pytest.param(b"\x82\x01\x81\x58\x1f" + OTHER[1:], id="a short hash"),
        pytest.param(b"\x82\x01\x81\x01", id="a number for a hash"),
        pytest.param(b"\x82\x1b\x80\x00\x00\x00\x00\x00\x00\x00\x81\x58\x20" + OTHER, id="beyond 63 bits"),
    ],
)
def test_bytes_that_are_no_compact_range_are_refused(data):
    with pytest.raises(FrontierRefused):
        CompactRange.from_bytes(data)


@given(st.binary(max_size=64))
def test_any_bytes_are_read_as_a_compact_range_or_refused(data):
    try:
        read = CompactRange.from_bytes(data)
    except FrontierRefused:
        return
    assert read.to_bytes() == data
