"""One game of the cross-check: every operator's statements read, compared, and acted upon."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec
import structlog
from nats.aio.msg import Msg
from weighbridge import codec
from weighbridge.errors import Refused, Unavailable, WeighbridgeError
from weighbridge.identity import encode_envelope

from weighbridge_services.config import GameTable
from weighbridge_services.cross_check.beyond import Beyond, Ended
from weighbridge_services.cross_check.book import Book, Doubts, Equivocation
from weighbridge_services.cross_check.decide import (
    agreement,
    better,
    differing,
    differing_cells,
    foreign_pin,
    is_outvoted,
)
from weighbridge_services.cross_check.errors import NotBorneOut, SelfCheckFailed
from weighbridge_services.cross_check.knowing import Known, known_of
from weighbridge_services.cross_check.saying import Letter, Voice
from weighbridge_services.cross_check.tracing import Parting, part, refolded, write_evidence
from weighbridge_services.ending import end_tasks
from weighbridge_services.folding.letters import Letters, Run
from weighbridge_services.folding.statements import Said, Statement, Verdict, open_statement
from weighbridge_services.node import Node
from weighbridge_services.wire import Bus, crash_point

IDLE: Final = 1.0
RETRY: Final = 0.5
LONGEST: Final = 60.0
"""Seconds between two self-checks that fail, at most."""
WAITING: Final = 10_000
"""Statements of an operator whose keys are not known yet that are kept at most."""

log = structlog.get_logger()


class Means(NamedTuple):
    """What a game's cross-check works with."""

    node: Node
    table: GameTable
    bus: Bus
    book: Book
    run: Run
    letters: Letters

    def crash(self, point: str) -> None:
        """Die here if a test wants it: `cross-check.<point>`."""
        crash_point(self.node, f"cross-check.{point}")


class GameCheck:
    """Compares what operators say of one game."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._game = means.table.uri
        self._own = means.node.subjects(self._game)
        self._me = means.node.did
        self._voice = Voice(means.node, self._game)
        peers = {peer.did for peer in means.table.peers} | {means.table.lister or self._me, self._me}
        self._dids = sorted(peers)
        self._known = Known({self._me: means.node.operator_record(self._game)}, None, (), 0)
        self._waiting: dict[str, list[tuple[int, bytes]]] = {did: [] for did in self._dids}
        self._open: dict[str, Statement] = {}
        self._foreign: dict[str, Statement] = {}
        self._checked: set[tuple[str, int]] = set()
        self._beyond = Beyond(means.bus, self._game, self._accuse_of_more)
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._not_before, self._delay = 0.0, RETRY
        self._stopping = False
        self.trouble = ""
        self.refold = refolded

    async def start(self) -> None:
        """Begin to read and to answer."""
        bus, book = self._means.bus, self._means.book
        doubts = await self._means.run(book.doubts)
        self._open, self._foreign = dict(doubts.differing), dict(doubts.foreign)
        self._task = asyncio.create_task(self._watched(), name="cross-check")
        for did in self._dids:
            subjects = self._means.node.subjects(self._game, did)
            position = await self._means.run(book.position, did)
            bus.follow(
                subjects.stream("RECORDS"), f"{subjects.prefix}.statement.>", _place(position), self._reader(did)
            )  # fmt: skip
        await bus.serve(self._own.rpc("agreed"), self._answer)

    async def stop(self) -> None:
        """Stop what is under way."""
        self._stopping = True
        if self._task is not None:
            await end_tasks([self._task])

    def health(self) -> dict[str, Any]:
        """Return how far operators agree."""
        agreed = self._means.book.agreed
        return {
            "agreed": 0 if agreed is None else agreed.size,
            "agreeing": 0 if agreed is None else len(agreed.operators),
            "reached": 0 if agreed is None else int(agreed.reached),
            "differing": len(self._open),
        }

    async def _answer(self, body: bytes) -> bytes:
        book = self._means.book
        agreed = None if book.agreed is None else msgspec.to_builtins(book.agreed, builtin_types=(bytes,))
        return codec.encode({"agreed": agreed, "differing": await self._means.run(book.differing)})

    # --- reading -----------------------------------------------------------------------------------------------

    def _reader(self, did: str) -> Callable[[list[Msg]], Any]:
        async def read(messages: list[Msg]) -> None:
            if did not in self._known.operators:
                await self._learn()
            self._waiting[did] += [(m.metadata.sequence.stream, m.data) for m in messages]
            del self._waiting[did][:-WAITING]
            await self._take(did)
            self._wake.set()

        return read

    async def _learn(self) -> None:
        """Ask this node's fold who the operators are. What it does not say now it says later."""
        try:
            answer: Any = codec.decode(await self._means.bus.ask(self._own.rpc("status"), codec.encode({})))
        except (Unavailable, Refused) as error:
            log.debug("the fold does not say who the operators are", says=error.message)
            return
        own = self._means.node
        self._known = known_of(answer, own.operator_record(self._game))
        logs = [(log, self._known.operators.get(log.lister)) for log in self._known.ended]
        self._beyond.watch((log, keys, own.subjects(self._game, log.lister)) for log, keys in logs if keys)

    async def _take(self, did: str) -> None:
        operator = self._known.operators.get(did)
        waiting, self._waiting[did] = self._waiting[did], []
        if operator is None:
            # Until its keys are in the log nothing of it can be verified; after a restart it is read again.
            self._waiting[did] = waiting
            return
        for _, data in waiting:
            try:
                said = open_statement(data, self._game, operator)
            except Refused as refused:
                log.warning("no statement", operator=did, code=refused.code, says=refused.message)
                continue
            await self._compare(said)
        if not waiting:
            return
        # A crash here leaves statements in the book that are read again, which says the same of them.
        self._means.crash("after-read")
        await self._means.run(self._means.book.keep_read, did, waiting[-1][0], self._doubts)
        # A crash here leaves doubts that only the ledger knows: the start acts upon them.
        self._means.crash("after-compare")

    @property
    def _doubts(self) -> Doubts:
        return Doubts(dict(self._open), dict(self._foreign))

    async def _keep_doubts(self) -> None:
        await self._means.run(self._means.book.keep_doubts, self._doubts)

    async def _compare(self, said: Said) -> None:
        statement, book = said.statement, self._means.book
        if statement.verdict != "ok":
            log.warning(
                "an operator does not agree", operator=said.operator, verdict=statement.verdict,
                reason=statement.reason, says=statement.says,
            )  # fmt: skip
            return
        fault = await self._means.run(book.add, said)
        if fault is not None:
            await self._accuse(fault)
            return
        roots = await self._means.run(book.roots, statement.origin, statement.size, self._dids)
        agreed = agreement(statement.origin, statement.size, roots, self._known.policy)
        if agreed is not None and better(agreed, book.agreed):
            await self._means.run(book.keep_agreed, agreed)
        for did in differing(roots, self._me):
            earlier = self._open.get(did)
            if earlier is None or earlier.size > statement.size:
                self._open[did] = statement
        if said.operator != self._me:
            self._foreign[said.operator] = statement

    async def _accuse(self, fault: Equivocation) -> None:
        says = f"{fault.operator} has signed two roots of {fault.size} leaves of {fault.origin}"
        log.error("an operator contradicts itself", operator=fault.operator, size=fault.size)
        finding = self._finding(
            "equivocation",
            fault.operator,
            says,
            origin=fault.origin,
            size=fault.size,
            notes=list(fault.notes),
        )
        name = f"equivocation/{fault.operator}/{fault.size}"
        await self._say(name, [finding])

    async def _accuse_of_more(self, end: Ended, size: int, note: str) -> None:
        did = end.lister
        says = f"{did} has signed {size} entries of a log that was handed over after {end.size}"
        finding = self._finding("equivocation", did, says, size=size, end=end.size, notes=[note])
        await self._say(f"beyond/{did}/{end.size}", [finding])
        self._wake.set()

    # --- acting ------------------------------------------------------------------------------------------------

    async def _watched(self) -> None:
        try:
            while not self._stopping:
                await self._work()
        except Exception as error:
            log.error("the cross-check stopped", game=self._game, error=str(error))
            self._means.bus.fail(error)

    async def _work(self) -> None:
        try:
            await self._learn()
            for did in self._dids:
                await self._take(did)
            await self._look_at_pins()
            await self._settle_all()
            await self._means.letters.send()
        except Unavailable as error:
            log.info("comparing later", game=self._game, says=error.message)
            await asyncio.sleep(RETRY)
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(IDLE):
                await self._wake.wait()
        self._wake.clear()

    async def _settle_all(self) -> None:
        now = asyncio.get_running_loop().time()
        if now < self._not_before:
            return
        try:
            for did, statement in list(self._open.items()):
                await self._settle(did, statement)
            self._delay, self.trouble = RETRY, ""
        except SelfCheckFailed as error:
            # Nobody is accused before this node has shown that it can fold its own log again.
            log.error("the self-check failed", game=self._game, says=error.message, again=self._delay)
            self._not_before, self._delay = now + self._delay, min(2 * self._delay, LONGEST)
            self.trouble = f"{error.code}: {error.message}"

    async def _look_at_pins(self) -> None:
        for did, statement in list(self._foreign.items()):
            if foreign_pin(statement.origin, statement.entries, self._known.origins, self._known.folded):
                await self._say_pin(did, statement)
            elif statement.origin not in self._known.origins:
                continue  # this node has yet to fold that far
            if self._foreign[did] is statement:  # and none that came meanwhile
                del self._foreign[did]
            await self._keep_doubts()

    async def _say_pin(self, did: str, statement: Statement) -> None:
        origin = self._known.origins[-1]
        says = f"{did} folds as {statement.origin}, and this node as {origin}"
        log.error("another rule set or pin", operator=did, theirs=statement.origin, ours=origin)
        finding = self._finding(
            "divergence", did, says, kind="pin", size=statement.size, origin=statement.origin
        )
        own = msgspec.structs.replace(statement, origin=origin)
        letters = [finding, self._statement("disagree", own, "pin", [says])]
        await self._say(f"pin/{did}/{statement.origin}", letters)
        if did == self._means.table.lister and did != self._me:
            # A root without a pin takes the lister's: this node cannot run it.
            await self._abstain(own, "pin-mismatch", says)

    async def _settle(self, did: str, statement: Statement) -> None:
        """Find out where an operator parts from this node, and say so; first whether this node is right."""
        origin, size = statement.origin, statement.size
        book = self._means.book
        roots = await self._means.run(book.roots, origin, size, self._dids)
        name = f"divergence/{did}/{origin}"
        own = msgspec.structs.replace(statement, root=roots[self._me])
        if not await self._means.run(book.is_done, name):
            if not await self._is_right(own):
                self._open.clear()
                await self._keep_doubts()
                return
            await self._say(name, await self._find(did, statement, roots))
        if is_outvoted(roots, self._me, self._known.policy):
            await self._abstain(own, "outvoted", f"the quorum has signed another root of {size} leaves")
        del self._open[did]
        await self._keep_doubts()

    async def _is_right(self, own: Statement) -> bool:
        """Fold again in a fresh process; if that gives another root than was signed, say so and cosign no more."""
        at = own.origin, own.size
        if at not in self._checked:
            root = await self.refold(self._means.node, self._game, own.origin, own.size)
            # A crash here loses a root that nothing has been said by: the start has it folded again.
            self._means.crash("after-self-check")
            if root != own.root:
                says = f"folding again gives {root.hex()} of {own.size} leaves; signed is {own.root.hex()}"
                await self._abstain(own, "self-check", says)
                return False
            self._checked.add(at)
        return True

    async def _find(self, did: str, statement: Statement, roots: dict[str, bytes]) -> list[Letter]:
        origin, size = statement.origin, statement.size
        theirs = self._means.node.subjects(self._game, did)
        own = msgspec.structs.replace(statement, root=roots[self._me])
        try:
            parting = await part(self._means.bus, self._means.node, theirs, origin, size, roots[did])
        except NotBorneOut as error:
            finding = self._finding("divergence", did, error.message, size=size, origin=origin)
            return [finding, self._statement("disagree", own, error.code, [error.message])]
        if parting is None:
            says = f"{did} answers with the hashes of this node and has signed another root of {size} leaves"
            return [self._finding("divergence", did, says, size=size, origin=origin)]
        return await self._say_parting(did, own, parting)

    async def _say_parting(self, did: str, own: Statement, parting: Parting) -> list[Letter]:
        book, node = self._means.book, self._means.node
        notes = [await self._means.run(book.note, who, own.origin, own.size) for who in (self._me, did)]
        evidence = write_evidence(
            node.folder, self._game, own.origin, own.size, parting, (self._me, notes[0]), (did, notes[1])
        )
        # A crash here leaves a bundle that nothing names: it is found again after the start, and is the same file.
        self._means.crash("after-evidence")
        cells = differing_cells(parting.ours, parting.theirs)
        about = cells[0] if cells else did
        says = f"{did} parts from {self._me} at leaf {parting.index} ({parting.kind}): {', '.join(cells[:8])}"
        log.error("operators differ", operator=did, at=parting.index, kind=parting.kind, cells=cells[:8])
        value = {
            "index": parting.index,
            "size": own.size,
            "origin": own.origin,
            "kind": parting.kind,
            "cells": cells[:64],
        }
        await self._means.run(book.keep_differing, did, value)
        finding = self._finding(
            "divergence",
            about,
            says,
            **{"with": did},
            exchanges=parting.exchanges,
            evidence=evidence,
            **value,
        )
        disagree = self._statement("disagree", own, parting.kind, [says], evidence=evidence)
        return [finding, disagree]

    # --- saying ------------------------------------------------------------------------------------------------

    def _finding(self, code: str, about: str, says: str, **more: Any) -> Letter:
        return self._voice.finding(code, about, says, **more)

    def _statement(
        self, verdict: Verdict, own: Statement, reason: str, says: list[str], **more: Any
    ) -> Letter:
        return self._voice.statement(verdict, own, reason, [*says, *self._known.weak], **more)

    async def _say(self, what: str, letters: list[Letter]) -> None:
        await self._means.run(self._means.book.say, what, letters)
        # A crash here leaves letters that only the ledger knows: the start publishes them.
        self._means.crash("after-persist")

    async def _abstain(self, statement: Statement, reason: str, says: str) -> None:
        """Say that this node cosigns no more, and have its fold stop. Raises Unavailable until the fold has."""
        subject, envelope = self._statement("abstain", statement, reason, [says])
        await self._say(f"abstain/{reason}", [(subject, envelope)])
        try:
            await self._means.bus.ask(
                self._own.rpc("stop"), codec.encode({"statement": encode_envelope(envelope)})
            )
        except WeighbridgeError as error:
            if isinstance(error, Unavailable):
                raise
            log.error("the fold does not stop", says=error.message)


def _place(position: int) -> Callable[[], int]:
    return lambda: position + 1
