"""A Merkle log on disk: the hashes of a listing log or a transcript, in tiles, so that opening hashes
nothing again.

A tile holds 32 hashes of one height in a row: the leaf hashes, or the roots of tiles below. Hashes within a
tile are computed when a root or a proof asks for them (31 at most). The tiles at the right edge grow in
memory and are written once per batch, with the size and the root, which loading compares.
"""

from __future__ import annotations

import hashlib
from typing import Final

from weighbridge.ledger.chained import Chained
from weighbridge.ledger.database import Database
from weighbridge.ledger.keys import key
from weighbridge.log.errors import RangeRefused
from weighbridge.log.merkle import HASH_SIZE, NODE_PREFIX, MerkleLog

HEIGHT: Final = 5
WIDTH: Final = 1 << HEIGHT
TILE_BYTES: Final = WIDTH * HASH_SIZE
_CACHED: Final = 1024

INDEX_BITS: Final = 40
_LEVEL_BITS: Final = 36


def place(series: int, index: int) -> int:
    """Return the place of row `index` (below 2^40) of a series (below 2^23)."""
    return series << INDEX_BITS | index


def tile_place(series: int, level: int, index: int) -> int:
    """Return the place of tile `index` (below 2^36) of `level` (below 8)."""
    return series << INDEX_BITS | level << _LEVEL_BITS | index


def row_sum(table: str, where: int, data: bytes) -> bytes:
    """Return the checksum of a row of `leaf` or `node`: 16 bytes over table, place and data."""
    return hashlib.sha256(b"%b %d %b" % (table.encode(), where, data)).digest()[:16]


class Series(MerkleLog):
    """The Merkle log of one series: a `log`, named by its game, or a `transcript`, by its origin."""

    __slots__ = ("_db", "_dirty", "_edges", "_full", "_id", "_kept", "_loaded", "_tiles", "kind", "name")

    def __init__(self, database: Database, kept: Chained, kind: str, name: str) -> None:
        super().__init__()
        self.kind = kind
        self.name = name
        self._db = database
        self._kept = kept
        self._forget()
        database.before_commit.append(self._flush)
        database.on_rollback.append(self._forget)

    @property
    def id(self) -> int:
        """The number of the series: 0 for one that has nothing yet."""
        self._load()
        return self._id

    @property
    def size(self) -> int:
        """How many leaves there are, those of an open batch included."""
        self._load()
        return self._size

    def leaf(self, index: int) -> bytes:
        """Return the hash of the leaf at `index` (`RangeRefused`)."""
        self._check_index(index, self.size)
        return self._perfect(0, index)

    def leaf_hashes(self) -> bytes:
        """Return all leaf hashes in one row."""
        full, rest = divmod(self.size, WIDTH)
        return b"".join([self._tile(0, index) for index in range(full + (rest > 0))])

    def claim(self) -> int:
        """Return the number of the series, giving it one if it has none. Needs an open batch."""
        if not self.id:
            count = int.from_bytes(self._kept.get(key("series-count")) or b"\0", "big") + 1
            self._kept.put(key("series-count"), count.to_bytes(4, "big"))
            self._id = count
            self._dirty = True
        return self._id

    def _push(self, digest: bytes) -> int:
        self.claim()
        level = 0
        while True:
            if level == len(self._edges):
                self._edges.append(bytearray())
            edge = self._edges[level]
            edge += digest
            if len(edge) < TILE_BYTES:
                break
            tile = bytes(edge)
            self._full[level, self._size >> HEIGHT * (level + 1)] = tile
            edge.clear()
            digest = _reduced(tile)
            level += 1
        self._size += 1
        self._dirty = True
        return self._size - 1

    def _perfect(self, height: int, index: int) -> bytes:
        level, rest = divmod(height, HEIGHT)
        tile, offset = divmod(index << rest, WIDTH)
        start = offset * HASH_SIZE
        return _reduced(self._tile(level, tile)[start : start + (HASH_SIZE << rest)])

    def _check_size(self, size: int | None) -> int:
        self._load()
        return super()._check_size(size)

    def _tile(self, level: int, index: int) -> bytes:
        if index == self._size >> HEIGHT * (level + 1):
            return bytes(self._edges[level])
        cached = self._full.get((level, index)) or self._tiles.get((level, index))
        if cached is not None:
            return cached
        if len(self._tiles) >= _CACHED:
            self._tiles.clear()
        self._tiles[level, index] = tile = self._read_tile(level, index, WIDTH)
        return tile

    def _read_tile(self, level: int, index: int, count: int) -> bytes:
        where = tile_place(self._id, level, index)
        label = f"tile {index} of level {level} of {self.kind} {self.name}"
        found = self._db.fetch("node", label, "SELECT data, sum FROM node WHERE place = ?", (where,))
        if found is None:
            raise self._db.corrupt("node", label, "its row is missing")
        data, total = found
        if (
            not isinstance(data, bytes)
            or total != row_sum("node", where, data)
            or len(data) != count * HASH_SIZE
        ):
            raise self._db.corrupt("node", label, "its checksum or length does not fit")
        return data

    def _forget(self) -> None:
        self._loaded = False
        self._id = self._size = 0
        self._edges: list[bytearray] = []
        self._full: dict[tuple[int, int], bytes] = {}
        self._tiles: dict[tuple[int, int], bytes] = {}
        self._dirty = False

    def _load(self) -> None:
        if self._loaded:
            return
        value = self._kept.get(key("series", self.kind, self.name))
        if value is not None:
            self._id = int.from_bytes(value[:4], "big")
            self._size = int.from_bytes(value[4:12], "big")
            self._edges = self._read_edges()
            if self._hash(0, self._size) != value[12:]:
                raise self._db.corrupt(
                    "node", f"{self.kind} {self.name}", "the tiles do not hash to the root written"
                )
        self._loaded = True

    def _read_edges(self) -> list[bytearray]:
        edges, level = list[bytearray](), 0
        while self._size >> HEIGHT * level:
            above, count = divmod(self._size >> HEIGHT * level, WIDTH)
            edges.append(bytearray(self._read_tile(level, above, count) if count else b""))
            level += 1
        return edges

    def _flush(self) -> None:
        if not self._dirty:
            return
        tiles = [(tile_place(self._id, level, index), tile) for (level, index), tile in self._full.items()]
        for level, edge in enumerate(self._edges):
            if edge:
                tiles.append((tile_place(self._id, level, self._size >> HEIGHT * (level + 1)), bytes(edge)))
        rows = [(where, tile, row_sum("node", where, tile)) for where, tile in tiles]
        self._db.change_many("node", "INSERT OR REPLACE INTO node (place, data, sum) VALUES (?, ?, ?)", rows)
        self._db.probe("tiles-written")
        value = self._id.to_bytes(4, "big") + self._size.to_bytes(8, "big") + self._hash(0, self._size)
        self._kept.put(key("series", self.kind, self.name), value)
        self._tiles.update(self._full)
        self._full.clear()
        self._dirty = False


def _reduced(row: bytes) -> bytes:
    # A row of 2^k hashes, hashed pairwise to one.
    while len(row) > HASH_SIZE:
        pairs = range(0, len(row), 2 * HASH_SIZE)
        row = b"".join([hashlib.sha256(NODE_PREFIX + row[at : at + 2 * HASH_SIZE]).digest() for at in pairs])
    return row


def check_index(index: int, size: int, what: str) -> None:
    """Refuse an index that is not below `size` (`RangeRefused`)."""
    if type(index) is not int or not 0 <= index < size:
        raise RangeRefused(f"{what} holds {size}, and number {index!r} was asked for")
