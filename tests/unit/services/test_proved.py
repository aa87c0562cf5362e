"""What a receipt names as unproved where very much is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weighbridge.fold.grades import are_in_order, name
from weighbridge_services.ingest import proved
from weighbridge_services.ingest.proved import unproved_in


@given(st.sets(st.integers(0, 300)), st.integers(0, 310))
def test_all_that_is_unproved_is_named_however_much_it_is(seqs: set[int], size: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(proved, "MANY", 16)
        spans = unproved_in(sorted(seqs), size)
    assert are_in_order(spans, size)
    assert all(name(spans, seq) for seq in seqs if seq < size)


def test_more_than_is_taken_apart_names_what_was_before_and_nothing_new(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(proved, "MANY", 4)
    seqs = [*range(0, 100, 2), 200, 300, 400]
    assert unproved_in(seqs, 1_000) == ((0, 99), (200, 201), (300, 301), (400, 401))
    assert unproved_in(seqs, 50) == ((0, 50),)
    assert unproved_in(seqs, 0) == ()


def test_who_is_dark_hides_no_end_of_another_s_record() -> None:
    """A hundred dark records, and between the newest the end of somebody else's: it alone is not named."""
    dark = [*range(0, 10_000, 100), 10_001, 10_003]
    assert name(unproved_in(dark, 10_004), 10_002)
    assert not name(unproved_in(dark, 10_004, [10_002]), 10_002)
