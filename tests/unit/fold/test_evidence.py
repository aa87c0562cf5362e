"""Beacons, receipts, traces and the passing of time: what completes a docket, and what does not."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from book import ANN, BOB, DAY, GM, SECOND, Book, place
from coin import RULES
from weighbridge.dice import QUICKNET, Stream, round_after, round_time
from weighbridge.fold.operators import listing_origin
from weighbridge.identity import SIGNATURE, Signer, cosign, format_note, make_operator_record, verifier_key
from weighbridge.identity.vkeys import COSIGNATURE
from weighbridge.log.checkpoint import Checkpoint

LISTER, OPA, OPB, OPC = (Signer(bytes([n]) * 32) for n in (1, 2, 3, 4))
KEYS = {
    s.did: (Signer(s.did.encode()[-32:]), Signer(s.did.encode()[-33:-1])) for s in (LISTER, OPA, OPB, OPC)
}
OPERATORS = {"dids": [LISTER.did, OPA.did, OPB.did, OPC.did], "quorum": 3}


@pytest.fixture(scope="module")
def beacons(own_vectors: Path) -> dict[int, bytes]:
    read = json.loads((own_vectors / "drand" / "quicknet_beacons.json").read_text())
    return {b["round"]: bytes.fromhex(b["signature"]) for b in read}


def operators_of(book: Book) -> None:
    for signer in (LISTER, OPA, OPB, OPC):
        log, recompute = KEYS[signer.did]
        record = make_operator_record(
            signer.did,
            book.game,
            f"op-{signer.did[-4:]}",
            verifier_key(f"op-{signer.did[-4:]}", SIGNATURE, log.public),
            verifier_key(f"op-{signer.did[-4:]}", COSIGNATURE, recompute.public),
        )
        book.put(signer.did, "network.weighbridge.operator", record.value, wait=0)


def receipt(
    book: Book, signer: Signer, time: int, *, size: int | None = None, root: bytes | None = None, **more: Any
) -> str:
    size = len(book.entries) if size is None else size
    text = Checkpoint(listing_origin(book.game), size, root or book.fold.world.history.root(size)).text()
    note = format_note(text, [cosign(KEYS[signer.did][0], f"op-{signer.did[-4:]}", text, time)]).decode()
    return book.put(signer.did, "network.weighbridge.receipt", {"checkpoint": note, **more}, wait=0)


def near(round_: int) -> int:
    """A time (µs) at which a record rolls on that round."""
    return (round_time(QUICKNET, round_) - 16) * SECOND


def beacon(book: Book, round_: int, signature: bytes, **more: Any) -> str:
    value = {"round": round_, "signature": signature, **more}
    return book.put(GM, "network.weighbridge.beacon", value, wait=0)


def opened(round_: int, **root: Any) -> Book:
    book = Book(RULES)
    book.now = near(round_) - 3_600 * SECOND
    book.put(GM, "root", {"gm": GM, "rules": {"perDay": 5}, **root}, uri=book.game)
    return book


ROUND = 72_800


def flip_at(book: Book, round_: int) -> str:
    book.now = near(round_) - SECOND
    return book.put(ANN, "flip", {"call": "heads"})


def status(book: Book, uri: str) -> str:
    return str(book.fold.table.get(f"flip/{ANN}:{uri.rsplit('/', 1)[1]}", {}).get("status"))


def test_a_roll_reads_the_verified_beacon_of_its_round(beacons: dict[int, bytes]) -> None:
    book = opened(ROUND)
    flip = flip_at(book, ROUND)
    assert round_after(QUICKNET, book.now, 15) == ROUND
    beacon(book, ROUND, beacons[ROUND])
    listed = next(e for e in book.entries if e.entry.uri == flip)
    cell = book.fold.table[f"flip/{ANN}:{flip.rsplit('/', 1)[1]}"]
    stream = Stream(hashlib.sha256(beacons[ROUND]).digest(), book.game, flip, listed.entry.record, "flip")
    assert cell["face"] == ("heads", "tails")[stream.die(2) - 1]
    assert book.reports(flip) == ["lister-timed"]


@pytest.mark.parametrize(
    ("round_", "of", "more", "code"),
    [
        pytest.param(ROUND, ROUND + 1, {}, ["bad-beacon"], id="the signature of another round"),
        pytest.param(ROUND, ROUND, {"chain": "ab" * 32}, ["bad-beacon"], id="another chain"),
        pytest.param(ROUND + 1, ROUND + 1, {}, [], id="a round nothing awaits"),
    ],
)
def test_a_beacon_that_is_no_evidence_leaves_the_roll_waiting(
    beacons: dict[int, bytes], round_: int, of: int, more: dict[str, Any], code: list[str]
) -> None:
    book = opened(ROUND)
    flip = flip_at(book, ROUND)
    record = beacon(book, round_, beacons[of], **more)
    assert (book.reports(record), status(book, flip)) == (code, "pending")
    beacon(book, ROUND, beacons[ROUND])
    assert status(book, flip) == "flipped"


def test_a_scenario_s_stated_dice_are_no_evidence_in_a_node_s_fold() -> None:
    book = opened(ROUND)
    flip = flip_at(book, ROUND)
    book.state(flip, "dice", values=[1], timely=True)
    assert status(book, flip) == "pending"
    stated = book.entries[-1].entry.uri
    assert stated is not None
    assert book.reports(stated) == ["unknown-type"]


def test_a_roll_is_timely_with_receipts_of_a_majority_before_its_round(beacons: dict[int, bytes]) -> None:
    book = opened(ROUND, lister=LISTER.did, policy=OPERATORS)
    operators_of(book)
    flip = flip_at(book, ROUND)
    time = round_time(QUICKNET, ROUND)
    receipt(book, OPA, time - 10)
    beacon(book, ROUND, beacons[ROUND])
    assert status(book, flip) == "pending"
    receipt(book, OPB, time - 1)
    assert status(book, flip) == "flipped"
    assert book.reports(flip) == []


def test_half_of_the_operators_are_no_majority(beacons: dict[int, bytes]) -> None:
    book = opened(ROUND, lister=LISTER.did, policy={"dids": [LISTER.did, OPA.did, OPB.did], "quorum": 2})
    operators_of(book)
    flip = flip_at(book, ROUND)
    beacon(book, ROUND, beacons[ROUND])
    receipt(book, OPA, round_time(QUICKNET, ROUND) - 10)
    assert status(book, flip) == "pending"
    receipt(book, OPB, round_time(QUICKNET, ROUND) - 10)
    assert status(book, flip) == "flipped"


@pytest.mark.parametrize(
    ("late", "holds"),
    [
        pytest.param(0, False, id="at the round's own second"),
        pytest.param(5, False, id="after the round"),
        pytest.param(-1, True, id="a second before it"),
    ],
)
def test_a_receipt_counts_only_if_it_is_earlier_than_the_round(
    beacons: dict[int, bytes], late: int, holds: bool
) -> None:
    book = opened(ROUND, lister=LISTER.did, policy=OPERATORS)
    operators_of(book)
    flip = flip_at(book, ROUND)
    for signer in (OPA, OPB):
        receipt(book, signer, round_time(QUICKNET, ROUND) + late)
    beacon(book, ROUND, beacons[ROUND])
    assert (status(book, flip) == "flipped") is holds


def test_receipts_of_the_lister_or_of_a_log_without_the_record_do_not_count(
    beacons: dict[int, bytes],
) -> None:
    book = opened(ROUND, lister=LISTER.did, policy=OPERATORS)
    operators_of(book)
    before = len(book.entries)
    flip = flip_at(book, ROUND)
    time = round_time(QUICKNET, ROUND) - 5
    receipt(book, LISTER, time)
    receipt(book, OPA, time)
    receipt(book, OPB, time, size=before)
    beacon(book, ROUND, beacons[ROUND])
    assert status(book, flip) == "pending"
    book.tick(2 * DAY)
    assert status(book, flip) == "untimely"
    assert book.reports(flip) == ["untimely"]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"root": b"\x01" * 32}, id="of another log"),
        pytest.param({"size": 3, "root": b"\x02" * 32}, id="a forged root at a past size"),
        pytest.param({"size": 400, "root": b"\x02" * 32}, id="of a size not listed yet"),
    ],
)
def test_a_receipt_that_does_not_fit_the_log_is_reported(change: dict[str, Any]) -> None:
    book = opened(ROUND, lister=LISTER.did, policy=OPERATORS)
    operators_of(book)
    assert book.reports(receipt(book, OPA, book.now // SECOND, **change)) == ["bad-receipt"]


@pytest.mark.parametrize(
    ("behind", "codes"), [pytest.param(5, [], id="5 s"), pytest.param(6, ["bad-receipt"], id="6 s")]
)
def test_a_receipt_is_dated_at_most_five_seconds_before_what_it_holds(behind: int, codes: list[str]) -> None:
    book = opened(ROUND, lister=LISTER.did, policy=OPERATORS)
    operators_of(book)
    assert book.reports(receipt(book, OPA, book.now // SECOND - behind)) == codes


def test_an_operator_record_of_a_foreign_shape_counts_for_nothing() -> None:
    book = opened(ROUND, policy=OPERATORS)
    uri = book.put(OPA.did, "network.weighbridge.operator", {"name": "a"})
    assert book.reports(uri) == ["bad-operator"]
    stranger = Signer(b"\x09" * 32)
    KEYS[stranger.did] = (Signer(b"\x0a" * 32), Signer(b"\x0b" * 32))
    assert book.reports(receipt(book, stranger, book.now // SECOND)) == ["bad-receipt"]


# --- traces ------------------------------------------------------------------------------------------------

WITNESSES = {"dids": [OPA.did, OPB.did, OPC.did], "quorum": 2}


def traced(**root: Any) -> tuple[Book, str]:
    book = Book(RULES, root={"gm": GM, **root}, scenario=True)
    flip = book.put(ANN, "flip", {"call": "heads", "trace": "https://example.org"})
    book.dice(flip, 1)
    return book, flip


def say(
    book: Book, who: str, subject: str, verdict: str, dated: int | None = None, *, cid: str | None = None
) -> str:
    listed = next(e for e in book.entries if e.entry.uri == subject)
    value: dict[str, Any] = {
        "subject": {"uri": subject, "cid": cid or str(listed.entry.record)},
        "verdict": verdict,
        **({} if dated is None else {"dated": dated}),
    }
    return book.put(who, "network.weighbridge.trace", value)


def verdict_of(book: Book, uri: str) -> str | None:
    pending = book.fold.table.get(f"_/pending/{place(uri)}")
    return "settled" if pending is None else pending.get("verdict")


def test_a_trace_settles_by_the_word_of_the_quorum() -> None:
    book, flip = traced(witnesses=WITNESSES)
    say(book, OPA.did, flip, "ok", 10)
    say(book, OPB.did, flip, "unresolved")
    assert verdict_of(book, flip) is None
    say(book, OPC.did, flip, "unresolved")
    assert verdict_of(book, flip) == "settled"
    assert book.reports(flip) == ["unwitnessed"]


@pytest.mark.parametrize(
    ("dates", "settled"),
    [
        pytest.param((30, 10), 10, id="the earlier of two"),
        pytest.param((None, 30), 30, id="the only one"),
        pytest.param((None, None), None, id="none"),
    ],
)
def test_the_date_of_a_trace_is_the_lower_median_of_the_agreeing_reports(
    dates: tuple[int | None, ...], settled: int | None
) -> None:
    book = Book(RULES, root={"gm": GM, "witnesses": WITNESSES}, scenario=True)
    flip = book.put(ANN, "flip", {"call": "heads", "trace": "https://example.org"})
    for witness, dated in zip((OPA, OPB), dates, strict=True):
        say(book, witness.did, flip, "ok", dated)
    pending = book.fold.table[f"_/pending/{place(flip)}"]
    assert (pending["verdict"], pending.get("dated")) == ("ok", settled)


def test_a_witness_s_word_is_final_unless_it_was_unavailable() -> None:
    book, flip = traced(witnesses=WITNESSES)
    say(book, OPA.did, flip, "unavailable")
    say(book, OPA.did, flip, "ok")
    say(book, OPA.did, flip, "unresolved")
    say(book, OPB.did, flip, "ok")
    assert verdict_of(book, flip) == "settled"
    assert "unwitnessed" not in book.reports(flip)


def test_a_trace_no_word_can_win_any_more_is_unsettled_at_once() -> None:
    book, flip = traced(witnesses={"dids": [OPA.did, OPB.did], "quorum": 2})
    say(book, OPA.did, flip, "ok")
    assert verdict_of(book, flip) is None
    say(book, OPB.did, flip, "unresolved")
    assert verdict_of(book, flip) == "settled"


def test_a_trace_is_unsettled_at_the_second_day_s_end_after_its_listing() -> None:
    book, flip = traced(witnesses=WITNESSES)
    book.tick(DAY)
    assert verdict_of(book, flip) is None
    book.tick(DAY)
    assert verdict_of(book, flip) == "settled"


def test_without_witnesses_the_lister_s_report_settles_and_nobody_else_s() -> None:
    book, flip = traced(lister=LISTER.did)
    stranger = say(book, BOB, flip, "ok")
    assert (book.reports(stranger), verdict_of(book, flip)) == (["not-witness"], None)
    other = say(
        book, LISTER.did, flip, "ok", cid="bafyreidykglsfhoixmivffc5uwhcgshx4j465xwqntbmu43nb2dzqwfvae"
    )
    assert book.reports(other) == ["bad-trace-report"]
    say(book, LISTER.did, flip, "ok")
    assert verdict_of(book, flip) == "settled"


def test_evidence_of_a_wrong_shape_is_reported_and_changes_nothing() -> None:
    book, flip = traced(lister=LISTER.did)
    before = book.fold.table.get(f"_/pending/{place(flip)}")
    for what, code in (("trace", "bad-trace-report"), ("receipt", "bad-receipt"), ("beacon", "bad-beacon")):
        uri = book.put(
            LISTER.did, f"network.weighbridge.{what}", {"subject": 7, "round": "x", "checkpoint": []}
        )
        assert book.reports(uri) == [code]
    assert book.fold.table.get(f"_/pending/{place(flip)}") == before
