from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weighbridge.log import MerkleLog, first_difference
from weighbridge.log.errors import RangeRefused


def two_logs(size: int, differing: set[int]) -> tuple[MerkleLog, MerkleLog]:
    ours, theirs = MerkleLog(), MerkleLog()
    for index in range(size):
        ours.append(b"leaf %d" % index)
        theirs.append(b"other %d" % index if index in differing else b"leaf %d" % index)
    return ours, theirs


class Counted:
    """The other operator, who counts how often it is asked."""

    def __init__(self, log: MerkleLog) -> None:
        self.log = log
        self.asked = 0

    def subtree_root(self, start: int, end: int) -> bytes:
        self.asked += 1
        return self.log.subtree_root(start, end)


def bound(size: int) -> int:
    """⌈log2 size⌉ + 1."""
    return (size - 1).bit_length() + 1


@pytest.mark.parametrize("size", range(1, 40))
def test_the_first_differing_leaf_is_found_within_the_bound_wherever_it_is(size):
    for index in range(size):
        ours, theirs = two_logs(size, {index, size - 1})
        counted = Counted(theirs)
        found = first_difference(ours.subtree_root, counted.subtree_root, size)
        assert found is not None
        assert found.index == index
        assert found.exchanges == counted.asked <= bound(size)


@given(st.integers(1, 700), st.data())
def test_of_many_differing_leaves_the_first_is_found(size, data):
    differing = data.draw(st.sets(st.integers(0, size - 1), min_size=1))
    ours, theirs = two_logs(size, differing)
    found = first_difference(ours.subtree_root, theirs.subtree_root, size)
    assert found is not None
    assert found.index == min(differing)
    assert found.exchanges <= bound(size)


@pytest.mark.parametrize("size", [0, 1, 2, 7, 64, 65])
def test_equal_logs_do_not_differ_and_are_asked_about_once(size):
    ours, theirs = two_logs(size, set())
    counted = Counted(theirs)
    assert first_difference(ours.subtree_root, counted.subtree_root, size) is None
    assert counted.asked == min(size, 1)


@pytest.mark.parametrize("size", [-1, None, True, "5"])
def test_a_size_that_is_none_is_refused(size):
    ours, theirs = two_logs(1, set())
    with pytest.raises(RangeRefused):
        first_difference(ours.subtree_root, theirs.subtree_root, size)
