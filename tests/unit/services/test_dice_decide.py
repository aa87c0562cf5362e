"""Which rounds a game waits for, and when they are asked for."""

from __future__ import annotations

from typing import Any

import coin
import pytest
from dice_log import DAY, LOCAL, SECOND, START, Log
from weighbridge.chain import round_at, round_time
from weighbridge.codec import encode
from weighbridge.contract import Docket, Needs
from weighbridge_services.dice_witness.asking import waits_in
from weighbridge_services.dice_witness.decide import (
    FIRST,
    LONGEST,
    FoldWaits,
    Plan,
    Seen,
    Try,
    add,
    due_at,
    failed,
    may_settle,
    newest_now,
    off_by,
    plan,
    see,
)

CHAIN = LOCAL.chain
OTHER = "ab" * 32


def seen_in(log: Log, ruleset: Any = coin.RULES) -> Seen:
    return see(ruleset, Seen(), log.entries)


def test_a_record_that_rolls_waits_for_the_first_round_after_its_margin() -> None:
    log = Log()
    log.root()
    number = log.flip("a")
    assert seen_in(log).awaited == {number: 1}
    assert due_at(CHAIN, number) > log.now + 15 * SECOND


def test_records_of_one_round_wait_together_from_the_first_on() -> None:
    log = Log()
    log.root()
    first, second = log.flip("a", wait=2 * SECOND), log.flip("b", wait=0)
    assert first == second
    assert seen_in(log).awaited == {first: 1}


def test_a_listed_beacon_that_verifies_ends_the_waiting() -> None:
    log = Log()
    log.root()
    number = log.flip("a")
    log.beacon(number)
    assert not seen_in(log).awaited


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"signature": LOCAL.sign(1)}, id="another-rounds"),
        pytest.param({"signature": b"\xc0" + bytes(47)}, id="infinity"),
        pytest.param({"signature": b"short"}, id="no-point"),
        pytest.param({"chain": OTHER}, id="another-chain"),
        pytest.param({"round": "7"}, id="no-number"),
        pytest.param({"round": 1 << 63}, id="another-round"),
        pytest.param(
            {"game": "at://did:plc:gmgmgmgmgmgmgmgmgmgmgmgm/example.coin.root/other"}, id="another-game"
        ),
    ],
)
def test_a_listed_beacon_that_does_not_verify_ends_nothing(fields: dict[str, Any]) -> None:
    log = Log()
    log.root()
    number = log.flip("a")
    log.beacon(number, **fields)
    assert seen_in(log).awaited == {number: 1}


def test_taking_a_log_in_two_shares_comes_to_the_same_as_taking_it_whole() -> None:
    log = Log()
    log.root()
    rounds = [log.flip(f"f{n}", wait=4 * SECOND) for n in range(6)]
    for number in rounds[::2]:
        log.beacon(number)
    whole = seen_in(log)
    for cut in range(len(log.entries)):
        first = see(coin.RULES, Seen(), log.entries[:cut])
        assert see(coin.RULES, first, log.entries[cut:]) == whole
    assert set(whole.awaited) == set(rounds[1::2])


def test_nothing_waits_before_there_is_a_root() -> None:
    log = Log()
    log.flip("a")
    log.root()
    assert not seen_in(log).awaited


def test_a_later_version_of_a_record_rolls_nothing() -> None:
    log = Log()
    log.root()
    number = log.flip("a")
    log.put("did:plc:annannannannannannannann", "example.coin.flip", "a", {"call": "tails"}, DAY, "update")
    assert seen_in(log).awaited == {number: 1}


class TraceFirst(coin.Coin):
    """Rolls on a round that the settling of the trace fixes."""

    def needs(self, docket: Docket, rules: Any) -> Needs:
        if docket.collection != "example.coin.flip":
            return Needs()
        return Needs(dice=("flip",), trace="trace" in docket.value, after="trace")


def test_a_round_that_a_trace_fixes_is_left_to_the_fold() -> None:
    log = Log()
    log.root()
    log.flip("a", trace="https://example.org/")
    seen = seen_in(log, TraceFirst())
    assert not seen.awaited
    assert may_settle(seen, START + 2 * DAY)
    assert not may_settle(seen, START + 3 * DAY)


def test_a_round_after_a_trace_is_fixed_by_the_listing_where_there_is_no_trace() -> None:
    log = Log()
    log.root()
    number = log.flip("a")
    seen = seen_in(log, TraceFirst())
    assert seen.awaited == {number: 1}
    assert not may_settle(seen, START)


class Fails(coin.Coin):
    def needs(self, docket: Docket, rules: Any) -> Needs:
        raise ZeroDivisionError


def test_a_rule_set_that_fails_on_a_record_stops_nothing() -> None:
    log = Log()
    log.root()
    log.flip("a")
    assert not seen_in(log, Fails()).awaited


def test_what_the_fold_waits_for_is_awaited_too() -> None:
    status = {
        "size": 9,
        "pending": [{"seq": 3, "round": 70}, {"seq": 4, "round": 71, "beacon": True}, {"seq": 5}],
    }
    waits = waits_in(encode(status))
    assert waits == FoldWaits(9, {70: 3})
    assert add(Seen(awaited={70: 1}), waits.rounds).awaited == {70: 1}
    assert add(Seen(awaited={7: 1}), waits.rounds).awaited == {7: 1, 70: 3}


@pytest.mark.parametrize(
    "status", [{}, [], {"size": "9"}, {"size": 1, "pending": [1, {"seq": 1, "round": -4}]}]
)
def test_a_status_of_another_form_says_nothing(status: Any) -> None:
    assert not waits_in(encode(status)).rounds


# --- when to ask -------------------------------------------------------------------------------------------


def test_no_round_is_asked_for_before_it_is_out() -> None:
    number = round_at(CHAIN, START)
    out = due_at(CHAIN, number)
    assert plan(CHAIN, [number], {}, out - 1, 8) == Plan((), out)
    assert plan(CHAIN, [number], {}, out, 8) == Plan((number,), None)


def test_the_oldest_rounds_come_first_and_no_more_than_there_is_room_for() -> None:
    found = plan(CHAIN, [9, 3, 5, 7, 5_000_000], {}, due_at(CHAIN, 9), 3)
    assert found.rounds == (3, 5, 7)
    assert found.wake == due_at(CHAIN, 5_000_000)


def test_what_failed_is_tried_again_later_each_time_and_half_a_minute_apart_at_most() -> None:
    now, tried, waits = due_at(CHAIN, 9), None, []
    for _ in range(12):
        tried = failed(CHAIN, 9, tried, now, early=False)
        waits.append(tried.again - now)
        assert plan(CHAIN, [9], {9: tried}, tried.again - 1, 8).rounds == ()
        now = tried.again
        assert plan(CHAIN, [9], {9: tried}, now, 8).rounds == (9,)
    assert waits[:4] == [FIRST, 2 * FIRST, 4 * FIRST, 8 * FIRST]
    assert waits[-1] == LONGEST


def test_a_round_that_is_a_little_late_is_asked_for_again_soon() -> None:
    out = due_at(CHAIN, 9)
    assert failed(CHAIN, 9, Try(0, 0), out + SECOND, early=True) == Try(0, out + SECOND + FIRST)
    assert failed(CHAIN, 9, Try(4, 0), out + 6 * SECOND, early=True) == Try(5, out + 6 * SECOND + 16 * FIRST)


# --- the clock ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("now", "off"),
    [
        pytest.param(0, 0, id="the-moment-it-is-out"),
        pytest.param(3_000_000, 0, id="the-moment-the-next-is-out"),
        pytest.param(-1, -1, id="behind"),
        pytest.param(3_000_001, 1, id="ahead"),
    ],
)
def test_a_clock_is_off_by_its_distance_from_the_newest_rounds_time(now: int, off: int) -> None:
    assert off_by(CHAIN, 9, round_time(CHAIN, 9) * SECOND + now) == off


def test_the_newest_round_now_is_that_of_the_clock_put_right() -> None:
    now = due_at(CHAIN, 100) + SECOND
    assert newest_now(CHAIN, 0, now) == 100
    assert newest_now(CHAIN, -3 * SECOND, now) == 101
    assert newest_now(CHAIN, 6 * SECOND, now) == 98
