"""The entries of a game's log: one form, one encoding, and what each operation must and must not carry."""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple, get_args

import msgspec

from weighbridge.cid import Cid
from weighbridge.codec import decode, encode
from weighbridge.codec.errors import CodecRefused
from weighbridge.errors import WeighbridgeError
from weighbridge.identity.syntax import is_did, is_record_uri, parse_record_uri
from weighbridge.limits import MAX_ENTRY
from weighbridge.log.errors import (
    EntryEncoding,
    EntryMalformed,
    EntryTooLarge,
    EntryVersion,
    RecordMismatch,
    RecordMissing,
)

VERSION: Final = 1
MAX_INT: Final = (1 << 63) - 1

Op = Literal["create", "update", "delete", "tick", "flood"]
OPS: Final = frozenset(get_args(Op))


class Entry(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """One place in a game's log; absent fields are None.

    `game`: at-uri of the game's root. `seq`: 0, 1, …. `prev`: CID of the entry before, absent at 0. `at`:
    the listed time, µs since 1970 UTC. `uri` and its DID, `author`: the record a `create`, `update` or
    `delete` is about; `record`: the CID of its bytes, absent of a `delete`; `prov`: how that was proven
    (`rev`: the rev of the repository's commit that holds it, a TID).
    `count`: how many records a `flood` leaves out, of `author` or, without one, of authors without standing.
    Nothing in an entry can refer to it, so the garbage collector, in whose way a whole log stands, need not know it.
    """

    v: int
    game: str
    seq: int
    at: int
    op: Op
    prev: Cid | None = None
    uri: str | None = None
    record: Cid | None = None
    author: str | None = None
    prov: dict[str, Any] | None = None
    count: int | None = None


class Listed(NamedTuple):
    """An entry with what stands behind it: its CID, its own bytes (the leaf data), and its record's bytes."""

    entry: Entry
    cid: Cid
    data: bytes
    record: bytes | None


_FIELDS: Final = Entry.__struct_fields__
# What must be there and what may be, of the fields that not every entry has.
_NEEDED: Final[dict[str, tuple[str, ...]]] = {
    "create": ("uri", "record", "author"),
    "update": ("uri", "record", "author"),
    "delete": ("uri", "author"),
    "tick": (),
    "flood": ("count",),
}
_ALLOWED: Final[dict[str, tuple[str, ...]]] = {
    "create": ("prov",),
    "update": ("prov",),
    "delete": ("prov",),
    "tick": (),
    "flood": ("author",),
}
_OPTIONAL: Final = ("uri", "record", "author", "prov", "count")
_FORBIDDEN: Final = {
    op: tuple(name for name in _OPTIONAL if name not in _NEEDED[op] + _ALLOWED[op]) for op in _NEEDED
}


def make_entry(
    previous: Listed | None,
    *,
    game: str,
    at: int,
    op: Op,
    uri: str | None = None,
    author: str | None = None,
    record: bytes | None = None,
    prov: dict[str, Any] | None = None,
    count: int | None = None,
) -> Listed:
    """Return the entry that follows `previous` (None: the first), `record` being the record's own bytes.

    Says nothing about whether it may follow: `chain.check_next` does. Errors: as `decode_entry`.
    """
    entry = Entry(
        v=VERSION,
        game=game,
        seq=previous.entry.seq + 1 if previous else 0,
        prev=previous.cid if previous else None,
        at=at,
        op=op,
        uri=uri,
        record=None if record is None else Cid.of(record),
        author=author,
        prov=prov,
        count=count,
    )
    check_form(entry)
    data = encode_entry(entry)
    return Listed(entry, Cid.of(data), data, record)


def encode_entry(entry: Entry) -> bytes:
    """Return the entry's DAG-CBOR (`EntryMalformed`, `EntryTooLarge`)."""
    fields = ((name, getattr(entry, name)) for name in _FIELDS)
    try:
        data = encode({name: value for name, value in fields if value is not None})
    except WeighbridgeError as error:
        raise EntryMalformed(f"the entry cannot be encoded: {error.message}", field="prov") from error
    if len(data) > MAX_ENTRY:
        raise EntryTooLarge(f"an entry has at most {MAX_ENTRY} bytes, and this would have {len(data)}")
    return data


def decode_entry(data: bytes) -> Entry:
    """Return the entry these bytes are.

    Raises `EntryTooLarge`, `EntryEncoding` (no strict DAG-CBOR), `EntryVersion` and `EntryMalformed`.
    """
    if len(data) > MAX_ENTRY:
        raise EntryTooLarge(f"an entry has at most {MAX_ENTRY} bytes, and this has {len(data)}")
    try:
        value = decode(data)
    except CodecRefused as error:
        raise EntryEncoding(f"the entry is no strict DAG-CBOR: {error}") from error
    if not isinstance(value, dict):
        raise EntryMalformed("an entry is a map", field="$")
    version = value.get("v")
    if type(version) is not int or version != VERSION:
        raise EntryVersion(f"entries of version {VERSION} are read here, and this has v = {version!r}")
    for name in value:
        if name not in _FIELDS:
            raise EntryMalformed(f"an entry has no field {name!r}", field=name)
        if value[name] is None:
            raise EntryMalformed(f"{name} is null; what is absent is left out", field=name)
    for name in ("game", "seq", "at", "op"):
        if name not in value:
            raise EntryMalformed(f"{name} is missing", field=name)
    entry = Entry(**value)
    check_form(entry)
    return entry


def read_listed(data: bytes, record: bytes | None) -> Listed:
    """Return the entry of these bytes with its CID and its record's bytes, which must be the record it names.

    Errors: as `decode_entry`, and `RecordMissing`, `RecordMismatch`.
    """
    listed = Listed(decode_entry(data), Cid.of(data), data, record)
    check_record(listed)
    return listed


def check_record(listed: Listed) -> None:
    """Check that the record's bytes are those the entry names (`RecordMissing`, `RecordMismatch`)."""
    named, record = listed.entry.record, listed.record
    if (named is None) != (record is None):
        says = (
            "names no record and comes with one" if named is None else f"names {named} and comes without it"
        )
        raise RecordMissing(f"entry {listed.entry.seq} {says}", position=listed.entry.seq)
    if named is not None and record is not None and Cid.of(record, named.codec) != named:
        raise RecordMismatch(
            f"entry {listed.entry.seq} names the record {named}, and the bytes are {Cid.of(record)}",
            position=listed.entry.seq,
        )


def check_form(entry: Entry) -> None:
    """Check types, ranges and what the operation needs (`EntryMalformed`, with the field in `detail`)."""
    if type(entry.op) is not str or entry.op not in OPS:
        raise EntryMalformed(f"op is one of {', '.join(get_args(Op))}, not {entry.op!r}", field="op")
    for name in _NEEDED[entry.op]:
        if getattr(entry, name) is None:
            raise EntryMalformed(f"{name} is missing: a {entry.op} has one", field=name)
    for name in _FORBIDDEN[entry.op]:
        if getattr(entry, name) is not None:
            raise EntryMalformed(f"a {entry.op} has no {name}", field=name)
    _check_place(entry)
    _check_subject(entry)


def _check_place(entry: Entry) -> None:
    if type(entry.v) is not int or entry.v != VERSION:
        raise EntryVersion(f"entries of version {VERSION} are written here, not {entry.v!r}")
    for name, value in (("seq", entry.seq), ("at", entry.at)):
        if type(value) is not int or not 0 <= value <= MAX_INT:
            raise EntryMalformed(f"{name} is an integer from 0 to 2^63 - 1, not {value!r}", field=name)
    if (entry.prev is None) != (entry.seq == 0):
        raise EntryMalformed("every entry but the first names the one before as prev", field="prev")
    for name, link in (("prev", entry.prev), ("record", entry.record)):
        if link is not None and (type(link) is not Cid or link.codec != 0x71):
            raise EntryMalformed(f"{name} is the CID of a DAG-CBOR block", field=name)
    _check_uri("game", entry.game)


def _check_subject(entry: Entry) -> None:
    if entry.author is not None and not is_did(entry.author):
        raise EntryMalformed(f"author is a DID, not {entry.author!r}", field="author")
    if entry.uri is not None:
        _check_uri("uri", entry.uri)
        if not entry.uri.startswith(f"at://{entry.author}/"):
            raise EntryMalformed(f"{entry.uri} is no record of its author, {entry.author}", field="uri")
    if entry.prov is not None and type(entry.prov) is not dict:
        raise EntryMalformed("prov is a map", field="prov")
    if entry.count is not None and (type(entry.count) is not int or not 0 < entry.count <= MAX_INT):
        raise EntryMalformed(f"count is an integer from 1 to 2^63 - 1, not {entry.count!r}", field="count")


def _check_uri(name: str, uri: object) -> None:
    if is_record_uri(uri):
        return
    try:
        parse_record_uri(uri)
    except WeighbridgeError as error:
        raise EntryMalformed(f"{name}: {error.message}", field=name) from error
