"""Grinding: each way of trying for better dice, played against the fold, with what stops it and what is reported."""

from __future__ import annotations

from typing import Any

import pytest
from book import ANN, DAY, GM, SECOND, START, Book
from coin import RULES
from test_evidence import LISTER, OPA, OPB, OPC, OPERATORS, operators_of, receipt
from weighbridge.chain import QUICKNET, chain_value, round_after, round_time
from weighbridge.codec import encode
from weighbridge.local_chain import LocalChain

MARGIN = 15
OWN = LocalChain(b"a chain of the GM's own", START // SECOND - 86_400)
OTHER = LocalChain(b"another chain of the GM's", START // SECOND - 86_400)


def opened(**root: Any) -> Book:
    """A game on a chain whose every beacon the test can make."""
    beacon = {"chain": chain_value(OWN.chain), "margin": MARGIN}
    return Book(RULES, root={"gm": GM, "rules": {"perDay": 3}, "beacon": beacon, **root})


def watched() -> Book:
    """The same, with three operators who receipt what the lister lists."""
    book = opened(lister=LISTER.did, policy=OPERATORS)
    operators_of(book)
    return book


def beacon(book: Book, number: int) -> str:
    value = {"round": number, "signature": OWN.sign(number), "chain": OWN.chain.hash}
    return book.put(GM, "network.weighbridge.beacon", value, wait=0)


def cell(book: Book, uri: str) -> dict[str, Any]:
    found: dict[str, Any] = book.fold.table[f"flip/{ANN}:{uri.rsplit('/', 1)[1]}"]
    return found


def face(book: Book, uri: str) -> Any:
    return cell(book, uri).get("face")


def score(book: Book) -> int:
    return int(book.fold.table[f"purse/{ANN}"]["score"])


def rolls_on(book: Book) -> int:
    return round_after(OWN.chain, book.now, MARGIN)


# --- a lister that waits until it likes the dice ------------------------------------------------------------


def test_an_ask_that_is_held_and_dated_back_is_untimely_and_nothing_follows_from_its_dice() -> None:
    book = watched()
    uri = book.put(ANN, "flip", {"call": "heads"})
    number = rolls_on(book)
    # The lister lists it a minute after that round was out: whoever receipts it then says so.
    late = round_time(OWN.chain, number) + 60
    for operator in (OPA, OPB, OPC):
        receipt(book, operator, late)
    beacon(book, number)
    assert cell(book, uri)["status"] == "pending"
    book.tick(2 * DAY)
    assert book.reports(uri) == ["untimely"]
    assert cell(book, uri)["status"] == "untimely"
    assert face(book, uri) in ("heads", "tails")
    assert score(book) == 0


def test_an_ask_that_is_held_and_dated_as_it_is_meets_a_round_that_nobody_knows() -> None:
    book = watched()
    book.now += 3_600 * SECOND  # for as long the lister has looked at beacons come out
    known = round_after(OWN.chain, book.now, 0) - 1
    book.put(ANN, "flip", {"call": "heads"}, wait=0)
    assert rolls_on(book) > known
    assert round_time(OWN.chain, rolls_on(book)) * SECOND > book.now + MARGIN * SECOND


# --- a player whose clock lags ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rkey", "fields", "prov"),
    [
        pytest.param("3k2aaaaaaaaaa", {}, None, id="a-record-key-of-last-year"),
        pytest.param("r", {"createdAt": "2023-01-01T00:00:00Z"}, None, id="made-last-year-as-it-says"),
        pytest.param("r", {}, {"rev": "3k2aaaaaaaaaa"}, id="a-commit-of-last-year"),
        pytest.param("r", {}, {"rev": "3zzzzzzzzzzzz"}, id="a-commit-of-next-year"),
        pytest.param("r", {}, {"sig": bytes(64)}, id="no-clock-at-all"),
    ],
)
def test_no_clock_of_the_players_moves_the_round(rkey: str, fields: Any, prov: Any) -> None:
    book = opened()
    book.now += SECOND
    value = {"call": "heads", "game": book.game, **fields}
    uri = f"at://{ANN}/example.coin.flip/{rkey}"
    book.list(op="create", uri=uri, author=ANN, record=encode(value), prov=prov)
    pending = next(iter(book.fold.world.pendings.values()))
    assert pending.round == rolls_on(book)


# --- a player who takes back what went badly ----------------------------------------------------------------


@pytest.mark.parametrize(("op", "code"), [("update", "edited"), ("delete", "deleted")])
@pytest.mark.parametrize("when", ["before the beacon", "after the beacon"])
def test_what_a_roll_rests_on_can_be_neither_edited_nor_deleted(op: str, code: str, when: str) -> None:
    plain = opened()
    other = plain.put(ANN, "flip", {"call": "heads"}, uri=f"at://{ANN}/example.coin.flip/a")
    number = rolls_on(plain)
    beacon(plain, number)
    book = opened()
    uri = book.put(ANN, "flip", {"call": "heads"}, uri=f"at://{ANN}/example.coin.flip/a")
    if when == "after the beacon":
        beacon(book, number)
    book.put(ANN, "flip", {"call": "tails"}, op=op, uri=uri)
    if when == "before the beacon":
        beacon(book, number)
    assert cell(book, uri) == cell(plain, other)
    assert score(book) == score(plain)
    assert code in book.reports(uri)


# --- an ask posted many times -------------------------------------------------------------------------------


def test_an_ask_posted_many_times_counts_as_often_as_the_ration_says_whatever_the_dice() -> None:
    book = opened()
    uris = [book.put(ANN, "flip", {"call": "heads"}, wait=0) for _ in range(10)]
    number = rolls_on(book)
    beacon(book, number)
    counted = [uri for uri in uris if f"flip/{ANN}:{uri.rsplit('/', 1)[1]}" in book.fold.table]
    assert counted == uris[:3]
    assert all(book.reports(uri) == ["over-ration"] for uri in uris[3:])
    assert book.fold.table[f"purse/{ANN}"]["used"] == 3


def test_the_same_record_listed_again_rolls_nothing_anew() -> None:
    book = opened()
    uri = book.put(ANN, "flip", {"call": "heads"}, uri=f"at://{ANN}/example.coin.flip/a")
    beacon(book, rolls_on(book))
    before = cell(book, uri)
    book.put(ANN, "flip", {"call": "heads"}, op="update", uri=uri, wait=600 * SECOND)
    beacon(book, rolls_on(book))
    assert cell(book, uri) == before
    assert not book.fold.world.pendings


# --- a root that makes it easy ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param({"margin": -15}, id="a-negative-margin"),
        pytest.param({"margin": 0}, id="no-margin"),
        pytest.param({"margin": 2}, id="a-short-margin"),
        pytest.param({"margin": 601}, id="a-long-margin"),
        pytest.param({"margin": "15"}, id="a-margin-in-words"),
        pytest.param(
            {"chain": {**chain_value(OWN.chain), "hash": QUICKNET.hash}}, id="quicknets-name-for-another-key"
        ),
        pytest.param(
            {"chain": {**chain_value(OWN.chain), "scheme": "bls-unchained-on-g1"}}, id="another-scheme"
        ),
        pytest.param(
            {"chain": {**chain_value(OWN.chain), "publicKey": "c0" + "00" * 95}}, id="a-key-at-infinity"
        ),
        pytest.param({"chain": {**chain_value(OWN.chain), "period": 0}}, id="a-chain-that-stands"),
        pytest.param({"chain": {"hash": OWN.chain.hash}}, id="half-a-chain"),
    ],
)
def test_a_root_with_such_a_beacon_opens_nothing(rule: dict[str, Any]) -> None:
    book = Book(RULES, root={"gm": GM, "beacon": rule})
    assert book.reports(book.game) == ["bad-root"]
    flip = book.put(ANN, "flip", {"call": "heads"})
    assert book.reports(flip) == ["no-rules"]
    assert not book.fold.world.pendings


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param({"chain": chain_value(OTHER.chain), "margin": MARGIN}, id="another-chain"),
        pytest.param({"chain": chain_value(OWN.chain), "margin": 3}, id="another-margin"),
        pytest.param({}, id="quicknet-after-all"),
    ],
)
def test_the_beacon_of_the_first_root_holds_for_good(rule: dict[str, Any]) -> None:
    book = opened()
    book.put(GM, "root", {"gm": GM, "rules": {"perDay": 3}, "beacon": rule}, op="update", uri=book.game)
    assert book.reports(book.game) == ["bad-root"]
    uri = book.put(ANN, "flip", {"call": "heads"})
    beacon(book, rolls_on(book))
    assert face(book, uri) in ("heads", "tails")


def test_a_beacon_of_the_gms_other_chain_rolls_nothing() -> None:
    book = opened()
    uri = book.put(ANN, "flip", {"call": "heads"})
    number = rolls_on(book)
    value = {"round": number, "signature": OTHER.sign(number)}
    false = book.put(GM, "network.weighbridge.beacon", value, wait=0)
    assert book.reports(false) == ["bad-beacon"]
    assert cell(book, uri)["status"] == "pending"
