from __future__ import annotations

import hashlib
from typing import Any

import pytest
from coin import RULES
from weighbridge.chain import chain_value
from weighbridge.codec import encode
from weighbridge.dice import QUICKNET, round_after, round_time
from weighbridge.fold import Fold
from weighbridge.local_chain import LocalChain
from weighbridge.log.entries import Listed, make_entry
from weighbridge.reasoning import DoesNotRoll, RecordNotInLog, explain

GM, ANN = "did:plc:gmgmgmgmgmgmgmgmgmgmgmgm", "did:plc:annannannannannannannann"
GAME = f"at://{GM}/example.coin.root/self"
FLIP = f"at://{ANN}/example.coin.flip/1"
SECOND = 1_000_000
LOCAL = LocalChain(b"a seed for tests", genesis=1_700_000_000)
START = 1_728_000_000 * SECOND


class Log:
    """A log that is written entry by entry."""

    def __init__(self, **root: Any) -> None:
        self.entries: list[Listed] = []
        self.now = START
        self.put(GM, GAME, {"gm": GM, **root})

    def put(self, author: str, uri: str, value: dict[str, Any], wait: int = SECOND) -> None:
        self.now += wait
        value = value if uri == GAME else {**value, "game": GAME}
        self._list(op="create", uri=uri, author=author, record=encode(value))

    def _list(self, **fields: Any) -> None:
        previous = self.entries[-1] if self.entries else None
        self.entries.append(make_entry(previous, game=GAME, at=self.now, **fields))

    def beacon(self, round: int, signature: bytes, rkey: str = "b") -> str:
        uri = f"at://{GM}/network.weighbridge.beacon/{rkey}"
        chain = LOCAL.chain.hash
        self.put(GM, uri, {"round": round, "signature": signature, "chain": chain}, wait=30 * SECOND)
        return uri


def on_a_local_chain() -> Log:
    return Log(beacon={"chain": chain_value(LOCAL.chain), "margin": 5})


def test_a_roll_is_told_from_its_listed_time_to_its_face() -> None:
    log = on_a_local_chain()
    log.put(ANN, FLIP, {"call": "heads"})
    at = log.now
    round = round_after(LOCAL.chain, at, 5)
    false = log.beacon(round, LOCAL.sign(round + 1), "false")
    beacon = log.beacon(round, LOCAL.sign(round), "true")
    told = explain(log.entries, RULES, FLIP)

    assert (told.game, told.uri, told.seq, told.at) == (GAME, FLIP, 1, at)
    assert (told.chain, told.margin, told.round) == (LOCAL.chain, 5, round)
    assert told.due == round_time(LOCAL.chain, round)
    assert told.beacon == beacon != false
    assert told.signature == LOCAL.sign(round)
    assert told.randomness == hashlib.sha256(LOCAL.sign(round)).digest()
    assert told.roll == "lister-timed"
    [purpose] = told.dice
    whole = ["weighbridge/dice/v1", told.randomness, GAME, FLIP, log.entries[1].entry.record, "flip", 0]
    assert purpose.blocks == (hashlib.sha256(encode(whole)).digest(),)
    assert purpose.draws == ((2, 1 + purpose.blocks[0][0] % 2),)
    assert (purpose.purpose, purpose.randomness, purpose.sealed) == ("flip", told.randomness, False)


def test_watching_changes_nothing() -> None:
    log = on_a_local_chain()
    log.put(ANN, FLIP, {"call": "heads"})
    round = round_after(LOCAL.chain, log.now, 5)
    log.beacon(round, LOCAL.sign(round))
    fold = Fold(GAME, RULES)
    for listed in log.entries:
        fold.fold(listed)
    face = explain(log.entries, RULES, FLIP).dice[0].draws[0][1]

    assert fold.table[f"flip/{ANN}:1"]["face"] == ("heads", "tails")[face - 1]


def test_a_roll_whose_beacon_is_not_in_the_log_is_told_as_far_as_it_goes() -> None:
    log = Log()
    log.put(ANN, FLIP, {"call": "heads"})
    told = explain(log.entries, RULES, FLIP)

    assert told.round == round_after(QUICKNET, log.now, 15)
    assert (told.beacon, told.randomness, told.dice) == (None, None, ())


def test_faces_that_a_scenario_gave_have_no_blocks() -> None:
    log = Log()
    log.put(ANN, FLIP, {"call": "heads"})
    uri = f"at://{GM}/network.weighbridge.scenario/1"
    log.put(GM, uri, {"kind": "dice", "subject": FLIP, "values": [2], "timely": True})
    [purpose] = explain(log.entries, RULES, FLIP, scenario=True).dice

    assert (purpose.draws, purpose.blocks, purpose.randomness) == (((2, 2),), (), None)


def test_a_record_that_the_log_does_not_list_is_refused() -> None:
    with pytest.raises(RecordNotInLog):
        explain(Log().entries, RULES, FLIP)
    with pytest.raises(RecordNotInLog):
        explain([], RULES, FLIP)


def test_a_record_that_awaits_no_dice_is_refused() -> None:
    log = Log()
    log.put(ANN, f"at://{ANN}/example.coin.note/1", {"text": "hello"})

    with pytest.raises(DoesNotRoll):
        explain(log.entries, RULES, f"at://{ANN}/example.coin.note/1")
