"""The incremental fold equals the plain definition of DESIGN §4 at every size, for random games and strikes."""

from __future__ import annotations

from typing import Any

from book import ANN, BOB, DAY, GM, MINUTE, Book, place
from coin import RULES
from hypothesis import given, settings
from hypothesis import strategies as st
from weighbridge.fold import Cells, Fold, MemoryHistory, SnapshotTooYoung, TableView
from weighbridge.fold.table import OVERLAY

ROOT = {"gm": GM, "rules": {"perDay": 2}}


def plain(book: Book, size: int, overlay: dict[str, bytes]) -> dict[str, bytes]:
    """The plain left fold of the first `size` entries, with what was marked by then marked from the start."""
    history = MemoryHistory()
    fold = Fold(book.game, RULES, scenario=True, history=history)
    fold.world.cells = Cells(overlay)
    fold.world.table = TableView(fold.world.cells)
    fold.world.live = False
    for listed in book.entries[:size]:
        history.append(listed)
    for listed in book.entries[:size]:
        fold.world.seq, fold.world.at = listed.entry.seq, listed.entry.at
        fold._core(listed)
    return fold.world.cells.everything()


def struck_by_hand(log: list[tuple[str, str, str]]) -> set[str]:
    """V(n) of a game by the words of DESIGN alone: `log` holds (signer, effect, subject) in order."""
    standing: dict[str, str] = {}
    for signer, effect, subject in log:
        if signer == GM:
            standing[subject] = effect
    return {subject for subject, effect in standing.items() if effect == "strike"}


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["flip", "flip", "dice", "strike", "release", "mercy", "uphold", "tick", "note"]),
        st.sampled_from([ANN, BOB, GM]),
        st.integers(0, 7),
        st.sampled_from([1, 20, 90 * 60, 20 * 3600]),
    ),
    min_size=1,
    max_size=24,
)


def play(actions: list[tuple[str, str, int, int]], after: Any = lambda book, log: None) -> Book:
    book = Book(RULES, root=ROOT, scenario=True)
    flips: list[str] = []
    log: list[tuple[str, str, str]] = []
    after(book, log)
    for kind, who, number, wait in actions:
        subject = flips[number % len(flips)] if flips else ""
        if kind == "flip":
            flips.append(
                book.put(who, "flip", {"call": ("heads", "tails")[number % 2]}, wait=wait * 1_000_000)
            )
        elif kind == "note":
            book.put(who, "note", {"text": f"n{number}"})
        elif kind == "tick":
            book.tick(wait * 1_000_000)
        elif not subject:
            continue
        elif kind == "dice":
            book.dice(subject, 1 + number % 2)
        else:
            log.append((who, kind, subject)) if kind in ("strike", "release") else None
            book.put(who, "move", {"kind": kind, "subject": subject, "answer": "yes"})
        after(book, log)
    return book


@settings(max_examples=60, deadline=None)
@given(ACTIONS)
def test_the_incremental_fold_equals_the_plain_definition_at_every_size(
    actions: list[tuple[str, str, int, int]],
) -> None:
    def check(book: Book, log: list[tuple[str, str, str]]) -> None:
        cells = book.cells()
        overlay = {key: data for key, data in cells.items() if key.startswith(OVERLAY)}
        assert plain(book, len(book.entries), overlay) == cells
        struck = {key for key in cells if key.startswith("_/mark/") and b"struck" in cells[key]}
        by_hand = {f"_/mark/{place(uri)}" for uri in struck_by_hand(log)}
        assert struck == by_hand

    play(actions, check)


@settings(max_examples=60, deadline=None)
@given(ACTIONS)
def test_a_delta_names_the_cells_that_differ_and_no_others(actions: list[tuple[str, str, int, int]]) -> None:
    last: dict[str, bytes] = {}

    def check(book: Book, _log: Any) -> None:
        nonlocal last
        now = book.cells()
        differ = sorted(key for key in {*last, *now} if last.get(key) != now.get(key))
        assert [key for key, _ in book.steps[-1].delta if key != "_/state"] == differ
        last = now

    play(actions, check)


def test_a_strike_lists_no_cell_that_came_out_as_it_was() -> None:
    book = Book(RULES, root=ROOT, scenario=True)
    struck = book.put(ANN, "flip", {"call": "heads"})
    book.put(BOB, "flip", {"call": "heads"})
    book.put(GM, "move", {"kind": "strike", "subject": struck})
    keys = [key for key, _ in book.steps[-1].delta]
    assert f"purse/{ANN}" in keys
    assert f"purse/{BOB}" in book.cells()
    assert [key for key in keys if BOB in key] == []


@settings(max_examples=40, deadline=None)
@given(ACTIONS, st.integers(0, 30))
def test_going_on_from_a_snapshot_gives_the_same_transcript(
    actions: list[tuple[str, str, int, int]], cut: int
) -> None:
    book = play(actions)
    cut = min(cut, len(book.entries))
    first = Fold(book.game, RULES, scenario=True)
    history = MemoryHistory()
    for listed in book.entries:
        history.append(listed)
    for listed in book.entries[:cut]:
        first.fold(listed)
    second = Fold(book.game, RULES, scenario=True, history=history)
    second.restore(first.snapshot())
    for number, listed in enumerate(book.entries[cut:], cut):
        try:
            leaf = second.fold(listed).leaf
        except SnapshotTooYoung:
            return  # a ruling reached behind the snapshot: an older one is to be restored
        assert leaf == book.steps[number].leaf
    assert second.transcript.root() == book.fold.transcript.root()
    assert second.state_root() == book.fold.state_root()


def test_a_strike_frees_what_the_struck_record_used_and_a_release_takes_it_back() -> None:
    book = Book(RULES, root=ROOT, scenario=True)
    first = book.put(ANN, "flip", {"call": "heads"})
    second = book.put(ANN, "flip", {"call": "heads"})
    third = book.put(ANN, "flip", {"call": "heads"})
    assert book.reports(third) == ["over-ration"]
    book.put(GM, "move", {"kind": "strike", "subject": first})
    assert book.reports(first) == ["struck"]
    assert book.reports(third) == []
    book.put(GM, "move", {"kind": "release", "subject": first})
    assert book.reports(first) == []
    assert book.reports(second) == []
    assert book.reports(third) == ["over-ration"]


def test_a_strike_by_a_player_voids_nothing() -> None:
    book = Book(RULES, root=ROOT, scenario=True)
    flip = book.put(ANN, "flip", {"call": "heads"})
    book.put(BOB, "move", {"kind": "strike", "subject": flip})
    assert book.reports(flip) == []


def test_a_strike_after_the_days_to_void_is_too_late() -> None:
    book = Book(RULES, root={**ROOT, "voidDays": 2}, scenario=True)
    flip = book.put(ANN, "flip", {"call": "heads"})
    in_time = book.put(GM, "move", {"kind": "strike", "subject": flip}, wait=2 * DAY)
    assert (book.reports(flip), book.reports(in_time)) == (["struck"], [])
    late = book.put(GM, "move", {"kind": "release", "subject": flip}, wait=DAY)
    assert (book.reports(flip), book.reports(late)) == (["struck"], ["too-late"])


def test_what_is_upheld_counts_from_its_own_listing_on() -> None:
    book = Book(RULES, root=ROOT, scenario=True)
    flips = [book.put(ANN, "flip", {"call": "heads"}) for _ in range(3)]
    book.put(GM, "move", {"kind": "uphold", "subject": flips[2]}, wait=MINUTE)
    assert book.reports(flips[2]) == []
    assert book.fold.table.get(f"purse/{ANN}")["used"] == 3


def test_a_dry_run_folds_on_top_and_leaves_the_game_as_it_stands() -> None:
    book = Book(RULES, root=ROOT, scenario=True)
    flip = book.put(ANN, "flip", {"call": "heads"})
    before, real = book.cells(), book.fold
    book.fold = real.what_if()
    dry = book.put(BOB, "flip", {"call": "heads"})
    book.dice(dry, 1)
    assert book.fold.table.get(f"purse/{BOB}")["score"] == 1
    book.put(GM, "move", {"kind": "strike", "subject": flip})
    assert book.reports(flip) == ["struck"]
    book.fold = real
    assert (book.cells(), real.size) == (before, 2)
