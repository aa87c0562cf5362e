"""Who agrees with whom, and what a difference is: decided without a broker."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.errors import Refused
from weighbridge.fold import encode_delta
from weighbridge.identity import Policy, parse_policy
from weighbridge.log.merkle import MerkleLog
from weighbridge_services.cross_check.decide import (
    Agreed,
    Side,
    agreement,
    better,
    differing,
    differing_cells,
    foreign_pin,
    groups,
    is_borne_out,
    is_outvoted,
    kind_of,
    manifest,
    read_side,
)

A, B, C, D = (f"did:key:{name}" for name in "abcd")
ONE, TWO, THREE = (bytes([n]) * 32 for n in (1, 2, 3))


def policy(quorum: int, *dids: str) -> Policy:
    found, problems = parse_policy({"dids": [f"did:plc:{d[-1] * 24}" for d in dids], "quorum": quorum})
    assert found is not None, problems
    return Policy(dids, quorum)


THREE_OF_FOUR = policy(3, A, B, C, D)

# --- agreement --------------------------------------------------------------------------------------------------


def test_the_quorum_that_was_in_fact_reached_is_said() -> None:
    found = agreement("o", 5, {A: ONE, B: ONE, C: ONE, D: TWO}, THREE_OF_FOUR)
    assert found is not None
    assert (found.root, found.operators, found.reached) == (ONE, (A, B, C), True)
    assert found.tallies == ({"path": "$.policy", "signed": 3, "quorum": 3, "of": 4},)


def test_a_quorum_that_is_not_reached_is_never_called_one() -> None:
    found = agreement("o", 5, {A: ONE, B: ONE, D: TWO}, THREE_OF_FOUR)
    assert found is not None
    assert not found.reached
    assert not agreement("o", 5, {A: ONE, B: ONE, C: ONE}, None).reached  # type: ignore[union-attr]
    assert agreement("o", 5, {}, THREE_OF_FOUR) is None


def test_a_reached_quorum_is_not_displaced_by_a_larger_size_that_has_none() -> None:
    settled = Agreed("o", 5, ONE, (A, B, C), True)
    assert not better(Agreed("o", 9, ONE, (A, B), False), settled)
    assert better(Agreed("o", 9, ONE, (A, B, C), True), settled)
    assert better(Agreed("o", 5, ONE, (A, B, C, D), True), settled)
    assert better(Agreed("another", 1, ONE, (A, B, C), True), settled)
    assert better(settled, None)


def test_who_differs_is_seen_from_ones_own_root() -> None:
    roots = {A: ONE, B: TWO, C: ONE, D: THREE}
    assert differing(roots, A) == [B, D]
    assert differing(roots, "did:key:nobody") == []
    assert groups(roots) == {ONE: (A, C), TWO: (B,), THREE: (D,)}


@pytest.mark.parametrize(
    ("roots", "outvoted"),
    [
        pytest.param({A: TWO, B: ONE, C: ONE, D: ONE}, True, id="three of the others agree"),
        pytest.param({A: TWO, B: ONE, C: ONE}, False, id="two of the others, no quorum"),
        pytest.param({A: ONE, B: ONE, C: ONE, D: TWO}, False, id="among the quorum"),
        pytest.param({A: TWO, B: TWO, C: ONE, D: ONE}, False, id="two against two"),
        pytest.param({B: ONE, C: ONE, D: ONE}, False, id="has said nothing"),
    ],
)
def test_only_a_quorum_for_another_root_outvotes(roots: dict[str, bytes], outvoted: bool) -> None:
    assert is_outvoted(roots, A, THREE_OF_FOUR) is outvoted
    assert not is_outvoted(roots, A, None)


@given(st.dictionaries(st.sampled_from([A, B, C, D]), st.sampled_from([ONE, TWO, THREE])))
def test_with_a_safe_quorum_nobody_is_outvoted_and_reaches_it_too(roots: dict[str, bytes]) -> None:
    found = agreement("o", 1, roots, THREE_OF_FOUR)
    for did in roots:
        if is_outvoted(roots, did, THREE_OF_FOUR):
            assert found is not None
            assert found.reached
            assert did not in found.operators


def test_another_pin_is_told_only_once_one_has_folded_as_far() -> None:
    assert foreign_pin("theirs", 5, ["ours"], 5)
    assert not foreign_pin("theirs", 6, ["ours"], 5), "a root that moves the game may lie ahead"
    assert not foreign_pin("ours", 5, ["ours"], 9)
    assert not foreign_pin("theirs", None, ["ours"], 9)


# --- differences ------------------------------------------------------------------------------------------------


def side(entry: bytes = b"\xa0", **cells: Any) -> Side:
    made = {key.replace("__", "/"): None if v is None else codec.encode(v) for key, v in cells.items()}
    delta = encode_delta([(k, None if v is None else Cid.of(v)) for k, v in sorted(made.items())])
    leaf = Cid.of(entry).raw + Cid.of(delta).raw
    return Side(leaf, delta, made, [], 1, entry=entry)


def test_the_kind_of_a_difference() -> None:
    assert kind_of(side(b"\x01", x=1), side(b"\x02", x=1)) == "entry"
    assert kind_of(side(x=1), side(x=2)) == "delta"
    ours, theirs = side(**{"_/pending/a": None}, x=1), side(x=2)
    assert kind_of(ours, theirs) == "evidence"
    assert differing_cells(ours, theirs) == ["_/pending/a", "x"]


def test_cells_that_only_one_changed_differ_too_also_where_it_deleted_them() -> None:
    assert differing_cells(side(x=1, y=None), side(x=1)) == ["y"]
    assert differing_cells(side(x=1), side(x=1)) == []


def placed(shown: Side, index: int = 2, size: int = 5) -> tuple[Side, bytes]:
    log = MerkleLog()
    for number in range(size):
        log.append(shown.leaf if number == index else bytes([number]))
    return Side(shown.leaf, shown.delta, shown.cells, log.inclusion(index), size, shown.entry), log.root()


def test_what_another_node_shows_must_be_what_it_signed() -> None:
    shown, root = placed(side(x=1))
    assert is_borne_out(shown, 2, 5, root)
    read = read_side(codec.encode(shown))
    assert is_borne_out(read, 2, 5, root)


@pytest.mark.parametrize("what", ["delta", "entry", "cells"])
def test_what_does_not_hash_to_the_leaf_is_not_borne_out(what: str) -> None:
    shown, root = placed(side(x=1))
    other = {"delta": side(x=2).delta, "entry": b"\x01", "cells": {"x": codec.encode(2)}}[what]
    forged = Side(**{**{f: getattr(shown, f) for f in shown.__struct_fields__}, what: other})
    assert not is_borne_out(forged, 2, 5, root)


def test_a_leaf_that_is_not_in_the_signed_transcript_is_refused() -> None:
    shown, _ = placed(side(x=1))
    with pytest.raises(Refused):
        is_borne_out(shown, 2, 5, bytes(32))


def test_a_bundle_holds_both_sides_and_every_block_that_they_name() -> None:
    ours, theirs = side(x=1, gone=None), side(x=2)
    value, blocks = manifest("at://g", "o", 5, 2, "delta", 3, [(A, "note a", ours), (B, "note b", theirs)])
    assert all(Cid.of(data) == cid for cid, data in blocks.items())
    named = {
        cid
        for each in value["sides"]
        for cid in [each["delta"], each["entry"], *each["cells"].values()]
        if cid
    }
    assert named == set(blocks)
    assert codec.decode(codec.encode(value)) == value
