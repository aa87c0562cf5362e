"""A game's listing log on disk, as a fold looks back into it and as a node proves it to others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Final

from weighbridge.cid import Cid
from weighbridge.errors import WeighbridgeError
from weighbridge.ledger.blocks import BlockStore
from weighbridge.ledger.chained import Chained
from weighbridge.ledger.database import Database
from weighbridge.ledger.errors import LedgerCorrupt, WrongBlock
from weighbridge.ledger.series import Series, check_index, place
from weighbridge.log.chain import check_next
from weighbridge.log.entries import Entry, Listed, check_record, decode_entry, encode_entry
from weighbridge.log.merkle import MerkleLog

_PAGE: Final = 256
RECENT: Final = 4_096
"""Uris first listed just now that are remembered: what is listed is folded next."""
_LISTS_END: Final = 4 + 32 + 1
"""Where the sequence begins in a key of the index: after the series, the hash of the uri, and the kind."""
_LISTS: Final = b"\0"
_DELETES: Final = b"\1"
# In the index by uri, before the sequence: what lists a version comes before what lists a deletion.


class LogStore:
    """The entries of one game with their records' bytes, an index by uri, and the Merkle log over them.

    Every append is checked as the next in the chain. Reads raise `LedgerCorrupt`, and `RangeRefused` for a
    sequence the log does not hold.
    """

    def __init__(self, database: Database, series: Series, blocks: BlockStore, uris: Chained) -> None:
        self.game = series.name
        self._db = database
        self._series = series
        self._blocks = blocks
        self._uris = uris
        self._last: Listed | None = None
        self._firsts: dict[str, int] = {}
        database.on_rollback.append(self._forget)

    @property
    def size(self) -> int:
        """How many entries there are."""
        return self._series.size

    @property
    def last(self) -> Listed | None:
        """The newest entry, None of an empty log."""
        if self._last is None and self.size:
            self._last = self.listed(self.size - 1)
        return self._last

    @property
    def tree(self) -> MerkleLog:
        """The Merkle log over the entries' bytes, for roots and proofs. Append through the store only."""
        return self._series

    def root(self, size: int | None = None) -> bytes:
        """Return the RFC 6962 root over the first `size` entries, all of them by default (`RangeRefused`)."""
        return self._series.root(size)

    def append(self, listed: Listed) -> int:
        """Append the next entry and return its sequence. Alone it is a batch of one.

        Errors: those of `log.check_next` and `log.check_record`; `WrongBlock` if the entry's parts do not
        belong together; `DiskFull` and the like.
        """
        return self.extend((listed,)) - 1

    def extend(self, entries: Iterable[Listed], *, formed: bool = False) -> int:
        """Append entries as one batch, all or none, and return the new size. Errors: as `append`.

        `formed`: they were made or read by `log.entries`, so that each is what its own parts say; whether each
        is the next is checked all the same.
        """
        with self._db.batch():
            sound: list[Listed] = []
            try:
                for listed in entries:
                    self._check(self._last_of(sound), listed, formed)
                    sound.append(listed)
            finally:
                self._write(sound)
        return self.size

    def _last_of(self, sound: list[Listed]) -> Listed | None:
        return sound[-1] if sound else self.last

    def _check(self, last: Listed | None, listed: Listed, formed: bool) -> None:
        entry = listed.entry
        check_next(last.entry if last else None, last.cid if last else None, entry, self.game, formed=formed)
        if formed:
            return
        if encode_entry(entry) != listed.data or Cid.of(listed.data) != listed.cid:
            raise WrongBlock(f"entry {entry.seq}: its bytes are not the entry, or its CID is another's")
        check_record(listed)

    def _write(self, entries: list[Listed]) -> None:
        if not entries:
            return
        series = self._series.claim()
        self._blocks.put_all_checked(
            [
                (each.entry.record, each.record)
                for each in entries
                if each.entry.record and each.record is not None
            ]
        )
        self._db.probe("record-written")
        rows = [(place(series, each.entry.seq), each.cid.raw, each.data) for each in entries]
        self._db.change_many("entry", "INSERT INTO entry (place, cid, data) VALUES (?, ?, ?)", rows)
        self._db.probe("entry-written")
        self._index(entries)
        self._db.probe("uri-written")
        for each in entries:
            self._series.append(each.data)
        self._last = entries[-1]

    def listed(self, seq: int) -> Listed:
        """Return the entry at `seq` with its record's bytes."""
        check_index(seq, self.size, f"the log of {self.game}")
        found = self._db.fetch(
            "entry",
            self._label(seq),
            "SELECT cid, data FROM entry WHERE place = ?",
            (place(self._series.id, seq),),
        )
        if found is None:
            raise self._db.corrupt("entry", self._label(seq), "its row is missing")
        return self._checked(seq, *found)

    def entries(self, start: int = 0, stop: int | None = None) -> Iterator[Listed]:
        """Yield the entries from `start` to before `stop` (by default the size now), page by page."""
        stop = self.size if stop is None else stop
        if start == stop:
            return
        check_index(start, self.size, f"the log of {self.game}")
        check_index(stop - 1, self.size, f"the log of {self.game}")
        sql = "SELECT place, cid, data FROM entry WHERE place >= ? AND place < ? ORDER BY place"
        for page in range(start, stop, _PAGE):
            end = min(page + _PAGE, stop)
            bounds = place(self._series.id, page), place(self._series.id, end)
            rows = self._db.fetch_all("entry", self._label(page), sql, bounds)
            if [row[0] for row in rows] != list(range(*bounds)):
                raise self._db.corrupt("entry", self._label(page), f"rows up to {end} are missing")
            for seq, row in enumerate(rows, page):
                yield self._checked(seq, row[1], row[2])

    def first(self, uri: str) -> int | None:
        """Return the sequence of the first entry that lists a version of `uri` (a deletion does not), or None."""
        known = self._firsts.get(uri)
        if known is not None:
            return known
        prefix = self._uri_key(uri) + _LISTS
        found = self._uris.after(prefix)
        return int.from_bytes(found[-8:], "big") if found is not None and found.startswith(prefix) else None

    def about(self, uri: str) -> list[int]:
        """Return the sequences of all entries about `uri`, in order."""
        return sorted(int.from_bytes(found[-8:], "big") for found in self._uris.keys(self._uri_key(uri)))

    def knows(self, uri: str) -> bool:
        """Return whether any entry is about `uri`."""
        prefix = self._uri_key(uri)
        found = self._uris.after(prefix)
        return found is not None and found.startswith(prefix)

    def _index(self, entries: list[Listed]) -> None:
        keys = {self._index_key(each.entry): each.entry for each in entries if each.entry.uri is not None}
        stood = self._uris.put_new(keys)
        if len(self._firsts) > RECENT:
            self._firsts.clear()
        for key, entry in keys.items():
            # What stood before the first listing of a uri is of another one, or a deletion of this very one.
            if entry.record is not None and stood[key][:_LISTS_END] != key[:_LISTS_END]:
                self._firsts.setdefault(entry.uri or "", entry.seq)

    def _index_key(self, entry: Entry) -> bytes:
        lists = _LISTS if entry.record is not None else _DELETES
        return self._uri_key(entry.uri or "") + lists + entry.seq.to_bytes(8, "big")

    def _uri_key(self, uri: str) -> bytes:
        # `surrogatepass`: any string may be asked for, and one that no entry can hold is simply not there.
        return self._series.id.to_bytes(4, "big") + sha256(uri.encode("utf-8", "surrogatepass")).digest()

    def _checked(self, seq: int, cid: object, data: object) -> Listed:
        if not isinstance(data, bytes) or not isinstance(cid, bytes) or Cid.of(data).raw != cid:
            raise self._db.corrupt("entry", self._label(seq), "the bytes are not those of the CID")
        try:
            entry = decode_entry(data)
        except WeighbridgeError as error:
            raise self._db.corrupt("entry", self._label(seq), str(error)) from error
        if entry.seq != seq or entry.game != self.game:
            raise self._db.corrupt("entry", self._label(seq), f"it holds entry {entry.seq} of {entry.game}")
        record = None if entry.record is None else self._blocks.need(entry.record)
        return Listed(entry, Cid(cid), data, record)

    def corrupt(self, key: object, why: str) -> LedgerCorrupt:
        """Return the error for something of this store that is not as it was written."""
        return self._db.corrupt("entry", f"{key} of {self.game}", why)

    def _label(self, seq: int) -> str:
        return f"{seq} of {self.game}"

    def _forget(self) -> None:
        self._last = None
        self._firsts = {}
