"""What a receipt names as unproved, when a contradiction is believed, and for how long entries wait for answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weighbridge.fold.grades import are_in_order, name
from weighbridge.ports import Vouched
from weighbridge_services.ingest import proved, proving
from weighbridge_services.ingest.proved import CONFIRMED, SETTLED, Doubt, doubt_of, unproved_in


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


NOT_IN_THE_LOG = Vouched("contradicted", "never its key", "plc-log")
LISTED = 1_700_000_000_000_000
SETTLES = LISTED + SETTLED


def test_a_history_says_nothing_against_a_lister_until_the_listing_is_settled_and_it_is_said_again() -> None:
    assert doubt_of(NOT_IN_THE_LOG, None, LISTED, SETTLES - 1) == Doubt(None, SETTLES)
    early = doubt_of(NOT_IN_THE_LOG, Doubt(None, SETTLES), LISTED, SETTLES - 1)
    assert early == Doubt(None, SETTLES)
    first = doubt_of(NOT_IN_THE_LOG, early, LISTED, SETTLES)
    assert first == Doubt(SETTLES, SETTLES + CONFIRMED)
    assert doubt_of(NOT_IN_THE_LOG, first, LISTED, SETTLES + CONFIRMED - 1) == first
    assert doubt_of(NOT_IN_THE_LOG, first, LISTED, SETTLES + CONFIRMED) is None


def test_what_was_listed_long_ago_is_doubted_once_before_it_is_believed() -> None:
    assert doubt_of(NOT_IN_THE_LOG, None, LISTED, 2 * LISTED) == Doubt(2 * LISTED, 2 * LISTED + CONFIRMED)


def test_that_a_did_key_is_another_s_key_is_believed_at_once() -> None:
    assert doubt_of(Vouched("contradicted", "its own key", "did-key"), None, LISTED, LISTED) is None


@pytest.mark.parametrize(("margin", "seconds"), [(3, 0.5), (15, 2.5), (600, 3.0), (None, 0.5)])
def test_nothing_waits_for_longer_than_a_sixth_of_the_margin(margin: int | None, seconds: float) -> None:
    assert proving.patience(margin) == seconds
