"""One game's desk: it reads questions and the log, asks the fold what is still open, and takes rulings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import structlog
from weighbridge import codec
from weighbridge.contract import RuleSet
from weighbridge.errors import Refused, Unavailable
from weighbridge.log.entries import Listed

from weighbridge_services.following import Rules
from weighbridge_services.following.working import LogWorker, Means
from weighbridge_services.ruling_recorder.decide import Asked, Item, Taken, item_in, merged, see, take
from weighbridge_services.ruling_recorder.store import Seen, Store
from weighbridge_services.wire import SOON, Incoming

FOLD: Final = 2.0
"""Seconds that the fold has to answer; without it the queue is shown as the streams have it."""

log = structlog.get_logger()


class Desk(LogWorker[Seen]):
    """The desk of one game."""

    def __init__(self, means: Means, store: Store, ruleset: RuleSet) -> None:
        super().__init__(means, store, ruleset, Seen())
        self.store = store
        self._position = 0
        self.refused: dict[str, int] = {}
        """How often a ruling was refused, by code."""
        self.folded: int | None = None
        """How far the fold was when it was last asked; None: it did not answer."""

    @property
    def rules(self) -> Rules:
        """The rules in force by what was read."""
        return self.state.rules

    @property
    def items(self) -> Mapping[str, Item]:
        """The queue, by the ids of its questions."""
        return self.state.items

    async def start(self) -> None:
        """Take up where the ledger ends."""
        means = self.means
        self._position = await means.run(self.store.position)
        await super().start()
        questions = f"{means.own.prefix}.question.>"
        means.bus.follow(
            means.own.stream("RECORDS"),
            questions,
            lambda: self._position + 1,
            self._take_questions,
            gather=SOON,
        )

    async def see(self, state: Seen, entries: Sequence[Listed]) -> Seen:
        """Return rules and queue after some more entries."""
        return Seen(*see(self.ruleset, state.rules, state.items, entries))

    # --- questions -----------------------------------------------------------------------------------------

    async def _take_questions(self, messages: Sequence[Incoming]) -> None:
        position = messages[-1].metadata.sequence.stream
        async with self.changing:
            found = [item for each in messages if (item := item_in(each.data, self.means.game)) is not None]
            items = {**{item.id: item for item in found}, **self.items}
            await self.means.run(self.store.keep_questions, self.items, items, position)
            # A crash here loses nothing: questions come again from where the ledger says that they were read to.
            self.means.crash("after-questions")
            self.state, self._position = Seen(self.rules, items), position

    async def refresh(self) -> None:
        """Ask this node's own fold what is open now. Without an answer the queue stays as it was."""
        means = self.means
        try:
            answer: Any = codec.decode(
                await means.bus.ask(means.own.rpc("questions"), codec.encode({}), timeout=FOLD)
            )
        except (Unavailable, Refused):
            self.folded = None
            return
        async with self.changing:
            standing = standing_in(answer, means.game)
            items = merged(self.items, standing, answer["size"])
            await means.run(self.store.keep_items, self.items, items)
            self.state, self.folded = Seen(self.rules, items), answer["size"]

    # --- rulings -------------------------------------------------------------------------------------------

    async def rule(self, asked: Asked) -> Taken:
        """Take a ruling: keep it, hand it on, and say so. Raises Refused with why it is none."""
        await self.refresh()
        async with self.changing:
            taken = self._take_ruling(asked)
            if taken.item is None or self.items.get(taken.item.id) != taken.item:
                items = self.items if taken.item is None else {**self.items, taken.item.id: taken.item}
                # Who asks again after a crash in here is told that it is taken, or has it taken.
                await self.conclude(Seen(self.rules, items), self.store.keep_ruling, taken, self.means.own)
                log.info("ruling", game=self.means.game, uri=taken.envelope.uri)
        return taken

    def _take_ruling(self, asked: Asked) -> Taken:
        try:
            return take(self.ruleset, self.rules, self.items, self.means.game, asked)
        except Refused as refused:
            self.refused[refused.code] = self.refused.get(refused.code, 0) + 1
            raise


def standing_in(answer: Mapping[str, Any], game: str) -> list[Item]:
    """Return the open questions in the fold's answer."""
    found = [item_in(codec.encode({**each, "game": game}), game) for each in answer["questions"]]
    return [each for each in found if each is not None]
