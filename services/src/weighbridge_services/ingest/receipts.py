"""A follower's receipts: kept before they are published, one for each checkpoint it cosigned."""

from __future__ import annotations

from weighbridge import codec
from weighbridge.identity import Envelope, encode_envelope

from weighbridge_services.ingest.following import Reached
from weighbridge_services.ingest.setting import Setting
from weighbridge_services.subjects import token

POSITION = "checkpoints"
"""Under this and a lister's token: the stream sequence in its records up to which checkpoints were read and settled."""


class Receipts:
    """The receipts of one game."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._name = f"{POSITION}/{token(setting.game.lister or setting.node.did)}"
        self._position = 0
        self.read = 0
        self.size = 0
        """The size of the newest checkpoint that this node cosigned."""

    def load(self) -> None:
        """Take up where the ledger ends. In the ledger's thread."""
        store = self._setting.store
        self._position = self.read = store.position(self._name)
        newest = store.newest_checkpoint()
        self.size = newest.size if newest is not None else 0

    def position(self) -> int:
        """Return the stream sequence to read on at."""
        return self._position + 1

    def knows(self, reached: Reached) -> bool:
        """Whether this is one that was cosigned already; another root of its size is not. In the ledger's thread."""
        if reached.size > self.size:
            return False
        known = self._setting.store.checkpoints.at(reached.size)
        return known is not None and known.root == reached.root

    async def publish(self, reached: Reached, receipt: Envelope) -> None:
        """Keep a receipt, then publish it."""
        setting, data = self._setting, encode_envelope(receipt)
        await setting.store.run(self._keep, reached, data)
        # A crash here leaves a receipt that only the ledger knows: the start publishes it, with its old time.
        setting.crash("after-checkpoint")
        await setting.bus.publish_once(setting.own.checkpoint(reached.size), receipt_message(data))
        self.size = max(self.size, reached.size)

    def _keep(self, reached: Reached, data: bytes) -> None:
        store = self._setting.store
        with store.ledger.batch():
            store.checkpoints.put(reached.size, reached.root, reached.note)
            store.checkpoints.cosign(reached.size, self._setting.node.did, data)
            store.keep_position(self._name, self.read)
        self._position = self.read

    async def bring_up(self) -> None:
        """Publish the kept receipts that the stream lacks: the last one after a crash, all after a wiped disk."""
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
            lines = await store.run(store.checkpoints.cosignatures, size)
            data = lines.get(setting.node.did)
            if data is not None:
                await setting.bus.publish_once(setting.own.checkpoint(size), receipt_message(data))


def receipt_message(envelope: bytes) -> bytes:
    """Return the message that publishes a receipt."""
    return codec.encode({"envelope": envelope})
