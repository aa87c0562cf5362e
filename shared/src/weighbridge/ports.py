"""What reaches out of a node, and is therefore a plugin: where beacons and records come from, how traces are opened.

A plugin of the group `weighbridge.beacons` names a function `open(settings, clock, folder)` and imports of
Weighbridge this module and the contract only. What it fetches it verifies: it returns a `Beacon` that is the
chain's own, or raises. Nothing here runs under a fold.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Literal, Protocol, runtime_checkable

from weighbridge.beacon import parse_signature, randomness_of, verify
from weighbridge.chain import (
    MAX_ROUND,
    QUICKNET,
    SCHEME,
    SECOND,
    Chain,
    chain_value,
    round_at,
    round_time,
)
from weighbridge.contract import Frozen
from weighbridge.errors import Broken, Refused, Unavailable
from weighbridge.local_chain import LocalChain
from weighbridge.settings import NOT_THE_SOURCES, settings_of

__all__ = [
    "MAX_ROUND",
    "NOT_THE_SOURCES",
    "QUICKNET",
    "SCHEME",
    "SECOND",
    "BadBeaconSettings",
    "BadTracerSettings",
    "Beacon",
    "BeaconNotYet",
    "BeaconSource",
    "BeaconUnavailable",
    "Broken",
    "Chain",
    "Clock",
    "Given",
    "KeyAsked",
    "LocalChain",
    "OpenBeacons",
    "OpenSource",
    "OpenTracer",
    "OpensVoucher",
    "Pause",
    "Refused",
    "Source",
    "Told",
    "TraceAsked",
    "TraceNotYet",
    "Traced",
    "Tracer",
    "Unavailable",
    "Vouched",
    "Voucher",
    "chain_value",
    "parse_signature",
    "randomness_of",
    "round_at",
    "round_time",
    "settings_of",
    "verify",
]

Clock = Callable[[], int]
"""The time now, in µs since 1970 UTC. A source has no clock of its own."""


class Beacon(Frozen, frozen=True):
    """A verified beacon: `chain` (its hash), `round`, `signature` (48 bytes) and `randomness` (32 bytes)."""

    chain: str
    round: int
    signature: bytes
    randomness: bytes


class BeaconNotYet(Unavailable):
    """The round is not out. `detail` has the second it is due at; a round is never early and may be late."""

    code = "beacon-not-yet"


class BeaconUnavailable(Unavailable):
    """The source has no such beacon to give now. `detail` says why, for each place that was asked."""

    code = "beacon-unavailable"


class BadBeaconSettings(Refused):
    """A source of beacons cannot be opened with these settings."""

    code = "beacon-settings"


class BeaconSource(Protocol):
    """Where beacons come from. Its methods may be called at once from several tasks of one event loop."""

    name: str

    async def fetch(self, chain: Chain, round: int) -> Beacon:
        """Return one round's beacon. Raises BeaconNotYet (before it is due unasked), BeaconUnavailable."""
        ...

    async def latest(self, chain: Chain) -> Beacon:
        """Return the newest beacon that is out: a node checks its clock by it. Raises BeaconUnavailable."""
        ...

    async def close(self) -> None:
        """Let go of connections and files."""
        ...


class OpenBeacons(Protocol):
    """What an entry point of the group `weighbridge.beacons` names."""

    def __call__(self, settings: Mapping[str, Any], clock: Clock, folder: str | None = None) -> BeaconSource:
        """Open a source. `folder`: where it may keep what never changes. Raises BadBeaconSettings."""
        ...


# --- where records come from -------------------------------------------------------------------------------


class Given(Frozen, frozen=True):
    """A record from a source: its envelope's bytes, and in a recorded season the time (µs) at which it was listed.

    Instead of an envelope, a record of a repository as `weighbridge.repos.carry` gives it, or the end of one; its
    key is that of a DID document which the source has itself resolved.
    """

    envelope: bytes
    at: int | None = None


class Told(Frozen, frozen=True):
    """What a host said of a DID and nobody signed: `account` (active, or why not), `identity` (it may have changed).

    It is listed as the lister's word, for people; it changes nothing in the game.
    """

    did: str
    event: Literal["account", "identity"]
    status: str


class Pause(Frozen, frozen=True):
    """What a recorded season waits for before it goes on.

    `at`: the time (µs) that passes first. `receipts`: until every peer's receipt holds all that is listed so far.
    `beacon`: until this round's beacon is listed. `traces`: until the node's own fold awaits no trace's verdict.
    `timeout`: seconds after which it goes on regardless.
    """

    at: int | None = None
    receipts: bool = False
    beacon: int | None = None
    timeout: int = 30
    traces: bool = False


class Source(Protocol):
    """Where records come from: a file, an archive, a firehose."""

    name: str

    def read(self, position: int) -> AsyncIterator[tuple[int, Given | Told | Pause]]:
        """Yield what comes after a position (0: the beginning), each with the position after it.

        What was yielded may be asked for again: a position is kept after the fact. Ends with a file that ends;
        a live source never ends. Raises Refused for what it cannot read, Unavailable for what it cannot now.
        """
        ...

    async def close(self) -> None:
        """Let go of connections and files."""
        ...


class OpenSource(Protocol):
    """What an entry point of the group `weighbridge.sources` names."""

    def __call__(self, settings: Mapping[str, Any], folder: str) -> Source:
        """Open a source; paths in its settings are relative to the node's folder."""
        ...


# --- whose a key is ----------------------------------------------------------------------------------------


class KeyAsked(Frozen, frozen=True):
    """A record of a repository, as a lister lists it: is this its author's key?

    `did`: the author. `key`: the key (did:key) that signed the commit. `doc`: the CID of the DID document by
    which the lister says that it is the author's. `listed`: when that was listed (µs).
    """

    did: str
    key: str
    doc: str
    listed: int


class Vouched(Frozen, frozen=True):
    """What this node has itself found out about a key.

    `vouched`: it is the DID's, or was when the record was listed. `contradicted`: it never was, by a history that
    cannot be made up and was fetched only now; who asks bears in mind that it may lag behind (`how`: `plc-log`).
    `unavailable`: nobody can say now, or for good. Both are asked again.
    `how`: `did-key`, `document` or `plc-log`. `evidence`: the CID of the document, or of the operation, that names
    the key. `until`: when (µs) another took its place, if one has. `says`: a sentence for people.
    """

    verdict: Literal["vouched", "contradicted", "unavailable"]
    says: str
    how: Literal["did-key", "document", "plc-log"] | None = None
    evidence: str | None = None
    until: int | None = None


class Voucher(Protocol):
    """Who finds out whose a key is. Its methods may be called at once from several tasks of one event loop."""

    async def vouch(self, asked: KeyAsked) -> Vouched:
        """Return what is found out, asked anew each time. It may take as long as the slowest host of a DID."""
        ...

    async def close(self) -> None:
        """Let go of connections and files."""
        ...


@runtime_checkable
class OpensVoucher(Protocol):
    """What an `OpenSource` is beside if its plugin knows the DIDs of its records: a follower asks about each key."""

    def open_voucher(self, settings: Mapping[str, Any], folder: str) -> Voucher:
        """Open a voucher, by the settings of the source."""
        ...


# --- how traces are opened ---------------------------------------------------------------------------------


class TraceAsked(Frozen, frozen=True):
    """A record whose trace awaits a witness's word: whose it is, when it was listed (µs), and the trace itself.

    `trace` is the field of that name in the record, whatever the rule set lets stand there: texts, at-uris,
    links, and maps and lists of them.
    """

    game: str
    uri: str
    cid: str
    author: str
    listed: int
    trace: Any


class Traced(Frozen, frozen=True):
    """What a tracer found: the word, the time (µs) at which what is traced was made, and a line for people.

    `ok`: all of it is there. `unresolved`: it is not, for good. `unavailable`: nobody can say now; it is asked
    for again.
    """

    verdict: Literal["ok", "unresolved", "unavailable"]
    dated: int | None = None
    detail: str | None = None


class TraceNotYet(Unavailable):
    """The tracer has no word on this record yet, and none is reported: a person has to speak first, for one."""

    code = "trace-not-yet"


class BadTracerSettings(Refused):
    """A tracer cannot be opened with these settings."""

    code = "tracer-settings"


class Tracer(Protocol):
    """How a kind of trace is opened. Its methods may be called at once from several tasks of one event loop."""

    name: str

    async def resolve(self, asked: TraceAsked) -> Traced | None:
        """Return what is found of a trace; None where it is of a kind that this tracer does not open.

        Raises TraceNotYet. Whatever else it raises counts as `unavailable`.
        """
        ...

    async def close(self) -> None:
        """Let go of connections and files."""
        ...


class OpenTracer(Protocol):
    """What an entry point of the group `weighbridge.tracers` names."""

    def __call__(self, settings: Mapping[str, Any], clock: Clock, folder: str) -> Tracer:
        """Open a tracer; paths in its settings are relative to the node's folder. Raises BadTracerSettings."""
        ...
