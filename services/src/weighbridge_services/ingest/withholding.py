"""What this node holds and its lister has not listed: handed in here, or found by this node's own source.

The lister is to list it in time, and is accused if it does not: see `withheld` for when.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Final

from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.errors import Refused, Unavailable
from weighbridge.limits import MAX_AWAITED, MAX_AWAITED_OF_AUTHOR, MAX_AWAITED_PROOF
from weighbridge.log.entries import Listed

from weighbridge_services.ingest.counting import counts_as
from weighbridge_services.ingest.errors import TooMuchAwaited
from weighbridge_services.ingest.following import Fault
from weighbridge_services.ingest.lister import operator_envelope
from weighbridge_services.ingest.opening import Opened, Refusal, read_record
from weighbridge_services.ingest.probing import EVERY, Probe
from weighbridge_services.ingest.setting import Setting
from weighbridge_services.ingest.sources.configured import position_of
from weighbridge_services.ingest.withheld import (
    Awaited,
    Sight,
    accusation,
    awaited_of,
    days_of,
    ended,
    is_alive,
    is_late,
    settles,
)
from weighbridge_services.subjects import Subjects
from weighbridge_services.wire import Incoming

LOOK: Final = 0.25
"""Seconds between two looks at whether this node has caught up with its lister."""
REMEMBERED: Final = 4_096
"""Rejections of the lister's that are remembered: one may come before what it rejects is found here."""

DAYS: Final = 4
"""Days of which is remembered how much was missed."""

Accuse = Callable[[Fault], Awaitable[None]]


class _Waiting:
    """Something awaited: since when (s, of the loop), and since when the lister shows life."""

    __slots__ = ("alive", "awaited", "since")

    def __init__(self, awaited: Awaited, since: float) -> None:
        self.awaited = awaited
        self.since = since
        self.alive: float | None = None


class Withholding:
    """The records that this node holds and that are not listed yet."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._loop = asyncio.get_running_loop()
        self._position = position_of(setting)
        self._open: dict[str, _Waiting] = {}
        self._of_author: Counter[str] = Counter()
        self._rejections: OrderedDict[str, Refusal] = OrderedDict()
        self._touched: set[str] = set()
        self._accused: dict[int, Counter[str]] = {}
        self._news = False
        self._listed_at = 0
        self._probe = Probe(setting, operator_envelope(setting))
        self._probed = 0.0
        self._lister: Subjects | None = None
        self.after = setting.game.withheld_after
        """Seconds that the lister has."""
        self.found = 0
        """How many accusations there were since the start."""
        self.left_out = 0
        """How many were not watched since the start, because too much of their author's is awaited already."""

    @property
    def waiting(self) -> int:
        """How many are awaited."""
        return len(self._open)

    @property
    def rejections(self) -> int:
        """How many rejections of the lister's are remembered."""
        return len(self._rejections)

    def health(self) -> dict[str, int]:
        """Return how many are awaited, and since the start were withheld, and left out as too many of one author."""
        return {"waiting": len(self._open), "withheld": self.found, "unwatched": self.left_out}

    def load(self) -> None:
        """Take up what the ledger holds. In the ledger's thread."""
        store = self._setting.store
        self._listed_at = store.log.last.entry.at if store.log.last is not None else 0
        self._add(store.awaited())

    def start(self, lister: Subjects) -> None:
        """Begin reading what is handed in here, and what the lister rejected."""
        self._lister = lister
        own, bus = self._setting.own, self._setting.bus
        bus.read(own.stream("INBOX"), f"{own.prefix}.submit.>", f"ingest-{own.operator}-seen", self._take)
        bus.read(
            lister.stream("INBOX"), lister.rejected, f"ingest-{own.operator}-rejected", self._take_rejected
        )

    async def hand_in(self, data: bytes) -> None:
        """Hand in a record of this node's own, unless the log has it."""
        opened = read_record(data, self._setting.uri)
        awaited = self._awaited(read_of([opened]), found=False)
        if awaited and await self._setting.store.run(self._unsettled, awaited):
            await self._setting.bus.put(self._setting.own.submit(str(Cid.of(data))), data)

    # --- what comes in -------------------------------------------------------------------------------------

    async def _take(self, messages: Sequence[Incoming]) -> None:
        """Take what was handed in here. Raises TooMuchAwaited: it comes again."""
        opened = await self._setting.openers.open([each.data for each in messages], self._setting.uri)
        awaited = self._awaited(read_of(opened), found=False)
        if not self._has_room(awaited):
            raise TooMuchAwaited(f"{len(self._open)} records are awaited already")
        await self._keep(awaited, None)

    async def take_found(self, found: Sequence[tuple[Opened, int | None]], position: int) -> int:
        """Take what this node's own source has found, up to a position; wait until there is room for it.

        With each comes the time (µs) at which a recorded season lists it. What is found while this node is behind
        would be awaited though it is listed: it waits for that too. Returns how many were of another game.
        """
        while not (self._has_room(found) and await self._has_caught_up()):
            await asyncio.sleep(LOOK)
        strays = {each.uri for each, _ in found if each.is_stray}
        strays -= {each.uri for each, _ in found if not each.is_stray and each.record is not None}
        strays -= {each.awaited.uri for each in self._open.values()}
        strays -= await self._setting.store.run(self._setting.store.have_versions, strays)
        ours = [(each, at) for each, at in found if not (each.is_stray and each.uri in strays)]
        await self._keep(self._awaited(ours, found=True), position)
        return len(found) - len(ours)

    def _awaited(self, opened: Iterable[tuple[Opened, int | None]], *, found: bool) -> list[Awaited]:
        now = self._setting.clock.now()
        given = [awaited_of(each, at or now, found=found, most=MAX_AWAITED_PROOF) for each, at in opened]
        return [each for each in given if each is not None and each.key not in self._open]

    def _has_room(self, come: Sequence[object]) -> bool:
        # One batch may be larger than what is left: it is never more than a share above.
        return not come or len(self._open) < MAX_AWAITED

    async def _keep(self, awaited: Sequence[Awaited], position: int | None) -> None:
        # A crash before this reads them again; one after it finds them kept.
        kept = await self._setting.store.run(self._write, awaited, position)
        self._add(kept)
        over = ended((each.awaited for each in self._open.values()), awaited)
        if over:
            known = await self._setting.store.run(self._setting.store.known, {each.uri for each in over})
            await self._forget(each.key for each in over if each.uri not in known)

    def _write(self, awaited: Sequence[Awaited], position: int | None) -> list[Awaited]:
        """Keep what is not listed, and the position behind it. In the ledger's thread."""
        fresh: dict[str, Awaited] = {}
        counts = Counter(self._of_author)
        for each in self._unsettled(awaited):
            if counts[each.author] >= MAX_AWAITED_OF_AUTHOR:
                self.left_out += 1
                continue
            counts[each.author] += each.key not in fresh
            fresh.setdefault(each.key, each)
        self._setting.store.keep_awaited(
            list(fresh.values()), None if position is None else (self._position, position)
        )
        return list(fresh.values())

    def _unsettled(self, awaited: Sequence[Awaited]) -> list[Awaited]:
        """Return what the log does not say. In the ledger's thread."""
        known = self._setting.store.known({each.uri for each in awaited})
        return [each for each in awaited if not settles(each, known.get(each.uri, ()))]

    def _add(self, awaited: Iterable[Awaited]) -> None:
        for each in awaited:
            if each.key not in self._open:
                self._open[each.key] = _Waiting(each, self._loop.time())
                self._of_author[each.author] += 1
                self._news = True

    async def _take_rejected(self, messages: Sequence[Incoming]) -> None:
        for message in messages:
            rejection = rejection_in(message.data)
            if rejection is not None:
                self._rejections[rejection[0]] = rejection[1]
                self._news = True
        while len(self._rejections) > REMEMBERED:
            self._rejections.popitem(last=False)

    def listed(self, entries: Sequence[Listed]) -> None:
        """Take note of what was listed."""
        self._listed_at = max(self._listed_at, entries[-1].entry.at)
        if self._open:
            self._touched |= {each.entry.uri for each in entries if each.entry.uri is not None}

    # --- what comes of it ----------------------------------------------------------------------------------

    async def due(self, accuse: Accuse) -> None:
        """Accuse the lister of each record that it withholds, and forget what is settled. Raises Unavailable."""
        if not self._open:
            return
        if self._touched or self._news:
            await self._settle()
        now, until = self._loop.time(), self._known_until()
        for each in self._open.values():
            if each.alive is None and is_alive(each.awaited, until):
                each.alive = now
        late = [each.awaited for each in self._open.values() if self._is_late(each, now, until)]
        if late and await self._has_caught_up():
            await self._judge(late, accuse)
        elif not late:
            await self._ask_if_silent(now, until)

    def _known_until(self) -> int:
        return max(self._listed_at, self._probe.known_until(self._setting.store.size))

    def _is_late(self, each: _Waiting, now: float, until: int) -> bool:
        alive = None if each.alive is None else now - each.alive
        return is_late(each.awaited, Sight(until, alive), self.after)

    async def _settle(self) -> None:
        """Forget what has been listed by now, and what was rejected on a day that is full as far as the log is here."""
        touched, self._touched, self._news = self._touched, set(), False
        concerned = [each.awaited for each in self._open.values() if each.awaited.uri in touched]
        flooded = [each.awaited for each in self._open.values() if self._was_flooded(each.awaited)]
        store = self._setting.store
        left = {each.key for each in await store.run(self._unsettled, concerned)}
        left |= {each.key for each in await store.run(self._missed, flooded)}
        await self._forget({each.key for each in [*concerned, *flooded]} - left)

    def _was_flooded(self, awaited: Awaited) -> bool:
        rejection = self._rejections.get(awaited.given)
        return rejection is not None and rejection.code == "flooded"

    async def _judge(self, late: Sequence[Awaited], accuse: Accuse) -> None:
        missed = await self._setting.store.run(self._missed, late)
        await self._forget({each.key for each in late} - {each.key for each in missed})
        for each in missed:
            await accuse(accusation(each, self._rejections.get(each.given)))
            # A crash here accuses again, in the same words: the same finding.
            self.found += 1
            self._count(each)
            await self._forget([each.key])

    def _count(self, accused: Awaited) -> None:
        """Count what a day has had missed: whoever shows this node alone what they write could else accuse for ever."""
        for day in days_of(accused, self.after):
            key = self._counts_as(accused)
            if key is not None:
                self._accused.setdefault(day, Counter())[key] += 1
        for day in sorted(self._accused)[:-DAYS]:
            del self._accused[day]

    def _missed(self, late: Sequence[Awaited]) -> list[Awaited]:
        """Return what the log does not say and had room for. In the ledger's thread."""
        store, unsettled = self._setting.store, self._unsettled(late)
        by_day: dict[int, set[str]] = {}
        for each in unsettled:
            for day in days_of(each, self.after):
                by_day.setdefault(day, set()).add(self._counts_as(each) or "")
        full = {
            day: store.full_for(day, keys - {""}, self._operators, self._accused.get(day, {}))
            for day, keys in by_day.items()
        }
        return [
            each
            for each in unsettled
            if not any(self._counts_as(each) in full[day] for day in days_of(each, self.after))
        ]

    @property
    def _operators(self) -> frozenset[str]:
        return frozenset({self._setting.node.did, *self._setting.peers, self._setting.game.lister or ""})

    def _counts_as(self, awaited: Awaited) -> str | None:
        return counts_as(awaited.author, awaited.uri, self._setting.uri, self._operators)

    async def _forget(self, keys: Iterable[str]) -> None:
        gone = [key for key in keys if key in self._open]
        if gone:
            await self._setting.store.run(self._setting.store.forget_awaited, gone)
        for key in gone:
            self._of_author[self._open.pop(key).awaited.author] -= 1
        self._of_author = +self._of_author

    async def _ask_if_silent(self, now: float, until: int) -> None:
        """Ask the lister for a sign of life where something has waited for long and the log has not gone on."""
        waits = any(
            now - each.since >= self.after and until < each.awaited.at + int(self.after * 1_000_000)
            for each in self._open.values()
        )
        if waits and now - self._probed >= max(self.after, EVERY):
            self._probed = now
            await self._probe.ask()

    async def _has_caught_up(self) -> bool:
        """Whether this node holds all that the lister's stream does."""
        if self._lister is None:
            return False
        try:
            last = await self._setting.bus.last(self._lister.stream("LOG"), self._lister.log)
        except Unavailable:
            return False
        # Message n of the stream, from 1, is entry n - 1.
        return last is not None and self._setting.store.size >= last.sequence


def read_of(opened: Iterable[Opened | Refusal]) -> list[tuple[Opened, None]]:
    """Return what verifies; no time of its own comes with it."""
    return [(each, None) for each in opened if isinstance(each, Opened)]


def rejection_in(data: bytes) -> tuple[str, Refusal] | None:
    """Return the CID of what a rejection is about, and why it was rejected, if it can be read."""
    try:
        value: Any = codec.decode(data)
    except Refused:
        return None
    if not isinstance(value, dict):
        return None
    cid, code, says = value.get("cid"), value.get("code"), value.get("says")
    if isinstance(cid, str) and isinstance(code, str):
        return cid, Refusal(code, says if isinstance(says, str) else "")
    return None
