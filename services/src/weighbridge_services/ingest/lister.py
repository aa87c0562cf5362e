"""The lister: one writer that takes what comes in, persists it, publishes it, signs, answers, acknowledges."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import msgspec
import structlog
from weighbridge.contract import RuleSet
from weighbridge.dice import round_time
from weighbridge.errors import Unavailable
from weighbridge.fold.records import DAY
from weighbridge.identity import OPERATOR, encode_envelope, sign_record

from weighbridge_services.following.rules import Rules
from weighbridge_services.ingest.answering import Answering, put_off, rejections
from weighbridge_services.ingest.arrivals import Arrival, open_all
from weighbridge_services.ingest.checkpoints import Checkpoints, Signed
from weighbridge_services.ingest.decide import Answer, Decision, Facts, Tally, decide, decide_time
from weighbridge_services.ingest.errors import ClockOff, NoRootYet, NotTheLister, Stopping
from weighbridge_services.ingest.leftovers import Leftovers
from weighbridge_services.ingest.opening import Opened, Refusal
from weighbridge_services.ingest.ownlog import OwnLog
from weighbridge_services.ingest.restoring import restore
from weighbridge_services.ingest.setting import Setting
from weighbridge_services.ingest.watching import ClockWatch

BATCH: Final = 1_024
"""Records of one batch at most: one commit, one row of publications."""
PACE: Final = 0.015
"""Seconds between the beginnings of two small batches: each costs commits in every service that reads the log."""
MANY: Final = 64
"""Records that are no small batch."""
IDLE: Final = 0.25
"""Seconds after which the writer looks up though nothing came: time passes, and brokers come back."""
RETRY: Final = 0.25

log = structlog.get_logger()


class Lister:
    """The one writer of a game's log."""

    def __init__(self, setting: Setting, ruleset: RuleSet) -> None:
        self.setting = setting
        self._ruleset = ruleset
        self._own = OwnLog(setting.bus, setting.own, setting.store)
        self.checkpoints = Checkpoints(setting)
        self.clock = ClockWatch(setting)
        self._facts = Facts(
            setting.uri, None, Rules(), Tally(), operators=frozenset({setting.node.did, *setting.peers})
        )
        self._queue: asyncio.Queue[list[Arrival]] = asyncio.Queue(maxsize=8)
        self._queued: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queued.set_result(None)
        self.answering = Answering(setting)
        self.leftovers = Leftovers(setting)
        self._rounds: set[int] = set()
        self.took_over = False
        """Whether the log was handed over to this node, whomever its root names."""
        self._reconnects = setting.bus.reconnects
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self._loop = asyncio.get_running_loop()
        self._turned = 0.0
        self.progress = asyncio.Condition()
        """Notified whenever the log has grown or time has gone on."""
        self.trouble: str | None = None
        self.failure: Exception | None = None
        self.failed = asyncio.Event()

    # --- what it holds -------------------------------------------------------------------------------------

    @property
    def facts(self) -> Facts:
        """What the writer remembers of the log."""
        return self._facts

    @property
    def size(self) -> int:
        """How many entries there are."""
        return self.setting.store.size

    @property
    def stopping(self) -> bool:
        """Whether the service stops, or has failed."""
        return self._stopping or self.failure is not None

    async def wait(self, seconds: float) -> None:
        """Wait until the log has grown or its time has gone on, at most so many seconds."""
        try:
            async with asyncio.timeout(seconds), self.progress:
                await self.progress.wait()
        except TimeoutError:
            return

    async def let_pass(self, at: int) -> None:
        """Let a recorded season's time go on (µs), with the ticks that it brings."""
        self.setting.clock.advance(at)
        await self._queue.put([])
        async with self.progress:
            self.progress.notify_all()

    async def let_come(self, number: int) -> None:
        """Let a recorded season's time go on to a round's."""
        first = self._facts.rules.first
        if first is not None and self.setting.recorded:
            await self.let_pass(round_time(first.chain, number) * 1_000_000)

    def all_receipted(self) -> bool:
        """Whether every peer's receipt holds all that is listed so far, receipts aside."""
        matter = self.checkpoints.matter
        return all(self._facts.receipts.get(did, 0) > matter for did in self.setting.peers)

    def has_beacon(self, number: int) -> bool:
        """Whether a round's beacon is listed."""
        return number in self._rounds

    def set_dues(self, dues: tuple[int, ...]) -> None:
        """Take note of the times (µs) at which something falls due."""
        self._facts = replaced(self._facts, dues=dues)

    # --- life ----------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Take up where the ledger ends. Raises NotTheLister, AnotherLister, CannotRestore, BrokerUnavailable."""
        await restore(self.setting)
        await self.setting.store.run(self._load)
        self._refuse_other_lister(self._facts.rules)
        await self._own.bring_up()
        await self.checkpoints.bring_up()
        self._task = asyncio.create_task(self._run(), name=f"list {self.setting.uri}")

    async def stop(self) -> None:
        """Finish the batch at hand and take no more."""
        self._stopping = True
        async with self.progress:
            self.progress.notify_all()
        if self._task is not None:
            await self._task
        stopping = Stopping("the service stops")
        self.answering.put_off(stopping)
        while not self._queue.empty():
            put_off(self._queue.get_nowait(), stopping)

    def _load(self) -> None:
        store, operators = self.setting.store, self._facts.operators
        rules = store.rules(self._ruleset)
        last = store.log.last
        if last is not None:
            self.setting.clock.advance(last.entry.at)
        self.checkpoints.load()
        self.leftovers.load()
        self._facts = replaced(
            self._facts, last=last, rules=rules, tally=store.tally(rules, operators), receipts=store.receipts(),
            matter=self.checkpoints.matters,
        )  # fmt: skip
        self._rounds = store.all_rounds()

    def _refuse_other_lister(self, rules: Rules) -> None:
        lister = rules.first.lister if rules.first is not None else None
        if lister not in (None, self.setting.node.did) and not self.took_over:
            raise NotTheLister(
                f"the root of {self.setting.uri} names {lister} as its lister, and this node is "
                f'{self.setting.node.did}; set role = "follower" for this game'
            )

    # --- handing in ----------------------------------------------------------------------------------------

    async def hand_in(self, arrivals: Sequence[Arrival]) -> list[Answer]:
        """Verify and list; return each one's answer once it is in ledger and log. Raises Unavailable: try again."""
        before, queued = self._queued, asyncio.get_running_loop().create_future()
        self._queued = queued
        try:
            await self._verify(arrivals)
            await before  # what came first is listed first, however long it took to verify
            if self.stopping:
                raise Stopping("the service stops")
            await self._queue.put(list(arrivals))
        finally:
            queued.set_result(None)
        answers = await asyncio.gather(*(each.done for each in arrivals), return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        return answers  # type: ignore[return-value]

    async def _verify(self, arrivals: Sequence[Arrival]) -> None:
        first = self._facts.rules.first
        chain = None if first is None else first.chain
        await open_all(self.setting.openers, arrivals, self.setting.uri, chain)

    def own_operator(self) -> bytes:
        """Return the envelope of this node's own operator record, which stands in every log it lists or follows."""
        return operator_envelope(self.setting)

    # --- the writer ----------------------------------------------------------------------------------------

    async def _run(self) -> None:
        while not self._stopping:
            batch = await self._next()
            try:
                await self._turn(batch)
                self.trouble = None
            except Unavailable as error:
                self._later(batch, error)
                await asyncio.sleep(RETRY)
            except Exception as error:
                put_off(batch, error)
                self._fail(error)
                return

    def _later(self, batch: Sequence[Arrival], error: Unavailable) -> None:
        if self.trouble != error.code:
            log.warning("listing later", game=self.setting.uri, code=error.code, says=error.message)
        self.trouble = error.code
        put_off(batch, error)

    def _fail(self, error: Exception) -> None:
        log.error("the lister stops", game=self.setting.uri, error=str(error))
        self.failure = error
        self.failed.set()
        self.answering.put_off(error)
        while not self._queue.empty():
            put_off(self._queue.get_nowait(), error)

    async def _next(self) -> list[Arrival]:
        """Return what has come in, after a while nothing."""
        due = self.checkpoints.due_in()
        wait = IDLE if due is None else max(0.0, min(due, IDLE))
        try:
            async with asyncio.timeout(wait):
                batch = await self._queue.get()
        except TimeoutError:
            return []
        pause = self._turned + PACE - self._loop.time()
        if pause > 0 and len(batch) < MANY:
            await asyncio.sleep(pause)
        self._turned = self._loop.time()
        while len(batch) < BATCH and not self._queue.empty():
            batch += self._queue.get_nowait()
        return batch

    async def _turn(self, batch: list[Arrival]) -> None:
        await self._catch_up()
        # A crash here loses nothing: what came in is not acknowledged and comes again.
        self.setting.crash("after-verify")
        batch = [*await self.leftovers.due(self._facts), *self._without_root(batch)]
        decision, signed = await self.setting.store.run(self._decide_and_sign, batch)
        # A crash here leaves entries, and perhaps a checkpoint, that only the ledger knows: the start publishes
        # them, the senders hand in again and are answered with their places.
        if decision is not None:
            self.setting.crash("after-persist")
            await self._publish(batch, decision)
        if signed is not None:
            await self.checkpoints.publish(signed)
            # A crash here leaves senders without an answer: they are not acknowledged, and answered again.
            self.setting.crash("after-checkpoint")
        first = self.facts.rules.first
        chain = None if first is None else first.chain.label
        await self.answering.answer(self.checkpoints.size, self.checkpoints.note, chain)
        if batch or decision is not None:
            async with self.progress:
                self.progress.notify_all()

    async def _catch_up(self) -> None:
        if self.clock.off is not None:
            raise ClockOff(self.clock.off)
        if self.setting.bus.reconnects != self._reconnects:
            # The broker was away, and may have come back without its disk.
            reconnects = self.setting.bus.reconnects
            await self._own.bring_up()
            await self.checkpoints.bring_up()
            self._reconnects = reconnects
        elif self._own.behind:
            await self._own.bring_up()

    def _without_root(self, batch: list[Arrival]) -> list[Arrival]:
        """Return the batch from the root on, as long as the log is empty; roots of other listers are refused."""
        if self.size or not batch:
            return batch
        refused: list[Arrival] = []
        for at, each in enumerate(batch):
            opened = each.handed.opened if each.handed is not None else None
            if not isinstance(opened, Opened) or opened.uri != self.setting.uri:
                continue
            if self._begins(each, opened):
                put_off([other for other in batch[:at] if other not in refused], no_root(self.setting.uri))
                return [*refused, *batch[at:]]
            refused.append(each)
        put_off([other for other in batch if other not in refused], no_root(self.setting.uri))
        return refused

    def _begins(self, arrival: Arrival, opened: Opened) -> bool:
        # What anybody may hand in must not stop a lister; what its own configuration names must not be passed over.
        lister = opened.value.get("lister")
        if not arrival.from_bus or lister in (None, self.setting.node.did) or arrival.handed is None:
            return True
        says = f"this root names {lister} as its lister, and this node is {self.setting.node.did}"
        arrival.handed = arrival.handed._replace(opened=Refusal("other-lister", says))
        return False

    def _decide_and_sign(self, batch: Sequence[Arrival]) -> tuple[Decision | None, Signed | None]:
        """Decide, sign a checkpoint if one is due then, and persist both with one commit, in the ledger's thread."""
        matter = self.checkpoints.matter
        try:
            with self.setting.store.ledger.batch():
                decision = self._decide(batch)
                if decision is not None:
                    self.checkpoints.noted(self.size, decision.matter, decision.urgent)
                signed = self.checkpoints.sign_if_due()
        except BaseException:
            self.checkpoints.matter = matter  # what was noted is not in the log
            self.leftovers.let_go()
            raise
        self.leftovers.settle()
        if decision is not None:
            self._remember(decision)
        return decision, signed

    def _decide(self, batch: Sequence[Arrival]) -> Decision | None:
        """Decide and write, in an open batch: the one place where entries come to be."""
        store, now = self.setting.store, self.setting.clock.now()
        if not batch and not self._time_passed(now):
            return None
        self.leftovers.hold_back(batch)
        handed = [each.handed for each in batch if each.handed is not None]
        facts = store.facts(self._facts, handed)
        decision = (
            decide(self._ruleset, facts, handed, now) if batch else decide_time(self._ruleset, facts, now)
        )
        self._refuse_other_lister(decision.rules)
        store.keep(decision, rejections(batch, decision.answers), {})
        self.leftovers.keep(batch, decision.answers, decision.tally.day, self._facts)
        return decision

    def _time_passed(self, now: int) -> bool:
        last = self.setting.store.log.last
        if last is None:
            return False
        at = last.entry.at
        return now // DAY > at // DAY or any(at < due <= now for due in self._facts.dues)

    def _remember(self, decision: Decision) -> None:
        last = decision.entries[-1] if decision.entries else self._facts.last
        self._rounds |= decision.beacons.keys()
        self._facts = replaced(
            self._facts, last=last, rules=decision.rules, tally=decision.tally,
            receipts={**self._facts.receipts, **decision.receipts}, matter=self.checkpoints.matters,
        )  # fmt: skip
        if last is not None:
            self.setting.clock.advance(last.entry.at)

    async def _publish(self, batch: Sequence[Arrival], decision: Decision) -> None:
        if decision.entries:
            await self._own.append(decision.entries, decision.proofs)
        # A crash here leaves entries whose checkpoint is not out: the start publishes it, or signs one.
        self.setting.crash("after-append")
        for arrival, answer in zip(batch, decision.answers, strict=False):
            await self.answering.take(arrival, answer)


def no_root(game: str) -> NoRootYet:
    """Return why nothing is listed yet."""
    return NoRootYet(f"the log of {game} is empty; its first record is the root, which is not here yet")


def operator_envelope(setting: Setting) -> bytes:
    """Return the envelope of a node's own operator record."""
    value = setting.node.operator_record(setting.uri).value
    return encode_envelope(sign_record(setting.node.keys.records, setting.uri, OPERATOR, "self", value))


def replaced(facts: Facts, **changes: Any) -> Facts:
    """Return the facts with some of them changed."""
    return msgspec.structs.replace(facts, **changes)
