"""A long season of Delvetown as a log: sheets, crews, prompts, asks and rests with traces, verified beacons.

Dice come from a local chain with a real key, so every beacon is verified as in a live game. Per game day:
`SHEETS` asks in bursts of ten, which share a round; the lister's word on each trace; one beacon a burst.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from weighbridge.chain import chain_value, round_after
from weighbridge.codec import encode
from weighbridge.identity import Signer
from weighbridge.local_chain import LocalChain
from weighbridge.log.entries import Listed, make_entry

SECOND = 1_000_000
DAY = 86_400 * SECOND
START = 20_000 * DAY
SHEETS = 100
GM = Signer(b"\x01" * 32).did
LISTER = Signer(b"\x02" * 32).did
PLAYERS = tuple(Signer(n.to_bytes(32, "big")).did for n in range(1_000, 1_000 + SHEETS))
GAME = f"at://{GM}/town.delve.root/self"
CHAIN = LocalChain(b"a season of the benchmarks, 32 b.", START // SECOND - 86_400, 3)
ACTIONS = ("fetch", "reckon", "mend", "keep")
SHEET = {
    "name": "A player",
    "look": "a grey coat, much mended",
    "drive": "finish what was begun",
    "dots": {"fetch": 2, "reckon": 2, "mend": 2, "keep": 1},
    "abilities": ["Remembers every door."],
}


class Season:
    """Writes the log, entry by entry."""

    def __init__(self, seed: int = 1) -> None:
        self.random = random.Random(seed)
        self.last: Listed | None = None
        self.at = START
        self.asks: list[str] = []
        self._count = 0

    def entries(self, size: int) -> Iterator[Listed]:
        """Yield the first `size` entries."""
        for listed in self._endless():
            yield listed
            if listed.entry.seq + 1 >= size:
                return

    def strike(self, back: int) -> Listed:
        """Return a strike on the ask nearest to `back` entries before the last."""
        if self.last is None:
            raise LookupError
        target = max(0, self.last.entry.seq - back)
        subject = min(self.asks, key=lambda place: abs(int(place.split(" ")[0]) - target)).split(" ")[1]
        return self._put(GM, "move", {"kind": "strike", "subject": subject, "why": "It does not fit."})

    def _endless(self) -> Iterator[Listed]:
        yield self._put(GM, "root", self._root(), uri=GAME)
        for n, player in enumerate(PLAYERS):
            yield self._put(player, "sheet", {**SHEET, "name": f"Player {n}"}, wait=1)
        yield from self._crews()
        day = self.at // DAY
        while True:
            yield from self._day(day)
            day += 1
            self.at = day * DAY
            yield self._list(op="tick")

    def _root(self) -> dict[str, Any]:
        places = [{"name": f"place-{n}", "namer": player} for n, player in enumerate(PLAYERS[:20])]
        return {
            "gm": GM,
            "lister": LISTER,
            "voidDays": 365,  # as far back as a game lets strikes reach: the fold keeps that much to undo
            "beacon": {"chain": chain_value(CHAIN.chain)},
            "rules": {"places": places, "perDay": {"action": 1, "between": 1}},
        }

    def _crews(self) -> Iterator[Listed]:
        for first in range(0, SHEETS, 10):
            members = list(PLAYERS[first : first + 10])
            crew = self._put(members[0], "crew", {"name": f"Crew {first}", "sheets": members}, wait=1)
            yield crew
            for member in members:
                yield self._put(member, "move", {"kind": "join", "crew": crew.entry.uri}, wait=1)

    def _day(self, day: int) -> Iterator[Listed]:
        date = _date(day)
        self.at = day * DAY + 8 * 3_600 * SECOND
        prompt = self._put(GM, "move", {"kind": "prompt", "from": date, "to": date})
        yield prompt
        for burst in range(0, SHEETS, 10):
            yield from self._burst(PLAYERS[burst : burst + 10], prompt.entry.uri or "")
        for player in PLAYERS:
            trace = {"url": f"https://delve.example/notes/{self._count}"}
            value = {"kind": "between", "purpose": "repair", "trace": trace, "harm": "fetch"}
            mend = self._put(player, "move", value, wait=1)
            yield mend
            yield self._witness(mend)

    def _burst(self, players: tuple[str, ...], prompt: str) -> Iterator[Listed]:
        self.at = (self.at // (3 * SECOND) + 200) * 3 * SECOND
        asks = [self._put(player, "move", self._ask(prompt)) for player in players]
        for ask in asks:
            self.asks.append(f"{ask.entry.seq} {ask.entry.uri}")
            yield ask
        for ask in asks:
            yield self._witness(ask)
        round_ = round_after(CHAIN.chain, asks[0].entry.at, 15)
        self.at += 18 * SECOND
        value = {"round": round_, "signature": CHAIN.sign(round_)}
        yield self._put(LISTER, "network.weighbridge.beacon", value)

    def _witness(self, listed: Listed) -> Listed:
        subject = {"uri": listed.entry.uri, "cid": str(listed.entry.record)}
        return self._put(LISTER, "network.weighbridge.trace", {"subject": subject, "verdict": "ok"})

    def _ask(self, prompt: str) -> dict[str, Any]:
        self._count += 1
        trace = {"url": f"https://delve.example/page/{self._count}", "quote": "the ferry runs at dawn"}
        push = {"push": True} if self.random.randrange(5) == 0 else {}
        target = (
            {"target": {"place": f"place-{self.random.randrange(20)}"}} if self.random.randrange(2) else {}
        )
        return {"kind": "ask", "action": "fetch", "prompt": prompt, "trace": trace, **push, **target}

    def _put(
        self, by: str, what: str, value: dict[str, Any], *, uri: str | None = None, wait: int = 0
    ) -> Listed:
        self.at += wait * SECOND
        self._count += 1
        collection = what if "." in what else f"town.delve.{what}"
        uri = uri or f"at://{by}/{collection}/{self._count:013}"
        value = value if uri == GAME else {**value, "game": GAME}
        return self._list(op="create", uri=uri, author=by, record=encode(value))

    def _list(self, **fields: Any) -> Listed:
        self.last = make_entry(self.last, game=GAME, at=self.at, **fields)
        return self.last


def _date(day: int) -> str:
    return (date(1970, 1, 1) + timedelta(days=day)).isoformat()
