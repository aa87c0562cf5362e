"""One game's desk: it reads questions and the log, asks the fold what is still open, and takes rulings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import structlog
from weighbridge import codec
from weighbridge.contract import RuleSet
from weighbridge.errors import Refused, Unavailable

from weighbridge_services.folding.letters import Letters
from weighbridge_services.following import LogReader, Rules
from weighbridge_services.node import Node
from weighbridge_services.ruling_recorder.decide import Asked, Item, Taken, item_in, merged, see, take
from weighbridge_services.ruling_recorder.store import Store
from weighbridge_services.subjects import Subjects
from weighbridge_services.wire import SOON, Bus, Incoming, crash_point

RETRY: Final = 0.25
LOOK: Final = 5.0
"""Seconds between two looks whether something waits to be sent."""
FOLD: Final = 2.0
"""Seconds that the fold has to answer; without it the queue is shown as the streams have it."""

log = structlog.get_logger()


class Setting(NamedTuple):
    """A game and the service's means: `run` has the ledger's thread do some work."""

    node: Node
    game: str
    bus: Bus
    store: Store
    run: Callable[..., Any]
    letters: Letters

    @property
    def own(self) -> Subjects:
        """This node's subjects for the game."""
        return self.node.subjects(self.game)

    def crash(self, point: str) -> None:
        """Die here if a test wants it: `ruling-recorder.<point>`."""
        crash_point(self.node, f"ruling-recorder.{point}")


class Desk:
    """The desk of one game."""

    def __init__(self, setting: Setting, ruleset: RuleSet) -> None:
        self.setting = setting
        self._ruleset = ruleset
        self._reader = LogReader(setting.game)
        self._position = 0
        self.rules = Rules()
        self.items: dict[str, Item] = {}
        self.refused: dict[str, int] = {}
        """How often a ruling was refused, by code."""
        self.folded: int | None = None
        """How far the fold was when it was last asked; None: it did not answer."""
        self.unsent = True
        self._changing = asyncio.Lock()
        self._wake = asyncio.Event()
        self._reconnects = setting.bus.reconnects
        self._task: asyncio.Task[None] | None = None

    @property
    def size(self) -> int:
        """How many entries were read."""
        return self._reader.size

    # --- life ----------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Take up where the ledger ends."""
        setting = self.setting
        loaded = await setting.run(setting.store.load, self._ruleset)
        self._reader, self._position, self.rules, self.items = loaded
        own = setting.own
        setting.bus.follow(own.stream("LOG"), own.log, self._reader.start, self._take_log, gather=SOON)
        questions = f"{own.prefix}.question.>"
        setting.bus.follow(own.stream("RECORDS"), questions, lambda: self._position + 1, self._take_questions)
        self._task = asyncio.create_task(self._send(), name=f"rulings of {setting.game}")

    async def stop(self) -> None:
        """Send nothing more: what waits is sent after the next start."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    # --- reading -------------------------------------------------------------------------------------------

    async def _take_log(self, messages: Sequence[Incoming]) -> None:
        entries = self._reader.take([each.data for each in messages])
        if not entries:
            return
        async with self._changing:
            rules, items = see(self._ruleset, self.rules, self.items, entries)
            await self.setting.run(self.setting.store.keep_log, self.items, items, entries)
            self.rules, self.items = rules, items
            self._reader.keep(entries[-1])

    async def _take_questions(self, messages: Sequence[Incoming]) -> None:
        position = messages[-1].metadata.sequence.stream
        async with self._changing:
            found = [item for each in messages if (item := item_in(each.data, self.setting.game)) is not None]
            items = {**{item.id: item for item in found}, **self.items}
            await self.setting.run(self.setting.store.keep_questions, self.items, items, position)
            # A crash here loses nothing: questions come again from where the ledger says that they were read to.
            self.setting.crash("after-read")
            self.items, self._position = items, position

    async def refresh(self) -> None:
        """Ask this node's own fold what is open now. Without an answer the queue stays as it was."""
        setting = self.setting
        try:
            answer: Any = codec.decode(
                await setting.bus.ask(setting.own.rpc("questions"), codec.encode({}), timeout=FOLD)
            )
        except (Unavailable, Refused):
            self.folded = None
            return
        async with self._changing:
            standing = standing_in(answer, setting.game)
            items = merged(self.items, standing, answer["size"])
            await setting.run(setting.store.keep, self.items, items)
            self.items, self.folded = items, answer["size"]

    # --- rulings -------------------------------------------------------------------------------------------

    async def rule(self, asked: Asked) -> Taken:
        """Take a ruling: keep it, hand it on, and say so. Raises Refused with why it is none."""
        await self.refresh()
        async with self._changing:
            taken = self._take(asked)
            if taken.item is None or self.items.get(taken.item.id) != taken.item:
                await self.setting.run(self.setting.store.keep_ruling, taken, self.setting.own)
                # A crash here leaves a ruling that only the ledger knows: the start hands it on, and who asks
                # again is told that it is taken.
                self.setting.crash("after-persist")
                self._note(taken)
        return taken

    def _take(self, asked: Asked) -> Taken:
        try:
            return take(self._ruleset, self.rules, self.items, self.setting.game, asked)
        except Refused as refused:
            self.refused[refused.code] = self.refused.get(refused.code, 0) + 1
            raise

    def _note(self, taken: Taken) -> None:
        if taken.item is not None:
            self.items = {**self.items, taken.item.id: taken.item}
        self.unsent = True
        self._wake.set()
        log.info("ruling", game=self.setting.game, uri=taken.envelope.uri)

    async def _send(self) -> None:
        while True:
            self._wake.clear()
            reconnects = self.setting.bus.reconnects
            if self.unsent or reconnects != self._reconnects:
                self.unsent = True
                try:
                    await self.setting.letters.send()
                    self.unsent, self._reconnects = False, reconnects
                except Unavailable as error:
                    log.info("rulings later", code=error.code, says=error.message)
                except Exception as error:
                    self.setting.bus.fail(error)
                    return
            try:
                async with asyncio.timeout(RETRY if self.unsent else LOOK):
                    await self._wake.wait()
            except TimeoutError:
                continue


def standing_in(answer: Mapping[str, Any], game: str) -> list[Item]:
    """Return the open questions in the fold's answer."""
    found = [item_in(codec.encode({**each, "game": game}), game) for each in answer["questions"]]
    return [each for each in found if each is not None]
