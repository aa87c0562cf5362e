"""One game of the fold service: what it reads, and the loop that folds, signs and publishes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import structlog
from nats.aio.msg import Msg
from weighbridge.errors import Broken, Refused, Unavailable
from weighbridge.ledger import Ledger
from weighbridge.log import EMPTY_ROOT
from weighbridge.log.entries import Listed

from weighbridge_services.clock import Clock
from weighbridge_services.config import GameTable
from weighbridge_services.ending import end_tasks
from weighbridge_services.fold.answers import Answers
from weighbridge_services.fold.publishing import Publisher
from weighbridge_services.fold.runner import Runner
from weighbridge_services.fold.signing import Signing
from weighbridge_services.folding.chains import chain_in
from weighbridge_services.folding.errors import LogDiffers, OwnLogMalformed
from weighbridge_services.folding.letters import Letters, Run
from weighbridge_services.folding.replaying import first_value
from weighbridge_services.folding.rulesets import RuleSets, wanted_origin
from weighbridge_services.folding.statements import Statement
from weighbridge_services.folding.store import FoldStore
from weighbridge_services.following import listed_in
from weighbridge_services.node import Node
from weighbridge_services.wire import Again, Bus
from weighbridge_services.wire.reading import Gather

IDLE: Final = 1.0
"""Seconds after which the loop looks around although nothing has woken it."""
RETRY: Final = 0.25
AHEAD: Final = 16
"""Checkpoints that wait for their entries at most."""
GATHER: Final = 0.06
"""Seconds for which entries wait for more: nothing is published of them before the lister's next checkpoint."""

log = structlog.get_logger()


class Means(NamedTuple):
    """What a game's fold works with."""

    node: Node
    table: GameTable
    bus: Bus
    clock: Clock
    ledger: Ledger
    run: Run
    letters: Letters


class GameFold:
    """Follows one game's log and the lister's checkpoints."""

    def __init__(self, means: Means, rulesets: RuleSets) -> None:
        """Take up what the ledger holds. In the ledger's thread."""
        self._means = means
        self._subjects = means.node.subjects(means.table.uri)
        self._lister = means.table.lister or means.node.did
        store = FoldStore(means.ledger, means.table.uri)
        self.runner = Runner(means.node, store, rulesets, self._subjects)
        self.signing = Signing(means.node, self.runner, self._subjects)
        self._publisher = Publisher(means.bus, self._subjects, self.signing, means.run, means.letters)
        self._answers = Answers(means.node, self.runner, self.signing, means.table)
        self._position = store.number("read")
        self._size = store.log.size
        self._own_read = 0
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._said_cannot = False
        self._gather = Gather(GATHER, lambda: self.signing.heard > self._size)
        self._ahead: list[bytes] = []
        self._recalled = False
        self._again = True
        self._stopping = False

    @classmethod
    async def open(cls, means: Means, rulesets: RuleSets) -> GameFold:
        """Make it from what the ledger holds."""
        made: GameFold = await means.run(cls, means, rulesets)
        return made

    async def start(self) -> None:
        """Begin to read, to answer and to publish."""
        bus, lister = self._means.bus, self._means.node.subjects(self._means.table.uri, self._lister)
        self._task = asyncio.create_task(self._watched(), name="fold")
        bus.follow(
            self._subjects.stream("LOG"), self._subjects.log, lambda: self._position + 1, self._take,
            gather=self._gather,
        )  # fmt: skip
        bus.follow(lister.stream("RECORDS"), f"{lister.prefix}.checkpoint.>", lambda: 1, self._hear)
        for name, answer in self._answers.all().items():
            await bus.serve(self._subjects.rpc(name), self._in_thread(answer))

    def _in_thread(self, answer: Callable[[bytes], bytes]) -> Callable[[bytes], Any]:
        async def serve(body: bytes) -> bytes:
            found: bytes = await self._means.run(answer, body)
            self._wake.set()
            return found

        return serve

    async def stop(self) -> None:
        """Stop the loop and keep a snapshot. The bus reads no more."""
        self._stopping = True
        if self._task is not None:
            await end_tasks([self._task])
        await self._means.run(self.runner.save)

    @property
    def folded(self) -> int:
        """How many entries are folded."""
        return self._size - self.runner.behind

    @property
    def behind(self) -> int:
        """How many entries are listed here and not folded."""
        return self.runner.behind

    def complaints(self) -> list[str]:
        """Return why the game is not folded, or not cosigned."""
        cannot, stopped = self.runner.cannot, self.signing.stopped
        found = [] if cannot is None else [f"{cannot.code}: {cannot.message}"]
        return found + ([] if stopped is None else [f"{stopped.reason}: {stopped.says}"])

    # --- reading ---------------------------------------------------------------------------------------------

    async def _take(self, messages: list[Msg]) -> None:
        position = messages[-1].metadata.sequence.stream
        wakes = await self._means.run(self._take_and_sign, [message.data for message in messages], position)
        self._position = position
        if wakes:
            self._wake.set()

    def _take_and_sign(self, messages: Sequence[bytes], position: int) -> bool:
        """Take entries, and sign what they complete; whether there is something to do or to publish then."""
        done, questions = self.signing.done, self._take_all(messages, position)
        ahead, self._ahead = self._ahead, []
        try:
            self._hear_now(ahead)
        except Unavailable:
            self._ahead = ahead
            raise
        if self.runner.behind or self.runner.cannot is not None:
            self._again = True
        return bool(questions) or self._again or self.signing.done != done

    def _sign(self) -> bool:
        """Sign what can be signed now; whether anything was."""
        done = self.signing.done
        if self._recalled and self.signing.sign(self._now()):
            self._again = True
        return self.signing.done != done

    def _take_all(self, messages: Sequence[bytes], position: int) -> int:
        """Take entries; return how many questions they opened."""
        store = self.runner.store
        entries = [self._entry(data) for data in messages]
        size = store.log.size
        for listed in entries:
            if listed.entry.seq < size and store.log.listed(listed.entry.seq).cid != listed.cid:
                raise LogDiffers(
                    f"entry {listed.entry.seq} of {store.game} in this node's log stream is not the one its fold has"
                    " folded: the stream or the ledger of the fold is of another log; restore the one that is wrong"
                )
        new = [listed for listed in entries if listed.entry.seq >= size]
        if new and new[0].entry.seq > size:
            raise Again(f"entry {size} was due, and the stream brought {new[0].entry.seq}")
        if not new:
            return 0
        try:
            questions = self.runner.take(new, position).questions
        except Refused as refused:
            raise OwnLogMalformed(f"the log stream of {store.game} breaks: {refused}") from refused
        self._size = store.log.size
        return questions

    def _entry(self, data: bytes) -> Listed:
        try:
            listed = listed_in(data)
        except Refused as refused:
            raise OwnLogMalformed(
                f"the log stream of {self.runner.store.game} holds what is no entry: {refused}"
            ) from refused
        if listed is None:
            raise OwnLogMalformed(f"a message of the log stream of {self.runner.store.game} holds no entry")
        return listed

    async def _hear(self, messages: list[Msg]) -> None:
        self._gather.cut()  # what it holds is to be folded now
        await self._means.run(self._hear_and_sign, [message.data for message in messages])
        self._wake.set()

    def _hear_and_sign(self, messages: list[bytes]) -> None:
        """Take the lister's checkpoints; one of entries that are just to come waits for them, to save a commit."""
        now: list[bytes] = []
        for data in messages:
            waits = self._recalled and len(self._ahead) < AHEAD and self.signing.is_ahead(data)
            (self._ahead if waits else now).append(data)
        # A crash loses none that waits: checkpoints are read from the first one on.
        if now:
            self._hear_now(now)

    def _hear_now(self, messages: list[bytes]) -> None:
        try:
            # One commit: what is signed rests on what was heard.
            with self.runner.store.ledger.batch():
                self.signing.hear(messages, self._lister)
                signed = self._sign()
        except Unavailable:
            self.signing.forget()  # it is undone on a full disk, and nothing would be signed of it any more
            raise
        # Not before it is in the ledger: what is made ready may be sent at any moment.
        if signed:
            self._publisher.prepare()

    # --- the loop --------------------------------------------------------------------------------------------

    async def _watched(self) -> None:
        try:
            await self._recall()
            self._recalled = True
            while not self._stopping:
                await self._work()
        except Exception as error:
            log.error("the fold stopped", game=self._means.table.uri, error=str(error))
            self._means.bus.fail(error)

    async def _recall(self) -> None:
        """Learn what this node's key has signed: the stream may know more than a restored ledger."""
        stream, subject = self._subjects.stream("RECORDS"), f"{self._subjects.prefix}.statement.>"
        while True:
            try:
                last = await self._means.bus.last(stream, subject)
                break
            except Unavailable as error:
                log.info("waiting for the stream of statements", reason=error.message)
                await asyncio.sleep(RETRY)
        if last is None:
            return
        read, store = asyncio.Event(), self.runner.store

        async def recall(messages: list[Msg]) -> None:
            await self._means.run(self.signing.recall, [message.data for message in messages])
            position = messages[-1].metadata.sequence.stream
            await self._means.run(store.set_number, "recalled", position)
            if position >= last.sequence:
                read.set()

        start = await self._means.run(store.number, "recalled")
        if start >= last.sequence:
            read.set()
        self._means.bus.follow(stream, subject, lambda: start + 1, recall)
        await read.wait()

    async def _work(self) -> None:
        try:
            again, self._again = self._again, False
            more = again and await self._means.run(self._go_on)
            await self._say_cannot()
            await self._publisher.publish()
        except Unavailable as error:
            if isinstance(error, Broken):
                raise
            log.info("publishing later", game=self._means.table.uri, says=error.message)
            self._again = True
            await asyncio.sleep(RETRY)
            return
        if more:
            self._again = True
            return
        try:
            async with asyncio.timeout(IDLE):
                await self._wake.wait()
        except TimeoutError:
            self._again = True
        self._wake.clear()

    def _go_on(self) -> bool:
        return self.runner.catch_up() or self.signing.sign(self._now())

    def _now(self) -> int:
        # A cosignature is never older than what it covers, whatever clock the node goes by.
        return max(self._means.clock.now(), self.runner.at) // 1_000_000

    async def _say_cannot(self) -> None:
        if self.runner.cannot is not None and not self._said_cannot:
            self._said_cannot = True
            await self._means.run(self._post_cannot)

    def _post_cannot(self) -> None:
        cannot, store = self.runner.cannot, self.runner.store
        if cannot is None:
            return
        era = store.eras[-1] if store.eras else None
        size = 0 if era is None else store.transcript(era.origin).size
        root = EMPTY_ROOT if era is None else store.transcript(era.origin).root()
        origin = (
            era.origin if era else wanted_origin(store.game, first_value(store), self._means.table.ruleset)
        )
        chain = chain_in(store)
        private = [chain.label] if chain is not None and chain.private else []
        statement = Statement(
            store.game, "cannot-run", origin, size, root, reason=cannot.code, says=[cannot.message, *private]
        )
        self.signing.post(statement)
