"""A live source in the hands of a test: what is put on a shelf is found, in its order, while somebody reads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

from repo_making import ALICE, Made
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.ports import Given, Pause, Unavailable
from weighbridge.repos import Proved, carry

DOCUMENT = Cid.of(b"document", 0x55)


class Away(Unavailable):
    """The shelf cannot be reached."""

    code = "shelf-away"


class Shelf:
    """What there is to find. `asked`: the positions from which it was read. `away`: how often it cannot be read yet."""

    name = "shelf"

    def __init__(self) -> None:
        self.things: list[bytes] = []
        self.asked: list[int] = []
        self.away = 0
        self.closed = 0
        self._news = asyncio.Event()

    def put(self, *things: bytes) -> None:
        """Let things be found."""
        self.things += things
        self._news.set()

    async def read(self, position: int) -> AsyncIterator[tuple[int, Given | Pause]]:
        """Yield what is there after a position, for ever."""
        self.asked.append(position)
        if self.away:
            self.away -= 1
            raise Away("nobody is at the shelf")
        while True:
            self._news.clear()
            while position < len(self.things):
                position += 1
                yield position, Given(self.things[position - 1])
                yield position, Pause()
            await self._news.wait()

    async def close(self) -> None:
        """Count it."""
        self.closed += 1


SHELVES: dict[str, Shelf] = {}


def open_shelf(settings: Mapping[str, Any], folder: str) -> Shelf:
    return SHELVES.setdefault(settings["shelf"], Shelf())


class Repo(Made):
    """A repository whose changes come carried, as a source that has verified them gives them."""

    def tell(self, path: str, value: Mapping[str, Any] | None, did: str = ALICE) -> bytes:
        """Write a record, or delete it; return what carries that."""
        self.commit({path: None if value is None else dict(value)})
        assert self.last is not None
        record = None if value is None else codec.encode(dict(value))
        proved = Proved(self.last, self.tree.get(path), record)
        return carry(f"at://{did}/{path}", self.key.public.did_key, DOCUMENT, proved, self.tree.prove(path))
