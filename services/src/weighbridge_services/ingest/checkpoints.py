"""The lister's checkpoints: when one is due, signing it, and having all of them in the stream."""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

from weighbridge_services.ingest.notes import checkpoint_message, sign_checkpoint
from weighbridge_services.ingest.setting import Setting

SOON: Final = 0.05
"""Seconds between two checkpoints that nothing makes urgent."""
RECEIPTS: Final = 0.9
"""Seconds after which a checkpoint comes that holds nothing new but receipts: it moves nobody to more of them."""


class Signed(NamedTuple):
    """A checkpoint that this node has signed and kept: its size, and its note."""

    size: int
    note: bytes


class Checkpoints:
    """The checkpoints of the log this node lists."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._loop = asyncio.get_running_loop()
        self._since = 0.0
        self._last_at = 0.0
        self._urgent = False
        self._matter_of: dict[int, int] = {}
        self.matter = -1
        """The newest entry that is no receipt."""
        self.size = 0
        """The size of the newest checkpoint."""
        self.note = b""

    def load(self) -> None:
        """Take up where the ledger ends. In the ledger's thread."""
        store = self._setting.store
        self._matter_of = store.matters()
        newest = store.newest_checkpoint()
        if newest is not None:
            self.size, self.note = newest.size, newest.note
        self.matter = max(store.size - 1, -1)

    @property
    def matters(self) -> dict[int, int]:
        """By size of the newest checkpoints, the last entry before it that is no receipt."""
        return self._matter_of

    def noted(self, size: int, matter: int | None, urgent: bool) -> None:
        """Take note that the log has grown to a size."""
        if matter is not None:
            self.matter = matter
        if size > self.size and not self._since:
            self._since = self._loop.time()
        self._urgent = self._urgent or urgent

    def due_in(self) -> float | None:
        """Return the seconds until a checkpoint is due, None if there is nothing new to sign."""
        if self._setting.store.size <= self.size:
            return None
        if self._urgent:
            return 0.0
        now = self._loop.time()
        if self.matter >= self.size:
            return self._last_at + SOON - now
        return (self._since or now) + RECEIPTS - now

    def sign_if_due(self) -> Signed | None:
        """Sign a checkpoint over all entries if one is due, and keep it. In the ledger's thread, in an open batch."""
        due = self.due_in()
        if due is None or due > 0:
            return None
        setting, store = self._setting, self._setting.store
        size, root = store.size, store.log.root()
        note = sign_checkpoint(setting.node.keys.log, setting.node.name, setting.uri, size, root)
        self._matter_of[size] = self.matter
        while len(self._matter_of) > 256:
            del self._matter_of[min(self._matter_of)]
        store.keep_checkpoint(size, root, note, dict(self._matter_of))
        return Signed(size, note)

    async def publish(self, signed: Signed) -> None:
        """Publish a checkpoint that is kept, after the entries that it holds."""
        setting = self._setting
        await setting.bus.publish_once(setting.own.checkpoint(signed.size), checkpoint_message(signed.note))
        self.size, self.note = signed
        self._since, self._urgent, self._last_at = 0.0, False, self._loop.time()

    async def bring_up(self) -> None:
        """Publish the kept checkpoints that the stream lacks: the last one after a crash, all after a wiped disk."""
        setting, store = self._setting, self._setting.store
        missing: list[int] = []
        for size in reversed(await store.run(store.checkpoints.sizes)):
            if (
                await setting.bus.last(setting.own.stream("RECORDS"), setting.own.checkpoint(size))
                is not None
            ):
                break
            missing.append(size)
        for size in reversed(missing):
            kept = await store.run(store.checkpoints.at, size)
            if kept is not None:
                await setting.bus.publish_once(setting.own.checkpoint(size), checkpoint_message(kept.note))
