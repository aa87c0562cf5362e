"""Whose the keys are that a lister's log names: a follower finds out itself, and says where it could not.

Each author with each key is asked about once, before the first receipt that holds a record of theirs; then again
when that is an hour old. One host that does not answer must not hold up everybody's receipts: after a moment the
entry goes on, named as unproved in the receipts, until somebody answers. So does one whose key a history does not
name: a directory may lag behind, so that accuses the lister only once it is said of an old listing, and said again.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from typing import Final

import structlog
from weighbridge import codec
from weighbridge.chain import MIN_MARGIN
from weighbridge.errors import Refused, Unavailable
from weighbridge.fold.deletions import is_proved_deletion
from weighbridge.fold.grades import Span
from weighbridge.identity import OperatorRecord
from weighbridge.log.entries import Listed
from weighbridge.ports import OpensVoucher, Vouched, Voucher

from weighbridge_services.ending import end_tasks
from weighbridge_services.ingest.following import Fault, Taken, bad_proof
from weighbridge_services.ingest.proved import (
    APART,
    Counts,
    Doubt,
    Found,
    Kept,
    Pair,
    Waiting,
    doubt_of,
    found_of,
    unproved_in,
    waiting_of,
)
from weighbridge_services.ingest.setting import Setting
from weighbridge_services.ingest.sources.configured import GROUP, plugin_of

PATIENCE: Final = 3.0
"""Seconds that new entries wait at most for an answer about their keys."""
SHARE: Final = 6
"""Which part of the game's margin they wait at most: an ask may meet a wait, and then have its own."""
IMPATIENCE: Final = 30.0
"""Seconds for which none wait after some have waited in vain, and none do until these have had their answer."""
LONGEST: Final = 60.0
"""Seconds after which an answer is not waited for any more."""
AT_ONCE: Final = 32
"""Askings at a time."""
DARK_AT_ONCE: Final = 8
"""Askings at a time, beside these, of those who have not answered for long: they may be very many."""
DARK_AFTER: Final = 4
"""Askings in vain after which one is among them."""
RETRY: Final = 5.0
RETRY_MOST: Final = 3_600.0
SECOND: Final = 1_000_000
LOOK: Final = 1.0
SEEN_EVERY: Final = 10.0
"""Seconds between two questions to the fold about what a quorum has seen of what is unproved here."""
SEEN_MOST: Final = 1_024

log = structlog.get_logger()


class Proving:
    """The keys of one game's authors."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._voucher: Voucher | None = None
        self._kept = Kept(setting.store)
        self._found: dict[Pair, Found] = {}
        self._waiting: dict[int, Waiting] = {}
        self._apart: deque[int] = deque(maxlen=APART)
        self._asking: dict[Pair, asyncio.Task[None]] = {}
        self._tried: Counter[Pair] = Counter()
        self._next: dict[Pair, float] = {}
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._dark_slots = asyncio.Semaphore(DARK_AT_ONCE)
        self._hurried_until = 0.0
        self._late: set[Pair] = set()
        self._doubts: dict[Pair, Doubt] = {}
        self._margin: int | None = None
        self._counts = Counts()
        self._false = False
        self.seen = 0
        """How many of the unproved entries a quorum of operators has seen, as the fold last said."""

    # --- life ----------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Open what finds out, if the game's source knows DIDs. Raises what the plugin says of its settings."""
        setting, plugin = self._setting, plugin_of(self._setting)
        opener = None if plugin is None else setting.node.plugins.load(GROUP, plugin)
        if not isinstance(opener, OpensVoucher):
            log.info(
                "no source here says whose keys a log names", game=setting.uri, hint="see [games.source]"
            )
        else:
            settings = {"game": setting.uri, **setting.game.source}
            self._voucher = opener.open_voucher(settings, str(setting.node.folder))

    def load(self) -> None:
        """Take up what the ledger holds. In the ledger's thread."""
        self._found, self._waiting, self._counts = self._kept.load()
        self._doubts = self._kept.doubts()
        self._false = any(each.verdict == "contradicted" for each in self._found.values())
        store = self._setting.store
        self._margin = store.margin()
        self._note_ends(store.listed(max(0, store.size - APART), store.size))

    async def close(self) -> None:
        """Ask no more."""
        await end_tasks(self._asking.values())
        if self._voucher is not None:
            await self._voucher.close()

    def health(self) -> dict[str, object]:
        """Return how many records have which grade here, and whether there is somebody to ask."""
        counts, unproved = self._counts, len(self._waiting)
        seen = min(self.seen, unproved)
        grades = {
            "proved-now": counts.records - counts.said - unproved,
            "seen-by-quorum": seen,
            "lister-says": counts.said + unproved - seen,
        }
        return {"grades": grades, "vouches": self._voucher is not None}

    # --- entries -------------------------------------------------------------------------------------------

    async def ask(self, taken: Iterable[Taken | Fault]) -> None:
        """Ask about the keys of entries that are about to be taken, and wait a moment for the answers."""
        wanted: dict[Pair, Waiting] = {}
        size = self._setting.store.size
        for each in taken:
            new = isinstance(each, Taken) and each.listed.entry.seq >= size
            waiting = waiting_of(each.listed.entry) if isinstance(each, Taken) and new else None
            if waiting is not None and not self._holds(waiting):
                wanted[waiting.pair] = waiting
        begun = {task: pair for pair, each in wanted.items() if (task := self._begin(each)) is not None}
        loop = asyncio.get_running_loop()
        if begun and not self._late and loop.time() >= self._hurried_until:
            _, late = await asyncio.wait(begun, timeout=patience(self._margin))
            if late:
                self._late |= {begun[task] for task in late}
                self._hurried_until = loop.time() + IMPATIENCE

    def contradicted(self, fresh: list[Taken]) -> tuple[list[Taken], Fault | None]:
        """Return the entries up to the first whose key is not its author's, and what is wrong with that one."""
        for place, each in enumerate(fresh):
            waiting = waiting_of(each.listed.entry)
            found = None if waiting is None else self._found.get(waiting.pair)
            if found is not None and found.verdict == "contradicted":
                return fresh[:place], false_key(each.listed, found)
        return fresh, None

    async def keep(self, entries: Sequence[Listed]) -> list[OperatorRecord]:
        """Write followed entries, with those that nobody has vouched for; return the operator records among them."""
        waiting = {
            each.entry.seq: one
            for each in entries
            if (one := waiting_of(each.entry)) is not None and not self._holds(one)
        }
        counts = self._counts.with_more(each.entry for each in entries)
        store = self._setting.store
        operators = await store.run(self._kept.keep, entries, waiting, counts)
        if self._margin is None:
            self._margin = await store.run(store.margin)
        self._waiting |= waiting
        self._counts = counts
        self._note_ends(entries)
        return operators

    def doubted(self) -> int | None:
        """Return the first entry whose key the newest history of its author leaves out, None where there is none.

        That is no accusation yet, and no receipt says of it that this node holds it for verified. With nobody to ask
        any more it is unproved, as everything is.
        """
        pairs = self._doubts.keys() if self._voucher is not None else ()
        return (
            next((seq for seq, each in self._waiting.items() if each.pair in pairs), None) if pairs else None
        )

    def unproved(self, size: int) -> tuple[Span, ...]:
        """Return what a receipt of so many entries names as unproved."""
        return unproved_in(list(self._waiting), size, self._apart)

    def _note_ends(self, entries: Iterable[Listed]) -> None:
        """Remember ends of records that are proved here: a quorum has to see them, whoever lists what around them."""
        ends = (each.entry.seq for each in entries if is_proved_deletion(each.entry))
        self._apart.extend(seq for seq in ends if seq not in self._waiting)

    async def late_fault(self) -> Fault | None:
        """Return what is wrong with an entry that was kept before it was known that its key is not its author's."""
        for seq, each in self._waiting.items() if self._false else ():
            found = self._found.get(each.pair)
            if found is not None and found.verdict == "contradicted":
                (listed,) = await self._setting.store.run(self._setting.store.listed, seq, seq + 1)
                return false_key(listed, found)
        return None

    def _holds(self, waiting: Waiting) -> bool:
        found = self._found.get(waiting.pair)
        return found is not None and found.good_to is not None and waiting.at <= found.good_to

    # --- asking --------------------------------------------------------------------------------------------

    def _begin(self, waiting: Waiting) -> asyncio.Task[None] | None:
        """Ask about a pair, unless that is being done, or was in vain a moment ago."""
        pair, now = waiting.pair, asyncio.get_running_loop().time()
        if self._voucher is None or pair in self._asking or now < self._next.get(pair, 0.0):
            return None
        task = asyncio.create_task(self._find(self._voucher, waiting), name=f"key of {pair.did}")
        self._asking[pair] = task
        task.add_done_callback(lambda _: self._asking.pop(pair, None))
        return task

    async def _find(self, voucher: Voucher, waiting: Waiting) -> None:
        # Of what is in doubt no crowd of dark hosts may put off the answer.
        dark = self._tried[waiting.pair] >= DARK_AFTER and waiting.pair not in self._doubts
        async with self._dark_slots if dark else self._slots:
            at = self._setting.clock.now()
            vouched = await answer_of(voucher, waiting)
        found, pair, doubt = found_of(vouched, waiting, at), waiting.pair, self._doubt(vouched, waiting, at)
        if doubt is not None:
            # A crash before this doubts when it is asked again: until then receipts name the entry as unproved.
            await self._setting.store.run(self._kept.doubt, pair, doubt)
            self._doubts[pair] = doubt
        if found.verdict == "unavailable" or doubt is not None:
            self._put_off(pair, None if doubt is None else (doubt.again - at) / SECOND)
            log.info("key", game=self._setting.uri, did=pair.did, says=found.says, doubted=doubt is not None)
            return
        proved = self._proved(waiting) if found.verdict == "vouched" else []
        # A crash before this asks again; after it, it is as if nobody had had to wait.
        await self._setting.store.run(self._kept.settle, pair, found, proved)
        self._found[pair] = found
        self._false = self._false or found.verdict == "contradicted"
        self._tried.pop(pair, None)
        self._doubts.pop(pair, None)
        self._late.discard(pair)
        if found.verdict == "contradicted":
            self._next[pair] = asyncio.get_running_loop().time() + RETRY_MOST
        for seq in proved:
            self._waiting.pop(seq, None)
        self._apart.extend(proved)

    def _doubt(self, vouched: Vouched, waiting: Waiting, at: int) -> Doubt | None:
        """Return what is left to doubt of an answer that was asked for at a time (µs)."""
        if vouched.verdict != "contradicted":
            return None
        pair = waiting.pair
        oldest = min([waiting.at, *(each.at for each in self._waiting.values() if each.pair == pair)])
        return doubt_of(vouched, self._doubts.get(pair), oldest, at)

    def _put_off(self, pair: Pair, most: float | None) -> None:
        """Ask about a pair again after a while, twice as long each time; `most`: seconds after which it is worth it."""
        wait = min(RETRY * 2 ** min(self._tried[pair], 20), RETRY_MOST)
        self._tried[pair] += 1
        if most is not None:
            wait = min(wait, max(RETRY, most))
        self._next[pair] = asyncio.get_running_loop().time() + wait

    def _proved(self, asked: Waiting) -> list[int]:
        """Return the entries that wait for this answer: listed no later than what was asked about."""
        return [seq for seq, each in self._waiting.items() if each.pair == asked.pair and each.at <= asked.at]

    async def run(self) -> None:
        """Ask again and again about what is unproved."""
        loop, seen_at = asyncio.get_running_loop(), 0.0
        while True:
            await asyncio.sleep(LOOK)
            newest = {each.pair: each for each in self._waiting.values()}
            for each in newest.values():
                self._begin(each)
            if self._waiting and loop.time() >= seen_at:
                await self._ask_what_was_seen()
                seen_at = loop.time() + SEEN_EVERY

    async def _ask_what_was_seen(self) -> None:
        setting, seqs = self._setting, list(self._waiting)[-SEEN_MOST:]
        try:
            answer = await setting.bus.ask(
                setting.own.rpc("grades"), codec.encode({"seqs": seqs}), timeout=LOOK
            )
            value = codec.decode(answer)
        except (Unavailable, Refused):
            return
        grades = value.get("grades") if isinstance(value, dict) else None
        self.seen = grades.count("seen-by-quorum") if isinstance(grades, list) else 0


def patience(margin: int | None) -> float:
    """Return for how many seconds entries wait where dice come so many seconds after a listing."""
    return min(PATIENCE, (MIN_MARGIN if margin is None else margin) / SHARE)


async def answer_of(voucher: Voucher, waiting: Waiting) -> Vouched:
    """Return a voucher's answer; whatever keeps it from one, nobody can say."""
    try:
        async with asyncio.timeout(LONGEST):
            return await voucher.vouch(waiting.asked)
    except TimeoutError:
        return Vouched("unavailable", f"nobody has answered about {waiting.pair.did} for {LONGEST:.0f} s")
    except Exception as error:  # a plugin that fails must not end the following
        log.warning("key", did=waiting.pair.did, error=f"{type(error).__name__}: {error}")
        return Vouched("unavailable", f"the source fails on {waiting.pair.did} ({type(error).__name__})")


def false_key(listed: Listed, found: Found) -> Fault:
    """Return the fault of an entry whose key is not its author's."""
    fault = bad_proof(listed, f"comes with a key that is not its author's ({found.says})")
    return fault._replace(
        detail={**fault.detail, "key": (listed.entry.prov or {}).get("key"), "doc": found.doc}
    )
