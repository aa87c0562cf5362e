"""The GM's side of the desk: looking at the queue, and signing the record that answers a question."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, ClassVar, Final

from weighbridge import codec
from weighbridge.contract import Question
from weighbridge.errors import Refused
from weighbridge.identity import Signer, encode_envelope, sign_record

from weighbridge_services.config import GameTable
from weighbridge_services.node import Node
from weighbridge_services.subjects import Subjects
from weighbridge_services.wire import Bus, Incoming

PATIENCE: Final = 2.0


class NotOnTheDesk(Refused):
    """No question of the queue, or more than one, has an id that begins so."""

    code: ClassVar[str] = "not-on-the-desk"


class NotAnAnswer(Refused):
    """The rule set knows no record that answers the question so."""

    code: ClassVar[str] = "not-an-answer"


class Client:
    """A connection to the desk of one game of a node."""

    def __init__(self, node: Node, game: GameTable, bus: Bus) -> None:
        self._node = node
        self._game = game
        self._bus = bus

    @property
    def _own(self) -> Subjects:
        return self._node.subjects(self._game.uri)

    async def queue(self, *, everything: bool = False) -> dict[str, Any]:
        """Return the queue as `rpc.desk` gives it. Raises NobodyAnswers, BrokerUnavailable."""
        asked = codec.encode({"all": True} if everything else {})
        answer: Any = codec.decode(await self._bus.ask(self._own.rpc("desk"), asked))
        return answer  # type: ignore[no-any-return]

    async def rule(self, question: str, answer: str, why: str | None, signer: Signer) -> dict[str, Any]:
        """Sign the record that answers a question (the beginning of its id is enough), and hand it to the desk.

        Raises NotOnTheDesk, NotAnAnswer, NobodyAnswers and BrokerUnavailable.
        """
        item = chosen((await self.queue(everything=True))["questions"], question)
        envelope = self._answer(item, answer, why, signer)
        asked = {"envelope": envelope, "question": item["id"], "answer": answer}
        return await self.hand_in(asked if why is None else {**asked, "why": why})

    async def hand_in(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Hand a ruling to the desk; return what became of it."""
        answer: Any = codec.decode(await self._bus.ask(self._own.rpc("rule"), codec.encode(asked)))
        return answer  # type: ignore[no-any-return]

    def _answer(self, item: dict[str, Any], answer: str, why: str | None, signer: Signer) -> bytes:
        found = self._node.ruleset(self._game).answer(question_of(item), answer, why)
        if found is None:
            options = ", ".join(item.get("options", ())) or "a line of text"
            raise NotAnAnswer(f"{answer!r} is no answer to {item['id']}; it takes {options}")
        collection, value = found
        game = self._game.uri
        # A record key that no other ruling has, whose order is that of time.
        rkey = f"{time.time_ns() // 1_000:016}-{item['id'][-6:]}"
        return encode_envelope(sign_record(signer, game, collection, rkey, {**value, "game": game}))

    async def coming(self) -> AsyncIterator[dict[str, Any]]:
        """Yield every question that was ever put to anybody in this game, and then each new one as it comes."""
        found: asyncio.Queue[dict[str, Any]] = asyncio.Queue(maxsize=1_000)

        async def take(messages: Sequence[Incoming]) -> None:
            for message in messages:
                value: Any = codec.decode(message.data)
                await found.put(value)

        own = self._own
        self._bus.follow(own.stream("RECORDS"), f"{own.prefix}.question.>", lambda: 1, take)
        while True:
            yield await found.get()


@asynccontextmanager
async def desk_of(node: Node, game: GameTable) -> AsyncGenerator[Client]:
    """Connect to the desk of one game of a node. Raises BrokerUnavailable."""
    bus = Bus.connect(node, "gm")
    await bus.start(PATIENCE)
    try:
        yield Client(node, game, bus)
    finally:
        await bus.stop()


def chosen(items: Sequence[dict[str, Any]], beginning: str) -> dict[str, Any]:
    """Return the one question whose id begins so; the open ones come first. Raises NotOnTheDesk."""
    for states in (("open",), ("open", "answered", "closed")):
        found = [
            each for each in items if each["id"].startswith(beginning) and each.get("state", "open") in states
        ]
        if len(found) == 1:
            return found[0]
    raise NotOnTheDesk(
        f"{len(found) or 'no'} questions have an id that begins with {beginning!r}; `weighbridge desk` lists them"
    )


def question_of(item: dict[str, Any]) -> Question:
    """Return a question of the queue as a rule set sees it."""
    return Question(
        item["id"], item["kind"], item["about"], item["words"], tuple(item.get("options", ())), item["to"],
        item["asked"], item.get("default"), item.get("due"),
    )  # fmt: skip
