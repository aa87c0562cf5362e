"""The root: what opens a game, what a malformed one says, whose consent a change needs, and another pin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from book import ANN, BOB, GM, SECOND, Book, refolded
from coin import RULES, Coin
from test_evidence import LISTER, OPA, OPB, OPC, OPERATORS, operators_of, receipt
from weighbridge.codec import cid_of
from weighbridge.contract import Problem
from weighbridge.fold import Fold, FoldPin, Resolved, SnapshotTooYoung
from weighbridge.log.merkle import leaf_hash


def gm(book: Book) -> Any:
    held = book.fold.world.root_at(book.fold.size)
    return held[0].gm if held else None


def test_before_a_well_formed_root_nothing_opens() -> None:
    book = Book(RULES, root={"gm": "nobody"}, scenario=True)
    flip = book.put(ANN, "flip", {"call": "heads"})
    assert (book.reports(book.game), book.reports(flip)) == (["bad-root"], ["no-rules"])
    book.put(GM, "root", {"gm": GM}, uri=book.game, op="update")
    assert book.reports(book.game) == []
    assert book.reports(book.put(ANN, "flip", {"call": "heads"})) == []


def test_a_malformed_root_says_every_reason_with_its_path() -> None:
    root = {
        "gm": 7,
        "lister": "x",
        "policy": {"dids": [], "quorum": 0},
        "witnesses": 3,
        "voidDays": -1,
        "floods": {"author": 0, "x": 1},
        "fold": {"pin": 3, "with": [1], "what": 0},
        "beacon": {"margin": 1},
        "rules": {"perDay": "many", "nothing": 1},
    }
    book = Book(RULES, root=root)
    says = book.fold.table.get(f"_/report/example.coin.root/{GM}:self")["bad-root"]
    for path in (
        "$.gm", "$.lister", "$.policy", "$.witnesses", "$.voidDays", "$.floods.author", "$.floods.x", "$.fold.what",
        "$.fold.pin", "$.fold.with", "$.beacon.margin", "$.rules.perDay", "$.rules.nothing",
    ):  # fmt: skip
        assert path in says


@pytest.mark.parametrize(
    "update",
    [
        pytest.param({"gm": GM, "rules": {"perDay": 0}}, id="rules out of bounds"),
        pytest.param({"gm": GM, "beacon": {"margin": 60}}, id="another beacon than the first root's"),
        pytest.param({"rules": {}}, id="no GM"),
    ],
)
def test_a_malformed_update_leaves_the_last_well_formed_root_in_force(update: dict[str, Any]) -> None:
    book = Book(RULES, root={"gm": GM, "rules": {"perDay": 1}}, scenario=True)
    book.put(GM, "root", update, uri=book.game, op="update")
    assert book.reports(book.game) == ["bad-root"]
    book.put(ANN, "flip", {"call": "heads"})
    assert book.reports(book.put(ANN, "flip", {"call": "heads"})) == ["over-ration"]


def test_new_rules_hold_for_what_is_listed_after_them() -> None:
    book = Book(RULES, root={"gm": GM, "rules": {"perDay": 1}}, scenario=True)
    book.put(ANN, "flip", {"call": "heads"})
    second = book.put(ANN, "flip", {"call": "heads"})
    book.put(GM, "root", {"gm": GM, "rules": {"perDay": 9}}, uri=book.game, op="update")
    assert book.reports(second) == ["over-ration"]  # K07: judged by the rules in force when it was listed
    assert book.reports(book.put(ANN, "flip", {"call": "heads"})) == []


def test_another_record_of_the_root_s_type_opens_nothing_and_a_deletion_ends_nothing() -> None:
    book = Book(RULES, root={"gm": GM}, scenario=True)
    assert book.reports(book.put(ANN, "root", {"gm": ANN})) == ["bad-root"]
    book.put(GM, "root", {}, uri=book.game, op="delete")
    assert (book.reports(book.game), gm(book)) == (["deleted"], GM)


def test_a_new_gm_takes_office_when_the_quorum_in_force_holds_the_change() -> None:
    root = {"gm": GM, "lister": LISTER.did, "policy": OPERATORS}
    book = Book(RULES, root=root)
    operators_of(book)
    book.put(GM, "root", {**root, "gm": BOB}, uri=book.game, op="update")
    assert gm(book) == GM
    for signer in (LISTER, OPA):
        receipt(book, signer, book.now // SECOND)
        assert gm(book) == GM
    receipt(book, OPC, book.now // SECOND)
    assert gm(book) == BOB
    assert refolded(book, RULES) == [(s.delta_cid, s.leaf) for s in book.steps]


def test_receipts_that_do_not_hold_the_change_do_not_let_it_in() -> None:
    root = {"gm": GM, "lister": LISTER.did, "policy": OPERATORS}
    book = Book(RULES, root=root)
    operators_of(book)
    before = len(book.entries)
    book.put(GM, "root", {**root, "gm": BOB}, uri=book.game, op="update")
    for signer in (LISTER, OPA, OPB, OPC):
        receipt(book, signer, book.now // SECOND, size=before)
    assert gm(book) == GM


class NextCoin(Coin):
    """The coin's next version: it keeps scores under other keys."""

    def migrate(self, cells: Mapping[str, Any]) -> Mapping[str, Any]:
        return {key.replace("purse/", "pouch/"): cells[key] for key in cells}


def resolve(fold: FoldPin) -> Resolved:
    return Resolved(NextCoin(), str(fold.pin), {})


def moved() -> Book:
    book = Book(
        RULES,
        root={"gm": GM, "fold": {"name": "coin", "pin": "one"}},
        scenario=True,
        pin="one",
        resolve=resolve,
    )
    flip = book.put(ANN, "flip", {"call": "heads"})
    book.dice(flip, 1)
    book.put(ANN, "flip", {"call": "tails"})
    book.put(GM, "root", {"gm": GM, "fold": {"name": "coin", "pin": "two"}}, uri=book.game, op="update")
    return book


def test_another_pin_ends_the_transcript_and_opens_the_next_with_a_genesis_leaf() -> None:
    book = moved()
    ((origin, size, root),) = book.fold.eras
    assert (origin, size) == (f"{book.game}/coin@one+k1", 5)
    assert book.fold.origin == f"{book.game}/coin@two+k1"
    end = cid_of({"origin": origin, "size": size, "root": root, "state": book.steps[-1].state_root})
    assert book.fold.transcript.size == 1
    assert book.fold.transcript.root() == leaf_hash(book.entries[-1].cid.raw + end.raw)


def test_cells_move_to_the_next_version_and_pending_records_go_along() -> None:
    book = moved()
    assert book.fold.table.get(f"purse/{ANN}") is None
    assert book.fold.table.get(f"pouch/{ANN}")["score"] == 1
    assert len(book.fold.table.keys("_/pending/")) == 1


def test_what_migrate_changes_is_in_the_delta_of_the_next_transcripts_first_entry() -> None:
    book = moved()
    book.tick()
    delta = dict(book.steps[-1].delta)
    assert delta[f"purse/{ANN}"] is None
    assert delta[f"pouch/{ANN}"] == cid_of(book.fold.table.get(f"pouch/{ANN}"))
    book.tick()
    assert not {key for key, _ in book.steps[-1].delta if key.startswith(("purse/", "pouch/"))}


def test_a_fold_restored_where_the_game_moved_gives_what_the_other_gives() -> None:
    book = moved()
    snapshot = book.fold.snapshot()
    assert f"purse/{ANN}" in snapshot.cells  # as the ended transcript left them
    history = book.fold.world.history
    again = Fold(book.game, NextCoin(), scenario=True, pin="two", history=history, resolve=resolve)
    again.restore(snapshot)
    assert again.table.get(f"pouch/{ANN}") == book.fold.table.get(f"pouch/{ANN}")
    assert again.state_root() == book.fold.state_root()
    book.put(BOB, "flip", {"call": "heads"})
    assert again.fold(book.entries[-1]) == book.steps[-1]
    assert again.snapshot().cells == book.fold.snapshot().cells


class Forgetful(Coin):
    """The coin's next version, which begins without notes."""

    def migrate(self, cells: Mapping[str, Any]) -> Mapping[str, Any]:
        return {key: cells[key] for key in cells if not key.startswith("note/")}


def test_what_the_first_entry_puts_back_as_it_was_before_migrate_is_in_the_state_too() -> None:
    def forgetful(fold: FoldPin) -> Resolved:
        return Resolved(Forgetful(), str(fold.pin), {})

    root = {"gm": GM, "fold": {"name": "coin", "pin": "one"}}
    book = Book(RULES, root=root, pin="one", resolve=forgetful)
    note = book.put(ANN, "note", {"text": "first"})
    book.put(ANN, "note", {"text": "second"}, uri=note, op="update")
    book.put(GM, "root", {"gm": GM, "fold": {"name": "coin", "pin": "two"}}, uri=book.game, op="update")
    assert book.fold.table.keys("note/") == []
    book.put(ANN, "note", {"text": "second"}, uri=note, op="update")
    assert book.steps[-1].delta == ()
    again = Fold(book.game, Forgetful(), pin="two", history=book.fold.world.history, resolve=forgetful)
    again.restore(book.fold.snapshot())
    assert again.state_root() == book.fold.state_root()


class Stricter(Coin):
    """The coin's next version: an option of the one before is none of its own."""

    def rules(self, root: Mapping[str, Any]) -> tuple[Any, tuple[Problem, ...]]:
        given = root.get("rules", {})
        if given.get("perDay") == 6:
            raise ValueError(given)
        rules, problems = super().rules(root)
        more = (Problem("$.rules.perDay", "is no option"),) if "perDay" in given else ()
        return rules, (*problems, *more)


def stricter(fold: FoldPin) -> Resolved:
    return Resolved(Stricter(), str(fold.pin), {})


def moved_to_a_stricter_one(per_day: int, **after: Any) -> tuple[Book, str]:
    root = {"gm": GM, "rules": {"perDay": per_day}, "fold": {"name": "coin", "pin": "one"}}
    book = Book(RULES, root=root, scenario=True, pin="one", resolve=stricter)
    flip = book.put(ANN, "flip", {"call": "heads"})
    after = {"gm": GM, "fold": {"name": "coin", "pin": "two"}, **after}
    book.put(GM, "root", after, uri=book.game, op="update")
    return book, flip


@pytest.mark.parametrize("per_day", [5, 6])
def test_a_record_goes_along_whose_root_the_next_rule_set_does_not_read(per_day: int) -> None:
    book, flip = moved_to_a_stricter_one(per_day)
    book.dice(flip, 1)
    assert book.fold.table.keys("_/pending/") == []
    assert book.reports(book.game) == []


@pytest.mark.parametrize(("per_day", "said"), [(5, "bad-root"), (6, "rule-fault")])
def test_a_root_that_the_rule_set_it_moves_to_does_not_read_gives_no_rules_until_it_is_mended(
    per_day: int, said: str
) -> None:
    book, _ = moved_to_a_stricter_one(per_day, rules={"perDay": per_day})
    assert book.reports(book.game) == [said]
    snapshot, begun = book.fold.snapshot(), book.fold.size
    flip = book.put(BOB, "flip", {"call": "heads"})
    assert book.reports(flip) == ["no-rules"]
    mended = {"gm": GM, "fold": {"name": "coin", "pin": "two"}}
    book.put(GM, "root", mended, uri=book.game, op="update")
    assert "bad-root" not in book.reports(book.game)
    assert book.reports(book.put(BOB, "flip", {"call": "heads"})) == []
    history = book.fold.world.history
    again = Fold(book.game, Stricter(), scenario=True, pin="two", history=history, resolve=stricter)
    again.restore(snapshot)
    assert [again.fold(each) for each in book.entries[begun:]] == book.steps[begun:]


def test_what_if_begins_with_migrated_cells_and_gives_the_same_delta() -> None:
    book = moved()
    tried = book.fold.what_if()
    book.tick()
    assert tried.fold(book.entries[-1]).delta == book.steps[-1].delta


def test_no_strike_reaches_across_a_change_of_pin() -> None:
    book = moved()
    flip = next(e.entry.uri for e in book.entries if e.entry.uri and "flip" in e.entry.uri)
    strike = book.put(GM, "move", {"kind": "strike", "subject": flip})
    assert (book.reports(strike), book.reports(flip)) == (["too-late"], [])


def test_a_snapshot_says_when_a_ruling_reaches_behind_it() -> None:
    book = Book(RULES, root={"gm": GM}, scenario=True)
    flip = book.put(ANN, "flip", {"call": "heads"})
    again = Fold(book.game, RULES, scenario=True, history=book.fold.world.history)
    again.restore(book.fold.snapshot())
    book.put(GM, "move", {"kind": "strike", "subject": flip})
    with pytest.raises(SnapshotTooYoung) as refusal:
        again.fold(book.entries[-1])
    assert refusal.value.code == "snapshot-too-young"
