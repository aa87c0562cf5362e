"""What records would do: folded on top, listed nowhere, dice weighed exactly."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from book import ANN, BOB, GM, MINUTE, Book
from coin import RULES, Coin
from weighbridge.changes import Watch, change_of, differences, fields_of, reasons
from weighbridge.contract import Context, Docket, Needs, Table
from weighbridge.dry_run import BadDraft, Draft, Tried, draft, dry_run
from weighbridge.fold.outlook import MAX_WAYS, ways_of
from weighbridge.log.errors import LogTimeDecreases


def opened(ruleset: Coin = RULES, **options: Any) -> Book:
    return Book(ruleset, root={"gm": GM}, **options)


def flip(book: Book, by: str = ANN, rkey: str = "f1", **fields: Any) -> Draft:
    return draft(book.game, by, "example.coin.flip", rkey, {"call": "heads", **fields})


def changed(tried: Tried) -> dict[str, Any]:
    return {each.key.partition("/")[0]: each.after for each in tried.changes if not each.key.startswith("_/")}


def fields(tried: Tried) -> dict[str, dict[Any, int]]:
    assert tried.outlook is not None
    own = [field for field in tried.outlook.fields if not field.key.startswith("_/")]
    return {f"{f.key.partition('/')[0]}.{f.path}": dict(f.chances) for f in own}


def test_a_record_is_tried_and_the_game_stays_as_it_is() -> None:
    book = opened()
    before, size, root = book.cells(), book.fold.size, book.fold.transcript.root()
    (tried,) = dry_run(book.fold, [flip(book)]).records
    assert changed(tried)["flip"] == {"status": "pending", "call": "heads"}
    assert changed(tried)["purse"]["used"] == 1
    assert (book.cells(), book.fold.size, book.fold.transcript.root()) == (before, size, root)


def test_a_trial_comes_to_what_listing_comes_to() -> None:
    book = opened()
    (tried,) = dry_run(
        book.fold, [draft(book.game, ANN, "example.coin.note", "r2", {"text": "a"})], book.now
    ).records
    book.now -= 1_000_000
    book.put(ANN, "note", {"text": "a"})
    listed = {key: book.fold.table.get(key) for key, _ in book.steps[-1].delta if key != "_/state"}
    assert {each.key: each.after for each in tried.changes} == listed
    assert tried.cid == str(book.entries[-1].entry.record)


def test_dice_that_are_not_out_are_counted_in_every_way() -> None:
    book = opened()
    (tried,) = dry_run(book.fold, [flip(book)]).records
    assert tried.outlook is not None
    assert (tried.outlook.whole, tried.outlook.ways, tried.outlook.dice) == (2, 2, ("flip",))
    assert tried.outlook.round is not None
    assert fields(tried)["flip.face"] == {"heads": 1, "tails": 1}
    assert fields(tried)["flip.status"] == {"flipped": 2}
    assert fields(tried)["purse.score"] == {1: 1, 0: 1}


def test_a_trace_is_taken_to_be_what_is_asked_for() -> None:
    book = opened()
    traced = flip(book, trace="https://example.com")
    (ok,) = dry_run(book.fold, [traced]).records
    (lost,) = dry_run(book.fold, [traced], verdict="unresolved").records
    assert (ok.verdict, lost.verdict) == ("ok", "unresolved")
    assert ok.outlook is not None
    assert lost.outlook is not None
    assert "unwitnessed" not in {field.path for field in ok.outlook.fields}
    assert "unwitnessed" in {field.path for field in lost.outlook.fields}


def test_time_passes_before_what_is_tried_later() -> None:
    book = opened(scenario=True)
    first = book.put(ANN, "flip", {"call": "heads"})
    book.dice(first, 2)
    told = dry_run(book.fold, [flip(book, BOB)], book.now + 31 * 60 * MINUTE)
    assert any(each.key.startswith("mercy/") for each in told.by_time)


def test_later_records_see_what_earlier_ones_did() -> None:
    book = opened()
    told = dry_run(book.fold, [flip(book, rkey=f"f{n}") for n in range(4)])
    assert [sorted(each.reports) for each in told.records] == [[], [], [], ["over-ration"]]


def test_a_strike_that_is_tried_goes_back_and_nothing_else_does() -> None:
    book = opened()
    first = book.put(ANN, "flip", {"call": "heads"})
    before = book.cells()
    strike = draft(book.game, GM, "example.coin.move", "s1", {"kind": "strike", "subject": first})
    (tried,) = dry_run(book.fold, [strike]).records
    assert any(each.key.startswith("_/mark/") for each in tried.changes)
    assert book.cells() == before


@pytest.mark.parametrize(
    ("author", "collection", "rkey", "value"),
    [
        pytest.param("ann", "example.coin.note", "a", {}, id="an author that is no DID"),
        pytest.param(ANN, "note", "a", {}, id="a collection that is no NSID"),
        pytest.param(ANN, "example.coin.note", "..", {}, id="a key that is none"),
        pytest.param(ANN, "example.coin.note", 7, {}, id="a key in a number"),
        pytest.param(ANN, "example.coin.note", "a", {"text": 1.5}, id="a fraction"),
        pytest.param(ANN, "example.coin.note", "a", {"n": 2**70}, id="a number past 64 bits"),
        pytest.param(ANN, "example.coin.note", "a", {"text": "a" * 300_000}, id="too long a record"),
    ],
)
def test_what_can_be_no_record_is_refused(author: Any, collection: Any, rkey: Any, value: Any) -> None:
    with pytest.raises(BadDraft):
        draft(opened().game, author, collection, rkey, value)


def test_nothing_is_tried_in_a_game_that_has_not_begun() -> None:
    book = Book(RULES)
    with pytest.raises(BadDraft):
        dry_run(book.fold, [flip(book)])


def test_nothing_is_tried_in_the_past() -> None:
    book = opened()
    with pytest.raises(LogTimeDecreases):
        dry_run(book.fold, [flip(book)], book.now - 1)


def test_any_value_of_a_record_is_tried_and_none_raises() -> None:
    book = opened()
    for value in (None, 7, "x", [], {}, {"call": 7}, {"call": "heads", "trace": []}):
        (tried,) = dry_run(book.fold, [draft(book.game, ANN, "example.coin.flip", "x", value)]).records
        assert sorted(tried.reports) in (["bad-shape"], [])


# --- ways for dice to fall ---------------------------------------------------------------------------------


class Many(Coin):
    """Draws for a flip what a test says."""

    draws: ClassVar[tuple[int, ...]] = ()
    stops: ClassVar[bool] = False

    def apply(self, table: Table, docket: Docket, ctx: Context) -> None:
        if docket.collection != "example.coin.flip":
            return
        dice, faces = ctx.dice("flip"), list[int]()
        for sides in self.draws:
            faces.append(dice.die(sides))
            if self.stops and faces[-1] == 1:
                break
        table[f"sum/{docket.id}"] = sum(faces)


def ways(*draws: int, stops: bool = False) -> Any:
    ruleset = type("Drawing", (Many,), {"draws": draws, "stops": stops})()
    book = opened(ruleset)
    return ways_of(book.fold, book.put(ANN, "flip", {"call": "heads"}))


@pytest.mark.parametrize(("draws", "count"), [((), 1), ((6,), 6), ((6, 6, 6), 216), ((4, 20), 80)], ids=str)
def test_every_way_is_looked_at_once(draws: tuple[int, ...], count: int) -> None:
    found = ways(*draws)
    assert len({way.faces for way in found.ways}) == len(found.ways) == count
    assert sum(way.weight for way in found.ways) == found.whole == count


def test_ways_that_end_early_weigh_as_much_as_they_are_likely() -> None:
    found = ways(2, 3, stops=True)
    assert {way.faces: way.weight for way in found.ways} == {(1,): 3, (2, 1): 1, (2, 2): 1, (2, 3): 1}
    assert found.whole == 6


@pytest.mark.parametrize("draws", [(6,) * 6, (2**40,), (10_000, 2)], ids=str)
def test_more_ways_than_are_looked_at_are_not_counted(draws: tuple[int, ...]) -> None:
    found = ways(*draws)
    assert (found.whole, found.ways) == (0, None)
    assert MAX_WAYS == 10_000


def test_weighing_leaves_the_fold_as_it_was() -> None:
    book = opened(scenario=True)
    uri = book.put(ANN, "flip", {"call": "heads"})
    before, pendings = book.cells(), dict(book.fold.world.pendings)
    assert ways_of(book.fold, uri) is not None
    assert (book.cells(), book.fold.world.pendings) == (before, pendings)
    book.dice(uri, 1)
    assert book.fold.table[f"flip/{ANN}:r2"]["won"] is True
    assert ways_of(book.fold, uri) is None


class Failing(Coin):
    """Fails to say why."""

    def because(self, change: Any, look: Any) -> tuple[str, ...]:
        raise KeyError(change.key)

    def needs(self, docket: Docket, rules: Any) -> Needs:
        return super().needs(docket, rules)


def test_a_rule_set_that_cannot_say_why_costs_only_its_words() -> None:
    book = opened(Failing())
    (tried,) = dry_run(book.fold, [flip(book)]).records
    assert {each.says for each in tried.changes if each.key.startswith("flip/")} == {
        ("The rule set coin fails to say why (KeyError).",)
    }


# --- what differs ------------------------------------------------------------------------------------------


def test_fields_are_told_apart_by_their_paths() -> None:
    assert dict(fields_of({"a": {"b": 1}, "c": [1, 2], "d": {}})) == {"a.b": 1, "c": [1, 2], "d": {}}
    assert dict(fields_of(7)) == {"": 7}
    assert differences({"a": 1, "b": 2}, {"a": 1, "b": 3, "c": None}) == [("b", 2, 3)]
    assert differences(None, {"a": 1}) == [("a", None, 1)]
    assert differences({"a": 1}, None) == [("a", 1, None)]


def test_each_change_has_both_its_sides() -> None:
    book = opened()
    for _ in range(2):
        book.put(ANN, "flip", {"call": "heads"})
    again = Watch(opened().fold)
    listed = [again.step(each) for each in book.entries[1:]]
    change = change_of(f"purse/{ANN}", book.entries[2], listed[1].cells)
    assert (change.before["used"], change.after["used"]) == (1, 2)
    assert (change.value["call"], change.seq, change.uri) == ("heads", 2, book.entries[2].entry.uri)
    assert reasons(RULES, f"purse/{ANN}", book.entries[2], listed[1].cells, again.look) == ()
