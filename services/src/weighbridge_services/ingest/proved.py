"""What a follower has found out about keys, in its ledger: whose each is, and which entries wait for that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

import msgspec
from weighbridge import codec
from weighbridge.fold.grades import Span, spans_of
from weighbridge.fold.records import ACCOUNT
from weighbridge.identity import OperatorRecord
from weighbridge.log.entries import Entry, Listed
from weighbridge.ports import KeyAsked, Vouched

from weighbridge_services.ingest.store import Store
from weighbridge_services.subjects import token

MANY: Final = 4_096
"""Unproved entries that a receipt takes apart, the newest; of more it says that all before these are unproved."""
APART: Final = 1_024
"""Ends of records and newly proved entries, the newest, that a receipt does not name for those around them."""
GOOD_FOR: Final = 3_600_000_000
"""For how long (µs) after it was vouched for a key needs no new asking."""
SETTLED: Final = 600_000_000
"""How old (µs) a listing is before a history that does not name its key says anything against the lister.

Every operation of a history is proved, and that there are no more of them is the directory's word: a machine or a
cache of it may not have yet what the lister was shown. So long none lags that works; and while a made-up key is
unproved its record counts, so it is no longer than that.
"""
CONFIRMED: Final = 60_000_000
"""How long (µs) after a first such answer a second one has it believed."""


class Pair(NamedTuple):
    """An author, and a key (did:key) said to be its own."""

    did: str
    key: str


class Found(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was found out about a pair, at a time (µs) of this node.

    `grade` is `proved-now` where it is vouched for. `doc`: the CID of what names the key: a document, or an
    operation of a did:plc's history. `good_to`: the time (µs) of the last listing that it holds for unasked.
    """

    verdict: Literal["vouched", "contradicted", "unavailable"]
    at: int
    says: str
    grade: Literal["proved-now"] | None = None
    how: str | None = None
    doc: str | None = None
    good_to: int | None = None


class Waiting(NamedTuple):
    """An entry whose key is not proved here: what it is said to be, by which document, and when it was listed (µs)."""

    pair: Pair
    doc: str
    at: int

    @property
    def asked(self) -> KeyAsked:
        """What to ask about it."""
        return KeyAsked(self.pair.did, self.pair.key, self.doc, self.at)


def found_of(vouched: Vouched, asked: Waiting, at: int) -> Found:
    """Return what is kept of an answer that was asked for at a time (µs)."""
    if vouched.verdict != "vouched":
        return Found(vouched.verdict, at, vouched.says, None, vouched.how, vouched.evidence)
    good_to = max(asked.at, at + GOOD_FOR if vouched.until is None else vouched.until)
    return Found("vouched", at, vouched.says, "proved-now", vouched.how, vouched.evidence, good_to)


class Doubt(NamedTuple):
    """A key that a history does not name: when (µs) that was first said of a settled listing, and when to ask again."""

    since: int | None
    again: int


def doubt_of(vouched: Vouched, before: Doubt | None, listed: int, at: int) -> Doubt | None:
    """Return what a contradiction, asked for at a time (µs), leaves to doubt; None: it is to be believed.

    `listed`: when (µs) the oldest entry with the key was listed that is not proved: who goes on listing under it
    puts nothing off.
    """
    if vouched.how == "did-key":
        return None  # this needs no directory
    if at < listed + SETTLED:
        return Doubt(None, listed + SETTLED)
    if before is None or before.since is None:
        return Doubt(at, at + CONFIRMED)
    return None if at >= before.since + CONFIRMED else Doubt(before.since, before.since + CONFIRMED)


def waiting_of(entry: Entry) -> Waiting | None:
    """Return what is to be found out about an entry; None where its record proves itself, or it has none."""
    prov = entry.prov
    if prov is None or "blocks" not in prov or entry.author is None or entry.author == prov["key"]:
        return None
    return Waiting(Pair(entry.author, prov["key"]), str(prov["doc"]), entry.at)


def unproved_in(seqs: Sequence[int], size: int, apart: Sequence[int] = ()) -> tuple[Span, ...]:
    """Return what a receipt of so many entries names as unproved, of ascending entries.

    `apart`: entries, the newest last, that are proved, and that it matters most not to name with those around them.
    """
    spans = spans_of(seqs[-MANY:], size, apart)
    if len(seqs) <= MANY or seqs[0] >= size:
        return spans
    before = spans[0][1] if spans else min(size, seqs[-MANY])
    return ((seqs[0], before), *spans[1:])


class Counts(msgspec.Struct, frozen=True):
    """How many entries list a record or its end, and how many of these say what a host said of an account."""

    records: int = 0
    said: int = 0

    def with_more(self, entries: Iterable[Entry]) -> Counts:
        """Return the counts with more entries."""
        uris = [entry.uri for entry in entries if entry.uri is not None]
        said = sum(uri.split("/")[3] == ACCOUNT for uri in uris)
        return Counts(self.records + len(uris), self.said + said)


class Kept:
    """The ledger's part, for the ledger's own thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._prefix = f"ingest/{token(store.game)}"

    def doubts(self) -> dict[Pair, Doubt]:
        """Return the keys in doubt."""
        doubts = {
            name: codec.decode_as(data, tuple[int | None, int]) for name, data in self._all("doubt").items()
        }
        return {Pair(*name.split(" ")): Doubt(*each) for name, each in doubts.items()}

    def doubt(self, pair: Pair, doubt: Doubt) -> None:
        """Write that a key is in doubt."""
        self._store.ledger.values.set(f"{self._prefix}/doubt/{pair.did} {pair.key}", codec.encode([*doubt]))

    def load(self) -> tuple[dict[Pair, Found], dict[int, Waiting], Counts]:
        """Return what is known of pairs, the entries that wait, ascending, and how many entries list something."""
        found = {
            Pair(*name.split(" ")): codec.decode_as(data, Found) for name, data in self._all("key").items()
        }
        waiting: dict[int, Waiting] = {}
        for name, data in sorted(self._all("unproved").items()):
            did, key, doc, at = codec.decode_as(data, tuple[str, str, str, int])
            waiting[int(name)] = Waiting(Pair(did, key), doc, at)
        counts = self._store.ledger.values.get(f"{self._prefix}/records")
        return found, waiting, Counts() if counts is None else codec.decode_as(counts, Counts)

    def keep(
        self, entries: Sequence[Listed], waiting: Mapping[int, Waiting], counts: Counts
    ) -> list[OperatorRecord]:
        """Write followed entries, which of them wait, and the counts with them, in one batch.

        Returns the operator records among them.
        """
        with self._store.ledger.batch():
            self._store.ledger.values.set(
                f"{self._prefix}/records", codec.encode(msgspec.to_builtins(counts))
            )
            for seq, each in waiting.items():
                data = codec.encode([each.pair.did, each.pair.key, each.doc, each.at])
                self._store.ledger.values.set(f"{self._prefix}/unproved/{seq:016}", data)
            return self._store.keep_followed(entries)

    def settle(self, pair: Pair, found: Found, seqs: Iterable[int]) -> None:
        """Write what was found out about a pair, and that some entries wait no more."""
        with self._store.ledger.batch():
            self._store.ledger.values.set(
                f"{self._prefix}/key/{pair.did} {pair.key}", codec.encode(msgspec.to_builtins(found))
            )
            self._store.ledger.values.delete(f"{self._prefix}/doubt/{pair.did} {pair.key}")
            for seq in seqs:
                self._store.ledger.values.delete(f"{self._prefix}/unproved/{seq:016}")

    def _all(self, kind: str) -> dict[str, bytes]:
        start, values = f"{self._prefix}/{kind}/", self._store.ledger.values
        return {name.removeprefix(start): values.get(name) or b"" for name in values.names(start)}
