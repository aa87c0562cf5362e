"""The kernel's own records in a game's log, what it keeps of them, and how cells name records."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

import msgspec

from weighbridge.codec import cid_of
from weighbridge.fold.breach import RuleBreach

OPERATOR = "network.weighbridge.operator"
RECEIPT = "network.weighbridge.receipt"
BEACON = "network.weighbridge.beacon"
TRACE = "network.weighbridge.trace"
SCENARIO = "network.weighbridge.scenario"
ACCOUNT = "network.weighbridge.account"
"""What a lister was told of an account or an identity, by a host and unsigned: for people, and no fold's affair."""
HANDOVER = "network.weighbridge.handover"
KERNEL_COLLECTIONS = (OPERATOR, RECEIPT, BEACON, TRACE, SCENARIO, ACCOUNT, HANDOVER)

DAY = 86_400_000_000
"""A game day in microseconds."""

CODES = (
    "rule-fault", "bad-root", "bad-shape", "unknown-field", "unknown-type", "edited", "deleted", "struck", "too-late",
    "untimely", "lister-timed", "bad-beacon", "bad-receipt", "bad-operator", "bad-trace-report", "not-witness",
    "bad-handover",
    "second-seal", "copied-seal", "bad-opening", "opened-twice", "too-early", "opened-late", "short-salt", "not-opened",
)  # fmt: skip
"""The report codes of the kernel."""


class KernelRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """A record of the kernel's; fields it does not know are kept in the record and ignored here."""

    game: str


class BeaconRecord(KernelRecord, frozen=True):
    """A beacon: its round and signature (48 bytes), and the chain's hash where it is not quicknet's."""

    round: int
    signature: bytes
    chain: str | None = None


class Subject(msgspec.Struct, frozen=True):
    """What a trace report is about: the record and its version."""

    uri: str
    cid: str


class TraceRecord(KernelRecord, frozen=True):
    """A witness's report: its word on a record's trace, and the date it found (µs)."""

    subject: Subject
    verdict: Literal["ok", "unresolved", "unavailable"]
    dated: int | None = None


class ReceiptRecord(KernelRecord, frozen=True):
    """An operator's cosigned listing checkpoint, as one signed note.

    `unproved`: spans [from, to) of entries which it holds, and of whose keys it has not found out itself that
    they are their authors'; that they verify under these keys it has.
    """

    checkpoint: str
    unproved: tuple[tuple[int, int], ...] = ()


class HandoverRecord(KernelRecord, frozen=True):
    """The GM's or an operator's word that the log goes on under another lister (DID) after its first `size` entries.

    `root`: the listing log's root (32 bytes) over these.
    """

    size: int
    root: bytes
    lister: str


class ScenarioRecord(KernelRecord, frozen=True):
    """Evidence that a scenario states outright. A fold that is not a scenario's refuses it."""

    kind: Literal["trace", "dice", "beacon", "receipt"]
    subject: str
    verdict: Literal["ok", "unresolved", "unsettled"] | None = None
    dated: int | None = None
    values: list[int] | None = None
    round: int | None = None
    signature: bytes | None = None
    operators: list[str] | None = None
    at: int | None = None
    timely: bool = False


class Word(msgspec.Struct, frozen=True, omit_defaults=True):
    """One witness's word on a trace."""

    verdict: str
    dated: int | None = None


class Pending(msgspec.Struct, omit_defaults=True):
    """A docket that awaits evidence, as its cell `_/pending/<collection>/<did>:<rkey>` holds it.

    `seq`: its listing. `dice`, `trace`, `after`: what it awaits. `round` is the round it rolls on, once known,
    `since` the entry that fixed it, which a timely receipt holds. `beacon` is the round's randomness (32
    bytes), `values` what a scenario states instead. `early` are the operators whose receipts were early enough.
    """

    seq: int
    day: int
    uri: str
    dice: tuple[str, ...] = ()
    trace: bool = False
    after: Literal["listing", "trace"] = "listing"
    words: dict[str, Word] = {}
    verdict: str | None = None
    dated: int | None = None
    round: int | None = None
    since: int | None = None
    round_day: int | None = None
    beacon: bytes | None = None
    values: list[int] | None = None
    early: list[str] = []
    roll: Literal["timely", "untimely", "lister-timed"] | None = None

    @property
    def complete(self) -> bool:
        """Whether all evidence is in the log."""
        traced = not self.trace or self.verdict is not None
        has_dice = self.beacon is not None or self.values is not None
        rolled = not self.dice or self.roll == "untimely" or (self.roll is not None and has_dice)
        return traced and rolled


class Mark(msgspec.Struct, frozen=True, omit_defaults=True):
    """What has been marked on a record (`uri`) after its listing, as its cell `_/mark/…` holds it.

    `void`: the ruling that struck it, or the record that replaced it. `struck`: whether it was struck.
    `reports`: what stood on it then. `upheld`: whether the fold upholds it. `late`: a ruling that came too late.
    `fault`: how the rule set failed on a ruling of the GM's, before the entry was folded.
    """

    uri: str
    void: str | None = None
    struck: bool = False
    reports: dict[str, str] = {}
    upheld: bool = False
    late: bool = False
    fault: str | None = None


class Standing(msgspec.Struct, frozen=True, omit_defaults=True):
    """The ruling that stands on a subject and part, as its cell `_/ruling/…` holds it."""

    by: str
    effect: Literal["void", "release", "answer"]
    seq: int


class Seal(msgspec.Struct, frozen=True, omit_defaults=True):
    """A commitment, as its cell `_/seal/…` holds it, and what it was opened to."""

    author: str
    slot: tuple[str, ...]
    hash: str
    opens_from: int | None = None
    opens_until: int | None = None
    opened: bool = False
    salt: bytes | None = None
    value: Any = None


MAX_PLACE = 900
"""Of a place, so that with every prefix and suffix of the kernel's it is a key of the state tree."""


@lru_cache(maxsize=65_536)
def place_of(uri: str) -> str:
    """Return the `<collection>/<did>:<rkey>` by which a record's kernel cells are named.

    Of a uri too long for a key, and of a DID with further colons, where another DID and record key would
    read the same, it is `<collection>/<CID of the uri's DAG-CBOR>`.
    """
    parts = uri.split("/")
    if len(parts) != 5 or parts[0] != "at:" or parts[1] or not uri.isascii():
        raise RuleBreach(f"no record's at-uri: {uri[:200]!a}")
    place = f"{parts[3]}/{parts[2]}:{parts[4]}"
    plain = len(place) <= MAX_PLACE and parts[2].count(":") == 2
    return place if plain else f"{parts[3]}/{cid_of(uri)}"


def collection_of(uri: str) -> str:
    """Return the collection (NSID) of a record's at-uri."""
    return uri.split("/")[3]
