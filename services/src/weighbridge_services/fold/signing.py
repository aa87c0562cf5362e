"""Cosigning the transcript at the lister's checkpoint sizes. In the ledger's thread.

The recompute key never signs below what it has signed, and nothing at all once the node knows that it, or its
key, was wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import structlog
from weighbridge.errors import Refused
from weighbridge.fold.operators import listing_origin, operator_of
from weighbridge.identity import encode_envelope
from weighbridge.ledger import CheckpointConflict

from weighbridge_services.fold.decide import (
    Batch,
    batches,
    listing_checkpoint,
    new_leaves,
    to_sign,
    transcript_message,
    weaknesses,
)
from weighbridge_services.fold.runner import Runner
from weighbridge_services.folding.errors import NoSuchLeaf, NotFolding
from weighbridge_services.folding.statements import Statement, cosigned, open_statement, sign_statement
from weighbridge_services.folding.store import STATE, Era, FoldStore, raw, read_delta
from weighbridge_services.node import Node
from weighbridge_services.subjects import Subjects

ROUND: Final = 64
"""Checkpoint sizes that are dealt with at a time."""

log = structlog.get_logger()


class Stopped(NamedTuple):
    """Why this node does not cosign: a code, and a sentence."""

    reason: str
    says: str


class Signing:
    """Which transcript checkpoints one game's fold has signed, is to sign, and must not."""

    def __init__(self, node: Node, runner: Runner, subjects: Subjects) -> None:
        self._node = node
        self._runner = runner
        self._subjects = subjects
        self.store: FoldStore = runner.store
        self._listing = self.store.ledger.checkpoints(listing_origin(self.store.game))
        self._sizes = {size for size in self._listing.sizes() if size > self.done}
        self.heard = 0
        """The size of the newest checkpoint of the lister's that was heard since the start."""
        self.stopped = self._read_stopped()
        self.newest = 0
        """The size, in leaves, of the newest transcript checkpoint that this node has cosigned."""

    # --- the lister's checkpoints ------------------------------------------------------------------------------

    @property
    def done(self) -> int:
        """The lister's newest checkpoint size that has been dealt with."""
        return self.store.number("done")

    def hear(self, messages: list[bytes], lister: str) -> None:
        """Take the lister's checkpoints. What is none is refused with a word in the log."""
        with self.store.ledger.batch():
            for data in messages:
                self._hear(data, lister)

    def is_ahead(self, data: bytes) -> bool:
        """Whether this checkpoint of the lister's is of entries that are not here yet; whose it is, `hear` says."""
        found = listing_checkpoint(data, self.store.game, None)
        if isinstance(found, str):
            return False
        self.heard = max(self.heard, found[0].size)
        return found[0].size > self.store.log.size

    def _hear(self, data: bytes, lister: str) -> None:
        try:
            operator = operator_of(self._runner.fold.world, lister)
        except NotFolding:
            operator = None
        found = listing_checkpoint(data, self.store.game, operator)
        if isinstance(found, str):
            log.warning("no checkpoint of the lister's", game=self.store.game, code=found)
            return
        checkpoint, note = found
        self.heard = max(self.heard, checkpoint.size)
        try:
            if self._listing.put(checkpoint.size, checkpoint.root, note) and checkpoint.size > self.done:
                self._sizes.add(checkpoint.size)
        except CheckpointConflict as error:
            log.error("the lister has signed two logs", game=self.store.game, says=error.message)

    def forget(self) -> None:
        """Take up again what is kept, after a batch was undone."""
        self._sizes = {size for size in self._listing.sizes() if size > self.done}

    # --- signing -----------------------------------------------------------------------------------------------

    def sign(self, now: int) -> bool:
        """Deal with some of the lister's checkpoints, at a time (s); whether there may be more."""
        try:
            folded = self._runner.fold.size
            done = max(self.done, self._published())
        except (NotFolding, NoSuchLeaf):
            return False
        sizes = to_sign(self._sizes, folded, done)[:ROUND]
        for size in sizes:
            if self._is_ours(size):
                with self.store.ledger.batch():
                    self._divide(done, size)
                    self._state(size, now)
                    self.store.set_number("done", size)
                done = size
            self._sizes.discard(size)
        return len(sizes) == ROUND

    def _published(self) -> int:
        """Return how many entries the transcript's messages cover. Raises NoSuchLeaf before they are folded."""
        count = self.batches()
        if not count:
            return 0
        origin, start, number = self.store.value("batch", count)
        era = self.store.era_named(origin)
        if self.store.transcript(origin).size < start + number:
            raise NoSuchLeaf(f"{origin} is published up to {start + number} and not folded that far yet")
        return era.seq_of(start + number)

    def _is_ours(self, size: int) -> bool:
        kept = self._listing.at(size)
        if kept is not None and self.store.log.root(size) == kept.root:
            return True
        log.error("the lister's checkpoint is of another log than ours", game=self.store.game, size=size)
        return False

    def _divide(self, done: int, size: int) -> None:
        for batch in batches(self._weighed(done, size)):
            self.add_batch(batch)

    def _weighed(self, done: int, size: int) -> Iterator[tuple[str, int, int]]:
        for origin, index in new_leaves(self.store.eras, done, size):
            yield origin, index, 96 + len(self.store.transcript(origin).delta(index))

    def _state(self, size: int, now: int) -> None:
        era = self.store.era_of(size - 1)
        leaves = era.size_at(size)
        transcript = self.store.transcript(era.origin)
        root = transcript.root(leaves)
        kept = self.store.ledger.checkpoints(era.origin)
        if self.stopped is None and self._agrees_with_itself(era) and self._above(era, leaves):
            note = cosigned(self._node.keys.recompute, self._node.name, era.origin, leaves, root, now)
            kept.put(leaves, root, note.encode())
            state = dict(read_delta(transcript.delta(leaves - 1))).get(STATE)
            statement = Statement(
                self.store.game,
                "ok",
                era.origin,
                leaves,
                root,
                size,
                state,
                note,
                says=self.weaknesses(),
            )
            self.newest = leaves
            self.post(statement)

    def _above(self, era: Era, leaves: int) -> bool:
        newest = self.store.ledger.checkpoints(era.origin).newest()
        return newest is None or newest.size < leaves

    def _agrees_with_itself(self, era: Era) -> bool:
        newest = self.store.ledger.checkpoints(era.origin).newest()
        transcript = self.store.transcript(era.origin)
        if newest is None or newest.size > transcript.size:
            return newest is None
        if transcript.root(newest.size) == newest.root:
            return True
        self.stop(
            "own-root-differs",
            f"this node's recompute key has signed another root of {newest.size} leaves than it finds now; it needs a"
            " new recompute key, listed in an operator record",
        )
        return False

    def weaknesses(self) -> list[str]:
        """Return what is to be said of the game with every statement."""
        world = self._runner.fold.world
        held = world.root_at(world.seq)
        return weaknesses(held[0] if held is not None else None)

    def post(self, statement: Statement) -> None:
        """Put a statement into the outbox."""
        envelope = sign_statement(self._node.keys.records, statement)
        self.store.ledger.outbox.add(
            self._subjects.statement(str(envelope.cid)), encode_envelope(envelope), 0
        )

    # --- transcript messages -------------------------------------------------------------------------------------

    def batches(self) -> int:
        """Return how many messages the transcript has."""
        return self.store.number("batches")

    def add_batch(self, batch: Batch) -> None:
        """Keep the next message's division."""
        number = self.batches() + 1
        with self.store.ledger.batch():
            self.store.set_value(list(batch), "batch", number)
            self.store.set_number("batches", number)

    def payloads(self, sent: int, most: int) -> list[bytes]:
        """Return so many messages after the first `sent` at most, up to the first whose leaves are not folded."""
        found: list[bytes] = []
        for number in range(sent + 1, min(sent + most, self.batches()) + 1):
            payload = self.payload(number)
            if payload is None:
                break
            found.append(payload)
        return found

    def payload(self, number: int) -> bytes | None:
        """Return a message of the transcript, or None while its leaves are not folded."""
        batch = Batch(*self.store.value("batch", number))
        try:
            self.store.era_named(batch.origin)
        except NoSuchLeaf:
            return None
        transcript = self.store.transcript(batch.origin)
        if transcript.size < batch.start + batch.leaves:
            return None
        leaves = list(transcript.leaves(batch.start, batch.start + batch.leaves))
        deltas = [transcript.delta(index) for index in range(batch.start, batch.start + batch.leaves)]
        return transcript_message(batch, [raw(leaf) for leaf in leaves], deltas)

    # --- what was said before, and stopping ------------------------------------------------------------------------

    def recall(self, messages: list[bytes]) -> None:
        """Take this node's own published statements: what its key has signed, it has signed."""
        own = self._node.operator_record(self.store.game)
        for data in messages:
            try:
                said = open_statement(data, self.store.game, own)
                if said.time is None or said.statement.note is None:
                    continue
                self._recall(said.statement)
            except Refused as refused:
                # Signed with an earlier recompute key, or not ours at all.
                log.debug("not of this key", code=refused.code, says=refused.message)

    def _recall(self, statement: Statement) -> None:
        kept = self.store.ledger.checkpoints(statement.origin)
        try:
            kept.put(statement.size, statement.root, (statement.note or "").encode())
        except CheckpointConflict as error:
            self.stop("equivocation", error.message)

    def stop(self, reason: str, says: str) -> None:
        """Cosign no more with this key, and say so."""
        if self.stopped is not None:
            return
        log.error("this node cosigns no more", game=self.store.game, reason=reason, says=says)
        self.stopped = Stopped(reason, says)
        value: dict[str, Any] = {"reason": reason, "says": says, "key": self._node.keys.recompute.did}
        with self.store.ledger.batch():
            self.store.set_value(value, "stopped")

    def _read_stopped(self) -> Stopped | None:
        value = self.store.value("stopped")
        if value is None or value["key"] != self._node.keys.recompute.did:
            return None
        return Stopped(value["reason"], value["says"])
