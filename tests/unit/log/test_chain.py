from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.errors import Refused
from weighbridge.log import Entry, MerkleLog, check_next, make_entry, verify_log
from weighbridge.log.chain import MAX_SILENCE_US
from weighbridge.log.errors import (
    EntryEncoding,
    EntryMalformed,
    LogForeignGame,
    LogGap,
    LogOutOfOrder,
    LogRefused,
    LogRootMismatch,
    LogSize,
    LogTimeDecreases,
    LogTimeGap,
    RecordMismatch,
    RecordMissing,
)

GM = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"
GAME = f"at://{GM}/network.weighbridge.root/self"
OTHER_GAME = f"at://{GM}/network.weighbridge.root/other"
NOON = 1_700_000_000_000_000

Rows = list[tuple[bytes, bytes | None]]


def a_log(steps: list[tuple[int, str]]) -> list:
    """A log of these steps: µs since the entry before, and what is listed."""
    listed, at = [], NOON
    for number, (later, op) in enumerate(steps):
        at += later
        uri = f"at://{GM}/town.delve.move/{number}"
        more = {
            "tick": {},
            "create": {"uri": uri, "author": GM, "record": codec.encode({"n": number})},
            "update": {"uri": uri, "author": GM, "record": codec.encode({"u": number}), "prov": {"rev": "a"}},
            "delete": {"uri": uri, "author": GM},
            "flood": {"count": number + 1},
        }[op]
        listed.append(make_entry(listed[-1] if listed else None, game=GAME, at=at, op=op, **more))
    return listed


LOG = a_log([(0, "create"), (5, "tick"), (0, "update"), (MAX_SILENCE_US, "delete"), (1, "flood")])


def checked(rows: Rows, of: list = LOG):
    """Walk these rows as what they pretend to be: the log `of`."""
    merkle = MerkleLog()
    for listed in of:
        merkle.append(listed.data)
    return verify_log(rows, GAME, size=len(of), root=merkle.root())


def rows_of(log: list) -> Rows:
    return [(listed.data, listed.record) for listed in log]


def test_a_log_as_it_was_listed_verifies():
    verified = checked(rows_of(LOG))
    assert verified.last == LOG[-1]
    assert verified.frontier.size == len(LOG)


def test_the_empty_log_verifies():
    assert checked([], []).last is None


def next_entry(**changed) -> Entry:
    fields = {"v": 1, "game": GAME, "seq": 2, "prev": LOG[1].cid, "at": LOG[1].entry.at, "op": "tick"}
    return Entry(**{**fields, **changed})


def test_an_entry_that_follows_is_let_pass():
    check_next(None, None, LOG[0].entry, GAME)
    check_next(LOG[1].entry, LOG[1].cid, next_entry(), GAME)
    check_next(LOG[1].entry, LOG[1].cid, next_entry(at=LOG[1].entry.at + MAX_SILENCE_US), GAME)


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        pytest.param({"game": OTHER_GAME}, LogForeignGame, id="of another game"),
        pytest.param({"seq": 3}, LogGap, id="one left out"),
        pytest.param({"seq": 1}, LogGap, id="a number used twice"),
        pytest.param({"seq": 0, "prev": None}, LogGap, id="a second beginning"),
        pytest.param({"prev": LOG[0].cid}, LogOutOfOrder, id="following another"),
        pytest.param({"at": LOG[1].entry.at - 1}, LogTimeDecreases, id="a microsecond back"),
        pytest.param({"at": LOG[1].entry.at + MAX_SILENCE_US + 1}, LogTimeGap, id="over 400 days on"),
        pytest.param({"op": "create"}, EntryMalformed, id="a create without uri"),
    ],
)
def test_an_entry_that_does_not_follow_is_refused(changed, error):
    with pytest.raises(error) as caught:
        check_next(LOG[1].entry, LOG[1].cid, next_entry(**changed), GAME)
    if isinstance(caught.value, LogRefused):
        assert caught.value.detail["position"] == 2
    else:
        assert caught.value.detail["field"] == "uri"


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        pytest.param({}, LogGap, id="not the first"),
        pytest.param({"game": OTHER_GAME, "seq": 0, "prev": None}, LogForeignGame, id="of another game"),
    ],
)
def test_a_log_does_not_begin_with_any_entry(changed, error):
    with pytest.raises(error):
        check_next(None, None, next_entry(**changed), GAME)


def test_a_swapped_pair_is_refused_where_it_begins():
    rows = rows_of(LOG)
    rows[1], rows[2] = rows[2], rows[1]
    with pytest.raises(LogGap) as caught:
        checked(rows)
    assert caught.value.detail["position"] == 1


def test_an_entry_rewritten_in_the_middle_shows_at_the_next_one():
    rows = rows_of(LOG)
    rows[1] = (rows_of(a_log([(0, "create"), (4, "tick")]))[1][0], None)
    with pytest.raises(LogOutOfOrder) as caught:
        checked(rows)
    assert caught.value.detail["position"] == 2


def test_the_last_entry_rewritten_shows_in_the_root():
    rows = rows_of(
        a_log([(0, "create"), (5, "tick"), (0, "update"), (MAX_SILENCE_US, "delete"), (2, "flood")])
    )
    with pytest.raises(LogRootMismatch) as caught:
        checked(rows)
    assert caught.value.detail["position"] == 4


@pytest.mark.parametrize(
    ("change", "error", "position"),
    [
        pytest.param(lambda rows: rows[:-1], LogSize, 4, id="the last left out"),
        pytest.param(lambda rows: rows[1:], LogGap, 0, id="the first left out"),
        pytest.param(lambda rows: [*rows, rows[-1]], LogSize, 5, id="the last twice"),
        pytest.param(lambda rows: [rows[0], *rows], LogGap, 1, id="the first twice"),
        pytest.param(
            lambda rows: [*rows[:2], (rows[2][0], None), *rows[3:]], RecordMissing, 2, id="no record"
        ),
        pytest.param(
            lambda rows: [*rows[:2], (rows[2][0], b""), *rows[3:]], RecordMismatch, 2, id="other record"
        ),
        pytest.param(lambda rows: [*rows[:3], (b"\xff", None), *rows[4:]], EntryEncoding, 3, id="no entry"),
    ],
)
def test_a_log_that_is_not_the_one_is_refused_with_the_place(change, error, position):
    with pytest.raises(error) as caught:
        checked(change(rows_of(LOG)))
    assert caught.value.detail["position"] == position


STEPS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["create", "update", "delete", "tick", "flood"])),
    min_size=1,
    max_size=9,
)


def refused_at(rows: Rows, log: list) -> int:
    with pytest.raises(Refused) as caught:
        checked(rows, log)
    position = caught.value.detail["position"]
    assert isinstance(position, int)
    return position


@settings(max_examples=60)
@given(STEPS, st.data())
def test_any_byte_flipped_in_any_log_is_refused_there_or_right_after(steps, data):
    log = a_log(steps)
    rows = rows_of(log)
    at = data.draw(st.integers(0, len(rows) - 1))
    entry, record = rows[at]
    in_record = record is not None and data.draw(st.booleans())
    target = record if in_record and record is not None else entry
    place, bit = data.draw(st.integers(0, len(target) - 1)), data.draw(st.integers(0, 7))
    flipped = target[:place] + bytes([target[place] ^ 1 << bit]) + target[place + 1 :]
    rows[at] = (entry, flipped) if in_record else (flipped, record)
    assert at <= refused_at(rows, log) <= at + 1


@settings(max_examples=60)
@given(STEPS.filter(lambda steps: len(steps) > 1), st.data())
def test_any_pair_swapped_in_any_log_is_refused_at_the_first_of_them(steps, data):
    log = a_log(steps)
    rows = rows_of(log)
    first, second = sorted(data.draw(st.sets(st.integers(0, len(rows) - 1), min_size=2, max_size=2)))
    rows[first], rows[second] = rows[second], rows[first]
    assert refused_at(rows, log) == first


@settings(max_examples=60)
@given(STEPS, st.data())
def test_any_entry_left_out_of_any_log_is_refused_where_it_was(steps, data):
    log = a_log(steps)
    rows = rows_of(log)
    at = data.draw(st.integers(0, len(rows) - 1))
    del rows[at]
    assert refused_at(rows, log) == at


@settings(max_examples=60)
@given(STEPS, st.data())
def test_any_entry_put_into_any_log_is_refused_there_or_right_after(steps, data):
    log = a_log(steps)
    at = data.draw(st.integers(0, len(log)))
    forged = make_entry(
        log[at - 1] if at else None, game=GAME, at=log[at - 1].entry.at if at else NOON, op="tick"
    )
    rows = rows_of(log)
    rows.insert(at, (forged.data, None))
    assert at <= refused_at(rows, log) <= at + 1


def test_prev_is_compared_and_not_only_there():
    first = LOG[0]
    with pytest.raises(LogOutOfOrder):
        check_next(first.entry, Cid.of(b"another"), LOG[1].entry, GAME)
