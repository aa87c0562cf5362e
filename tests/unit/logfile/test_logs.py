from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from weighbridge.cid import RAW, Cid
from weighbridge.codec import encode
from weighbridge.errors import Refused
from weighbridge.limits import MAX_LOG_LINE, MAX_RECORD
from weighbridge.log import Listed, make_entry
from weighbridge.logfile import log_from_car, log_from_jsonl, log_to_car, log_to_jsonl, write_car

ALICE = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"
GAME = f"at://{ALICE}/network.weighbridge.game/3kgate"
OTHER = f"at://{ALICE}/network.weighbridge.game/other"
START = 1_700_000_000_000_000

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.text(max_size=9)
    | st.binary(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
RECORDS = st.dictionaries(
    st.text(max_size=6) | st.sampled_from(["$link", "$bytes", "$type"]), VALUES, max_size=4
)


@st.composite
def logs(draw: st.DrawFn) -> list[Listed]:
    made: list[Listed] = []
    for number, record in enumerate(draw(st.lists(st.none() | RECORDS, max_size=6))):
        made.append(entry(made[-1] if made else None, number, record))
    return made


def entry(previous: Listed | None, number: int, record: object, game: str = GAME) -> Listed:
    at = START + number
    if record is None:
        return make_entry(previous, game=game, at=at, op="tick")
    return make_entry(
        previous,
        game=game,
        at=at,
        op="create",
        uri=f"at://{ALICE}/network.weighbridge.move/r{number}",
        author=ALICE,
        record=encode(record),
        prov={"how": "repo", "at": number},
    )


def log(count: int) -> list[Listed]:
    made: list[Listed] = []
    for number in range(count):
        record = None if number % 3 == 2 else {"n": number, "text": "Zug – «vor»", "bytes": b"\x00\xff"}
        made.append(entry(made[-1] if made else None, number, record))
    return made


def pieces(data: bytes, length: int) -> Iterator[bytes]:
    return (data[start : start + length] for start in range(0, len(data), length))


def to_car(entries: list[Listed]) -> bytes:
    return b"".join(log_to_car(entries, entries[-1].cid if entries else None))


def to_jsonl(entries: list[Listed]) -> bytes:
    return b"".join(log_to_jsonl(entries))


Writer, Reader = Callable[[list[Listed]], bytes], Callable[..., Iterable[Listed]]
BOTH = pytest.mark.parametrize(
    ("write", "read"),
    [pytest.param(to_car, log_from_car, id="car"), pytest.param(to_jsonl, log_from_jsonl, id="jsonl")],
)


@BOTH
@settings(max_examples=60)
@given(entries=logs(), length=st.integers(1, 500))
def test_a_log_is_read_as_it_was_written_in_pieces_of_any_size(
    write: Writer, read: Reader, entries: list[Listed], length: int
) -> None:
    assert list(read(pieces(write(entries), length))) == entries
    assert list(read(pieces(write(entries), length), GAME)) == entries


@given(entries=logs())
def test_a_log_goes_through_both_forms_and_comes_back_the_same_bytes(entries: list[Listed]) -> None:
    car = to_car(entries)
    again = list(log_from_jsonl([to_jsonl(list(log_from_car([car])))]))
    assert to_car(again) == car


def test_a_line_is_what_a_person_reads() -> None:
    line = json.loads(to_jsonl(log(1)))
    assert line["record"] == {"n": 0, "text": "Zug – «vor»", "bytes": {"$bytes": "AP8"}}
    assert line["entry"]["record"] == {"$link": str(Cid.of(log(1)[0].record or b""))}
    assert line["cid"] == str(log(1)[0].cid)


def test_a_record_without_at_protocol_json_stands_as_its_bytes() -> None:
    first = entry(None, 0, {"$link": 5})
    line = json.loads(to_jsonl([first]))
    assert set(line) == {"cid", "entry", "recordBytes"}
    assert list(log_from_jsonl([to_jsonl([first])])) == [first]


def test_the_record_that_grows_most_in_json_still_fits_a_line() -> None:
    first = entry(None, 0, [b""] * (MAX_RECORD - 5))
    line = to_jsonl([first])
    assert len(first.record or b"") == MAX_RECORD
    assert MAX_RECORD * 13 < len(line) <= MAX_LOG_LINE
    assert list(log_from_jsonl([line])) == [first]


@BOTH
def test_entries_come_as_soon_as_their_bytes_do(write: Writer, read: Reader) -> None:
    entries = log(5)
    data = write(entries)

    def half_then_fail() -> Iterator[bytes]:
        yield data[: len(data) // 2]
        raise ConnectionError

    got = []
    with pytest.raises(ConnectionError):
        got.extend(iter_into(got, read(half_then_fail())))
    assert entries[0] in got


def iter_into(got: list[Listed], entries: Iterable[Listed]) -> list[Listed]:
    for one in entries:
        got.append(one)
    return []


LOG = log(6)


def car_of(blocks: list[tuple[Cid, bytes]], root: Cid) -> bytes:
    return b"".join(write_car([root], blocks))


def blocks_of(entries: list[Listed]) -> list[tuple[Cid, bytes]]:
    found = []
    for one in entries:
        found.append((one.cid, one.data))
        if one.entry.record is not None and one.record is not None:
            found.append((one.entry.record, one.record))
    return found


BLOCKS = blocks_of(LOG)
LAST = LOG[-1].cid
WRONG_CARS = [
    pytest.param(car_of(BLOCKS[1:], LAST), "car-order", id="a-record-first"),
    pytest.param(car_of([BLOCKS[0], *BLOCKS[2:]], LAST), "car-order", id="a-record-left-out"),
    pytest.param(car_of([BLOCKS[0], *BLOCKS[:2]], LAST), "car-order", id="an-entry-where-a-record-is-due"),
    pytest.param(car_of(BLOCKS[:1], LAST), "car-order", id="the-end-where-a-record-is-due"),
    pytest.param(car_of([*BLOCKS, (Cid.of(b"x", RAW), b"x")], LAST), "car-order", id="a-block-too-many"),
    pytest.param(car_of(blocks_of(LOG[:5]), LAST), "car-end", id="an-entry-missing-at-the-end"),
    pytest.param(car_of(BLOCKS, LOG[4].cid), "car-end", id="an-entry-too-many-at-the-end"),
    pytest.param(car_of([], LAST), "car-end", id="no-entries-and-a-root"),
    pytest.param(b"".join(write_car([], BLOCKS)), "car-end", id="entries-and-no-root"),
    pytest.param(b"".join(write_car([LAST, LAST], BLOCKS)), "car-header", id="two-roots"),
    pytest.param(car_of(blocks_of(LOG[1:]), LAST), "log-gap", id="the-first-entry-missing"),
    pytest.param(car_of(blocks_of([LOG[0], LOG[2], LOG[1]]), LOG[1].cid), "log-gap", id="a-swapped-pair"),
    pytest.param(
        car_of(blocks_of([LOG[0], entry(LOG[0], 1, {"x": 1}), LOG[2]]), LOG[2].cid),
        "log-out-of-order",
        id="an-entry-of-another-history",
    ),
    pytest.param(
        car_of(blocks_of([LOG[0], entry(LOG[0], 1, None, OTHER)]), LAST),
        "log-foreign-game",
        id="another-game",
    ),
]


@pytest.mark.parametrize(("data", "code"), WRONG_CARS)
def test_a_wrong_car_is_refused_with_its_place(data: bytes, code: str) -> None:
    with pytest.raises(Refused) as caught:
        list(log_from_car(pieces(data, 100)))
    assert caught.value.code == code
    assert isinstance(caught.value.detail["offset"], int)


LINES = to_jsonl(LOG).splitlines(keepends=True)


def line(number: int, **changes: Any) -> bytes:
    """Line `number` of the log with fields changed, those set to None left out."""
    fields = json.loads(LINES[number]) | changes
    return json.dumps({name: value for name, value in fields.items() if value is not None}).encode() + b"\n"


WRONG_LINES = [
    pytest.param([*LINES[:2], b"{\n"], "jsonl-not-json", 3, id="no-json"),
    pytest.param([b"\xff\n"], "jsonl-not-json", 1, id="no-utf-8"),
    pytest.param([*LINES[:1], b"\n"], "jsonl-not-json", 2, id="an-empty-line"),
    pytest.param([b"[" * 100_000 + b"\n"], "jsonl-not-json", 1, id="brackets-without-end"),
    pytest.param([b"1" * 5000 + b"\n"], "jsonl-not-json", 1, id="an-endless-number"),
    pytest.param([LINES[0].replace(b'"n":0', b'"n":1,"n":0')], "jsonl-not-json", 1, id="a-key-twice"),
    pytest.param([b"[]\n"], "jsonl-form", 1, id="no-object"),
    pytest.param([b"{}\n"], "jsonl-form", 1, id="no-entry"),
    pytest.param([LINES[0], line(1, entry=None, entryBytes="a")], "jsonl-form", 2, id="bad-base64"),
    pytest.param([line(0, entryBytes="oA==")], "jsonl-form", 1, id="entry-and-bytes"),
    pytest.param([line(0, recordBytes=5, record=None)], "jsonl-form", 1, id="bytes-that-are-a-number"),
    pytest.param([line(0, more=1)], "jsonl-form", 1, id="a-field-too-many"),
    pytest.param([LINES[0].replace(b'"n":0', b'"n":0.0')], "jsonl-form", 1, id="a-float"),
    pytest.param([LINES[0].replace(b'"n":0', b'"n":NaN')], "jsonl-form", 1, id="not-a-number"),
    pytest.param([line(0, record={"$link": "bafy"})], "jsonl-form", 1, id="a-bad-link"),
    pytest.param([line(0, record=1 << 70)], "jsonl-form", 1, id="a-number-of-71-bits"),
    pytest.param([line(0, cid=str(LOG[1].cid))], "jsonl-cid", 1, id="another-cid"),
    pytest.param([line(0, cid=None)], "jsonl-cid", 1, id="no-cid"),
    pytest.param([LINES[0].replace(b'"seq":0', b'"seq":1')], "jsonl-cid", 1, id="a-changed-entry"),
    pytest.param([LINES[0].replace(b'"n":0', b'"n":9')], "record-mismatch", 1, id="a-changed-record"),
    pytest.param([line(0, record=None)], "record-missing", 1, id="no-record"),
    pytest.param([LINES[0], LINES[2]], "log-gap", 2, id="a-line-left-out"),
    pytest.param([*LINES[:2], LINES[2][:-1]], "jsonl-truncated", 3, id="no-line-feed-at-the-end"),
    pytest.param([*LINES[:2], LINES[2][:50]], "jsonl-truncated", 3, id="half-a-line"),
    pytest.param([LINES[0], b" " * MAX_LOG_LINE + b"\n"], "jsonl-line-too-long", 2, id="a-line-too-long"),
    pytest.param([LINES[0], b" " * (MAX_LOG_LINE + 9)], "jsonl-line-too-long", 2, id="a-line-without-end"),
]


@pytest.mark.parametrize(("lines", "code", "number"), WRONG_LINES)
def test_a_wrong_line_is_refused_with_its_number(lines: list[bytes], code: str, number: int) -> None:
    with pytest.raises(Refused) as caught:
        list(log_from_jsonl(pieces(b"".join(lines), 100_000)))
    assert (caught.value.code, caught.value.detail["line"]) == (code, number)


@BOTH
def test_a_log_of_another_game_is_refused(write: Writer, read: Reader) -> None:
    with pytest.raises(Refused) as caught:
        list(read([write(LOG)], OTHER))
    assert caught.value.code == "log-foreign-game"


def test_a_car_whose_entries_do_not_end_as_announced_is_not_finished() -> None:
    with pytest.raises(Refused) as caught:
        list(log_to_car(LOG[:5], LAST))
    assert caught.value.code == "car-end"


@pytest.mark.parametrize("length", range(0, len(to_car(LOG)) - 1, 53))
def test_a_car_cut_off_anywhere_is_refused(length: int) -> None:
    with pytest.raises(Refused):
        list(log_from_car([to_car(LOG)[:length]]))
