"""What operators have signed, kept by origin, size and operator. In the ledger's thread."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import msgspec
from weighbridge import codec
from weighbridge.identity import Envelope, encode_envelope
from weighbridge.ledger import CheckpointConflict, Ledger

from weighbridge_services.cross_check.decide import Agreed
from weighbridge_services.folding.statements import Said, Statement
from weighbridge_services.subjects import Subjects, token

LEDGER: Final = "cross-check"


class Equivocation(NamedTuple):
    """Two notes with two roots of one size, by one key: proof of its fault."""

    operator: str
    origin: str
    size: int
    notes: tuple[str, str]


class Doubts(msgspec.Struct, frozen=True):
    """Statements that are still to be acted upon, by operator.

    `differing`: the first that gives another root than this node's. `foreign`: the newest of a transcript in
    which this node may have no part.
    """

    differing: dict[str, Statement] = {}
    foreign: dict[str, Statement] = {}


class Book:
    """One game's statements, of every operator."""

    def __init__(self, ledger: Ledger, game: str, subjects: Subjects) -> None:
        self.ledger = ledger
        self.game = game
        self._subjects = subjects
        self._prefix = f"cross-check/{token(game)}"
        self.agreed = self._read_agreed()

    def add(self, said: Said) -> Equivocation | None:
        """Keep what an operator has signed; return the proof if it contradicts what it signed before."""
        statement = said.statement
        if statement.note is None:
            return None
        kept = self.ledger.checkpoints(self._name(said.operator, statement.origin))
        try:
            kept.put(statement.size, statement.root, statement.note.encode())
        except CheckpointConflict as conflict:
            notes = (conflict.detail["known"], conflict.detail["other"])
            first, second = (note.decode() if isinstance(note, bytes) else "" for note in notes)
            return Equivocation(said.operator, statement.origin, statement.size, (first, second))
        return None

    def roots(self, origin: str, size: int, dids: Iterable[str]) -> dict[str, bytes]:
        """Return the roots that operators have signed of one origin and size."""
        found = {did: self.ledger.checkpoints(self._name(did, origin)).at(size) for did in dids}
        return {did: kept.root for did, kept in found.items() if kept is not None}

    def note(self, did: str, origin: str, size: int) -> str:
        """Return the note by which an operator signed."""
        kept = self.ledger.checkpoints(self._name(did, origin)).at(size)
        return "" if kept is None else kept.note.decode()

    def _name(self, did: str, origin: str) -> str:
        return f"{did} {origin}"

    # --- what became of it -------------------------------------------------------------------------------------

    def _read_agreed(self) -> Agreed | None:
        data = self.ledger.values.get(f"{self._prefix}/agreed")
        return None if data is None else msgspec.convert(codec.decode_own(data), Agreed)

    def keep_agreed(self, agreed: Agreed) -> None:
        """Keep the agreement that is shown."""
        self.agreed = agreed
        self.ledger.values.set(f"{self._prefix}/agreed", codec.encode(agreed))

    def is_done(self, what: str) -> bool:
        """Whether something has been said once and for all."""
        return self.ledger.values.get(f"{self._prefix}/done/{what}") is not None

    def say(self, what: str, letters: Iterable[tuple[str, Envelope]]) -> bool:
        """Put signed records into the outbox, each with its subject; once for `what`, then never again."""
        if self.is_done(what):
            return False
        with self.ledger.batch():
            for subject, envelope in letters:
                self.ledger.outbox.add(subject, encode_envelope(envelope), 0)
            self.ledger.values.set(f"{self._prefix}/done/{what}", b"\1")
        return True

    def position(self, did: str) -> int:
        """Return how far an operator's stream was read."""
        return self.ledger.positions.get(f"{self._prefix}/read/{did}") or 0

    def keep_read(self, did: str, position: int, doubts: Doubts) -> None:
        """Keep how far an operator's stream was read, with what that leaves to be acted upon, in one batch."""
        with self.ledger.batch():
            self.ledger.positions.set(f"{self._prefix}/read/{did}", position)
            self.keep_doubts(doubts)

    def doubts(self) -> Doubts:
        """Return what is still to be acted upon."""
        data = self.ledger.values.get(f"{self._prefix}/doubts")
        return Doubts() if data is None else codec.decode_as(data, Doubts)

    def keep_doubts(self, doubts: Doubts) -> None:
        """Keep what is still to be acted upon."""
        self.ledger.values.set(f"{self._prefix}/doubts", codec.encode(doubts))

    def differing(self) -> dict[str, Any]:
        """Return where each operator parts from this node, as far as that was found out."""
        data = self.ledger.values.get(f"{self._prefix}/differing")
        found: Any = {} if data is None else codec.decode_own(data)
        return dict(found)

    def keep_differing(self, did: str, value: dict[str, Any]) -> None:
        """Keep where an operator parts from this node."""
        found = {**self.differing(), did: value}
        self.ledger.values.set(f"{self._prefix}/differing", codec.encode(found))
