"""What is kept of what a day's log left out: within which bounds, and what becomes of it the next day."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from weighbridge_services.ingest import leftovers
from weighbridge_services.ingest.leftovers import Leftover, kept_form, outcome, read_kept


def left(number: int, author: str = "did:key:a", stranger: bool = False, data: bytes = b"") -> Leftover:
    data = data or number.to_bytes(4, "big")
    return Leftover(number, data, "shelf", True, f"at://{author}/c/{number}", author, stranger, 7, 40)


def kept_of(*each: Leftover) -> dict[str, Leftover]:
    return {one.cid: one for one in each}


def numbers(kept: dict[str, Leftover]) -> list[int]:
    return [each.order for each in kept.values()]


def take(*each: Leftover) -> Sequence[tuple[Leftover, bool]]:
    return [(one, True) for one in each]


def test_a_ledger_keeps_all_of_it() -> None:
    assert read_kept(kept_form(left(3, stranger=True))) == left(3, stranger=True)


def test_what_was_listed_is_kept_no_more_and_what_was_left_out_again_keeps_its_place() -> None:
    first, second = left(1), left(2)
    again = second._replace(order=9, day=8, size=50)
    made = outcome(kept_of(first, second), [(first, False), (again, True)])
    assert made.gone == (first.cid,)
    assert made.kept == kept_of(second._replace(day=8, size=50))
    assert made.written == tuple(made.kept.values())
    assert made.lost == 0


def test_one_author_fills_no_more_than_its_own_room() -> None:
    made = outcome({}, take(*(left(n) for n in range(70)), left(99, "did:key:b")))
    assert numbers(made.kept) == [*range(64), 99]
    assert made.lost == 6


def test_bytes_of_one_author_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "AUTHOR_BYTES", 10)
    made = outcome({}, take(left(1, data=b"1" * 6), left(2, data=b"2" * 5), left(3, data=b"3" * 4)))
    assert (numbers(made.kept), made.lost) == ([1, 3], 1)


def test_authors_without_standing_have_little_each_and_half_together() -> None:
    many = [left(n, f"did:key:{n // 5}", stranger=True) for n in range(1_000)]
    made = outcome({}, take(*many, left(1_001)))
    assert sum(each.author == "did:key:0" for each in made.kept.values()) == 4
    assert sum(each.stranger for each in made.kept.values()) == 512
    assert numbers(made.kept)[-1] == 1_001
    assert made.lost == 488


@pytest.mark.parametrize(("most", "most_bytes"), [(3, 1_000), (1_000, 12)], ids=["records", "bytes"])
def test_all_of_it_is_bounded(monkeypatch: pytest.MonkeyPatch, most: int, most_bytes: int) -> None:
    monkeypatch.setattr(leftovers, "MOST", most)
    monkeypatch.setattr(leftovers, "MOST_BYTES", most_bytes)
    made = outcome({}, take(*(left(n, f"did:key:{n}") for n in range(5))))
    assert (numbers(made.kept), made.lost) == ([0, 1, 2], 2)


def test_what_is_listed_makes_room_for_what_comes() -> None:
    full = kept_of(*(left(n) for n in range(64)))
    made = outcome(full, [(left(0), False), (left(70), True), (left(71), True)])
    assert left(70).cid in made.kept
    assert made.lost == 1
