"""`verify`: read all of a ledger and say what is wrong with it, as a list and not at the first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.cid import BadCid, Cid
from weighbridge.errors import WeighbridgeError
from weighbridge.ledger.chained import Chained
from weighbridge.ledger.database import Database
from weighbridge.log.compact import CompactRange

if TYPE_CHECKING:
    from weighbridge.ledger.ledger import Ledger
    from weighbridge.ledger.log_store import LogStore
    from weighbridge.ledger.transcript_store import TranscriptStore


class Fault(NamedTuple):
    """One thing wrong: the table, the key or page, and what."""

    table: str
    key: str
    says: str


class Report(NamedTuple):
    """What `verify` found: how many of each kind it read, and every fault."""

    counts: dict[str, int]
    faults: tuple[Fault, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults


def verify(ledger: Ledger, database: Database, quick: bool) -> Report:
    """Check the pages, and unless `quick` every row, every hash, every chain and every root as well."""
    counts: dict[str, int] = {}
    faults = [Fault("ledger", "pages", line) for line in _pages(database, quick)]
    if not quick:
        parts: list[tuple[str, Callable[[], int]]] = [
            ("kept", lambda: _count(Chained(database, "kept").rows())),
            ("uri", lambda: _count(Chained(database, "uri").rows())),
            ("block", lambda: _blocks(database)),
            ("entry", lambda: sum(_log(ledger.log(game)) for game in ledger.logs())),
            ("leaf", lambda: sum(_transcript(ledger.transcript(origin)) for origin in ledger.transcripts())),
        ]
        for name, part in parts:
            try:
                counts[name] = part()
            except WeighbridgeError as error:
                detail = error.detail
                faults.append(
                    Fault(str(detail.get("table", name)), str(detail.get("key", "?")), error.message)
                )
    return Report(counts, tuple(faults))


def _pages(database: Database, quick: bool) -> Iterator[str]:
    try:
        rows = database.fetch_all("ledger", "pages", f"PRAGMA {'quick' if quick else 'integrity'}_check")
    except WeighbridgeError as error:
        yield error.message
        return
    yield from (str(row[0]) for row in rows if row[0] != "ok")


def _count(rows: Iterator[object]) -> int:
    return sum(1 for _ in rows)


def _blocks(database: Database) -> int:
    count, last = 0, -1
    sql = "SELECT id, cid, data FROM block WHERE id > ? ORDER BY id LIMIT 64"
    while rows := database.fetch_all("block", last, sql, (last,)):
        for number, raw, data in rows:
            try:
                cid = Cid(raw)
                right = isinstance(data, bytes) and Cid.of(data, cid.codec) == cid
            except BadCid:
                right = False
            if not right:
                raise database.corrupt("block", number, "the bytes are not those of the CID")
            count, last = count + 1, number
    return count


def _log(log: LogStore) -> int:
    frontier, previous = CompactRange(), None
    for listed in log.entries():
        if listed.entry.prev != previous:
            raise log.corrupt(listed.entry.seq, "it does not follow the entry before")
        if listed.entry.uri is not None and listed.entry.seq not in log.about(listed.entry.uri):
            raise log.corrupt(listed.entry.seq, "the index by uri does not have it")
        frontier.append(listed.data)
        previous = listed.cid
    if frontier.root() != log.root():
        raise log.corrupt("root", "the entries do not hash to the root written")
    return log.size


def _transcript(transcript: TranscriptStore) -> int:
    frontier = CompactRange()
    for index, leaf in enumerate(transcript.leaves()):
        transcript.delta(index)
        frontier.append(leaf.entry.raw + leaf.delta.raw)
    if frontier.root() != transcript.root():
        raise transcript.corrupt("root", "the leaves do not hash to the root written")
    return transcript.size
