"""What the dice witness keeps of one game: how far it has read, what is awaited, and every beacon it vouched for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple, TypeVar

from weighbridge import codec
from weighbridge.contract import RuleSet
from weighbridge.ledger import Ledger
from weighbridge.log.entries import Listed

from weighbridge_services.dice_witness.decide import Seen
from weighbridge_services.following import LogReader, Rules, rules_after
from weighbridge_services.subjects import token

T = TypeVar("T")

DIGITS: Final = 20
"""Digits of a number in a name, so that names sort as their numbers do."""


class Loaded(NamedTuple):
    """What a start finds: where reading stands, what the log says, and the rounds whose beacons are kept."""

    reader: LogReader
    seen: Seen
    kept: frozenset[int]


class Store:
    """One game's part of the ledger. Every method but `run` is for the ledger's own thread."""

    def __init__(self, ledger: Ledger, game: str, thread: ThreadPoolExecutor) -> None:
        self.game = game
        self._ledger = ledger
        self._thread = thread
        self._prefix = f"dice/{token(game)}"

    async def run(self, work: Callable[..., T], *arguments: Any) -> T:
        """Have the ledger's thread do some work, and wait for it even when cancelled: a batch is never torn."""
        return await asyncio.shield(
            asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)
        )

    def load(self, ruleset: RuleSet) -> Loaded:
        """Return what was kept."""
        values = self._ledger.values
        rules = Rules()
        for name in values.names(f"{self._prefix}/roots/"):
            rules = rules_after(rules, ruleset, codec.decode_own(values.get(name) or b""))
        awaited = {_number(name): _int(values.get(name)) for name in values.names(f"{self._prefix}/awaited/")}
        traced = values.get(f"{self._prefix}/traced")
        seen = Seen(rules, awaited, None if traced is None else _int(traced))
        kept = frozenset(_number(name) for name in values.names(f"{self._prefix}/beacon/"))
        return Loaded(LogReader(self.game, values.get(f"{self._prefix}/last")), seen, kept)

    def keep(self, before: Seen, after: Seen, entries: Iterable[Listed]) -> None:
        """Keep what entries said, with how far reading has come, in one batch."""
        values = self._ledger.values
        with self._ledger.batch():
            last: Listed | None = None
            for listed in entries:
                last = listed
                if listed.entry.uri == self.game and listed.record is not None:
                    values.set(f"{self._prefix}/roots/{listed.entry.seq:0{DIGITS}}", listed.record)
            self.keep_awaited(before.awaited, after.awaited)
            if after.traced is not None and after.traced != before.traced:
                values.set(f"{self._prefix}/traced", codec.encode(after.traced))
            if last is not None:
                values.set(f"{self._prefix}/last", last.data)

    def keep_awaited(self, before: Mapping[int, int], after: Mapping[int, int]) -> None:
        """Keep what is awaited now."""
        if before is after:
            return
        values = self._ledger.values
        with self._ledger.batch():
            for number in before.keys() - after.keys():
                values.delete(self._name("awaited", number))
            for number in after.keys() - before.keys():
                values.set(self._name("awaited", number), codec.encode(after[number]))

    def keep_beacon(self, number: int, envelope: bytes) -> None:
        """Keep a verified beacon as the record that is published."""
        self._ledger.values.set(self._name("beacon", number), envelope)

    def beacon(self, number: int) -> bytes | None:
        """Return the record of a beacon, if it was kept."""
        return self._ledger.values.get(self._name("beacon", number))

    def _name(self, kind: str, number: int) -> str:
        return f"{self._prefix}/{kind}/{number:0{DIGITS}}"


def _number(name: str) -> int:
    return int(name.rpartition("/")[2])


def _int(data: bytes | None) -> int:
    found = codec.decode_own(data or b"\0")
    return found if isinstance(found, int) else 0
