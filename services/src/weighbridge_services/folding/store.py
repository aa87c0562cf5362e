"""What a fold keeps in its ledger: log, transcripts, changed cells, an index of cells, snapshots, and what
it publishes. Read by the fold service that writes it, by the self-check and by `weighbridge explain`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.fold import Fold, Snapshot, Step
from weighbridge.ledger import Leaf, Ledger, LedgerCorrupt, TranscriptStore
from weighbridge.log.entries import Listed

from weighbridge_services.folding.errors import NoSuchLeaf
from weighbridge_services.subjects import token

LEDGER: Final = "fold"
"""The name of the fold service's ledger."""
CHUNK: Final = 256
"""Entries whose changed keys stand in one value of the index."""
STATE: Final = "_/state"
"""The key under which a delta holds the state root, which is no cell."""


class Era(NamedTuple):
    """A transcript and where it stands in the log: `start`, its first entry; `lead`, 1 if a genesis leaf leads it.

    `name`, `pin`: of the rule set that folded it.
    """

    origin: str
    name: str
    pin: str
    start: int
    lead: int

    def index_of(self, seq: int) -> int:
        """Return the place of an entry's leaf."""
        return seq - self.start + self.lead

    def seq_of(self, index: int) -> int:
        """Return the entry of a leaf; of a genesis leaf, the one that ended the transcript before."""
        return index - self.lead + self.start

    def size_at(self, size: int) -> int:
        """Return how many leaves there are after `size` entries."""
        return size - self.start + self.lead


class Folded(NamedTuple):
    """One folded entry: its leaf, its delta (DAG-CBOR), and the bytes of the cells that it changed."""

    listed: Listed | None
    leaf: bytes
    delta: bytes
    cells: dict[str, bytes | None]


class FoldStore:
    """One game's fold in a ledger. For the ledger's own thread."""

    def __init__(self, ledger: Ledger, game: str) -> None:
        self.ledger = ledger
        self.game = game
        self.log = ledger.log(game)
        self.snapshots = ledger.snapshots(game)
        self._prefix = f"fold/{token(game)}"
        self._eras: list[Era] | None = None
        self._chunk: tuple[int, dict[str, list[int]]] = (-1, {})
        self._cells_to_keep: list[tuple[Cid, bytes]] = []

    # --- eras ----------------------------------------------------------------------------------------------

    @property
    def eras(self) -> list[Era]:
        """The transcripts there are, in order."""
        if self._eras is None:
            names = self.ledger.values.names(self._name("era"))
            self._eras = [Era(**codec.decode_own(self.ledger.values.get(name) or b"")) for name in names]
        return self._eras

    def add_era(self, era: Era) -> None:
        """Keep an era that begins."""
        self.ledger.values.set(self._name("era", len(self.eras)), codec.encode(era._asdict()))
        self.eras.append(era)

    def era_at(self, size: int) -> Era | None:
        """Return the transcript that goes on after `size` entries."""
        found = [era for era in self.eras if era.start <= size]
        return found[-1] if found else None

    def era_of(self, seq: int) -> Era:
        """Return the transcript that holds an entry's leaf. Raises NoSuchLeaf."""
        found = [era for era in self.eras if era.start <= seq]
        if not found or seq >= self.folded:
            raise NoSuchLeaf(f"entry {seq} of {self.game} has not been folded here")
        return found[-1]

    def era_named(self, origin: str) -> Era:
        """Return a transcript by its origin. Raises NoSuchLeaf."""
        for era in self.eras:
            if era.origin == origin:
                return era
        raise NoSuchLeaf(f"this node has no transcript {origin}")

    def transcript(self, origin: str) -> TranscriptStore:
        """Return a transcript's leaves and deltas."""
        return self.ledger.transcript(origin)

    @property
    def folded(self) -> int:
        """How many entries have been folded and kept."""
        if not self.eras:
            return 0
        era = self.eras[-1]
        return era.seq_of(self.transcript(era.origin).size)

    # --- steps ---------------------------------------------------------------------------------------------

    def add_step(self, step: Step, fold: Fold, before: Era) -> None:
        """Keep what folding an entry gave, `before` being the era it was folded in.

        Needs an open batch, and `flush` before that ends.
        """
        self.transcript(before.origin).append(step.entry_cid, step.delta_bytes, step.delta_cid)
        for key, cid in step.delta:
            if cid is not None and key != STATE:
                data = fold.world.cells.raw(key)
                if data is not None:
                    self._cells_to_keep.append((cid, data))
        self._index(step)

    def add_genesis(self, era: Era, step: Step, end: dict[str, Any]) -> None:
        """Keep a new era and its genesis leaf, `end` being how the old one ended. Needs an open batch."""
        self.add_era(era)
        self.transcript(era.origin).append(step.entry_cid, codec.encode(end))

    def folded_at(self, origin: str, index: int) -> Folded:
        """Return the folded entry behind a leaf. Raises NoSuchLeaf."""
        era = self.era_named(origin)
        transcript = self.transcript(origin)
        if not 0 <= index < transcript.size:
            raise NoSuchLeaf(f"{origin} has {transcript.size} leaves here, and number {index} was asked for")
        leaf = transcript.leaf(index)
        delta = self.ledger.blocks.need(leaf.delta)
        genesis = era.lead and index == 0
        listed = self.log.listed(era.start - 1 if genesis else era.seq_of(index))
        cells = {} if genesis else self._cells(delta)
        return Folded(listed, raw(leaf), delta, cells)

    def _cells(self, delta: bytes) -> dict[str, bytes | None]:
        blocks = self.ledger.blocks
        pairs = [(key, cid) for key, cid in read_delta(delta) if key != STATE]
        return {key: None if cid is None else blocks.need(cid) for key, cid in pairs}

    # --- which entries changed a cell ------------------------------------------------------------------------

    def _index(self, step: Step) -> None:
        number = step.seq // CHUNK
        if self._chunk[0] != number:
            self._flush_index()
            self._chunk = (number, self._read_chunk(number))
        for key, _ in step.delta:
            self._chunk[1].setdefault(key, []).append(step.seq % CHUNK)

    def flush(self) -> None:
        """Write the cells that steps have changed, and the newest part of the index. At the end of each batch."""
        kept, self._cells_to_keep = self._cells_to_keep, []
        self.ledger.blocks.put_all_checked(kept)
        self._flush_index()

    def _flush_index(self) -> None:
        number, keys = self._chunk
        if keys:
            self.ledger.values.set(self._name("index", number), codec.encode(keys))

    def forget(self) -> None:
        """Forget what is kept in memory, after a batch was undone."""
        self._eras = None
        self._chunk = (-1, {})
        self._cells_to_keep = []

    def changes(self, key: str) -> Iterator[int]:
        """Yield the entries that changed a cell, in order."""
        for number in range((self.folded + CHUNK - 1) // CHUNK):
            for offset in self._read_chunk(number).get(key, ()):
                yield number * CHUNK + offset

    def changed_in(self, chunk: int) -> dict[str, list[int]]:
        """Return which of the `CHUNK` entries from `chunk * CHUNK` on changed each cell, by their places in it."""
        return self._read_chunk(chunk)

    def _read_chunk(self, number: int) -> dict[str, list[int]]:
        data = self.ledger.values.get(self._name("index", number))
        found: Any = {} if data is None else codec.decode_own(data)
        return found  # type: ignore[no-any-return]

    # --- snapshots -----------------------------------------------------------------------------------------

    def save_snapshot(self, size: int, chunks: Sequence[bytes], cells: int, keep: int) -> None:
        """Keep a snapshot in pieces, and of those before it as many as `keep`, the newest and some spread out."""
        with self.ledger.batch():
            self.snapshots.save_chunks(size, chunks, cells)
            for old in too_many(self.snapshots.seqs(), keep):
                self.snapshots.drop(old)

    def save_end(self, snapshot: Snapshot) -> None:
        """Keep a snapshot from where the game moved to a rule set that is not here. Needs an open batch."""
        self.snapshots.save(snapshot.size, snapshot.cells)

    def snapshot_sizes(self, below: int) -> list[int]:
        """Return the sizes of the snapshots of at most `below` entries, the newest first."""
        return [size for size in reversed(self.snapshots.seqs()) if size <= below]

    def snapshot(self, size: int) -> tuple[Snapshot, Era] | None:
        """Return a snapshot and the era it is of; None if it is damaged or not of what is kept here."""
        era = self.era_at(size)
        try:
            cells = self.snapshots.load(size)
        except LedgerCorrupt:
            return None
        if era is None or cells is None or self.transcript(era.origin).size < era.size_at(size):
            return None
        leaves = self.transcript(era.origin).tree.leaf_hashes()[: 32 * era.size_at(size)]
        return Snapshot(self.game, size, cells, era.origin, leaves, era.start), era

    # --- names -----------------------------------------------------------------------------------------------

    def number(self, name: str) -> int:
        """Return a number that is kept under a name, 0 if there is none."""
        return self.ledger.positions.get(f"{self._prefix}/{name}") or 0

    def set_number(self, name: str, number: int) -> None:
        """Keep a number under a name."""
        self.ledger.positions.set(f"{self._prefix}/{name}", number)

    def value(self, *parts: str | int) -> Any:
        """Return a value that is kept under a name, or None."""
        data = self.ledger.values.get(self._name(*parts))
        return None if data is None else codec.decode_own(data)

    def set_value(self, value: Any, *parts: str | int) -> None:
        """Keep a value under a name."""
        self.ledger.values.set(self._name(*parts), codec.encode(value))

    def _name(self, *parts: str | int) -> str:
        # Names are read back in the order of their bytes.
        return "/".join([self._prefix, *(f"{p:012}" if isinstance(p, int) else p for p in parts)])


def raw(leaf: Leaf) -> bytes:
    """Return the 72 bytes of a leaf."""
    return leaf.entry.raw + leaf.delta.raw


def read_delta(data: bytes) -> list[tuple[str, Cid | None]]:
    """Return the pairs of a delta of one's own."""
    found: Any = codec.decode_own(data)
    return [(key, cid) for key, cid in found]


def too_many(sizes: Iterable[int], keep: int) -> list[int]:
    """Return the snapshots to drop so that `keep` stay: the newest, and of the older ones every other first."""
    left, gone = sorted(sizes), list[int]()
    while len(left) > keep:
        # Thinned from the old end: a ruling rarely reaches far back, and when it does any older one will do.
        gaps = [(left[i + 1] - left[i - 1], i) for i in range(1, len(left) - 1)]
        gone.append(left.pop(min(gaps)[1] if gaps else 0))
    return gone
