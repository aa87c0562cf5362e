"""The history of a did:plc, verified: who may write the next operation follows from those before it. Pure.

The DID is the hash of its first operation; each operation is signed by a rotation key of the one it follows.
One that follows an older operation than the last undoes what came after: for that it needs a rotation key that
stands before the one that signed the first operation undone, within 72 hours of it. So a directory cannot make a
key up. It can keep operations back, and the times at which it took them are its word. Source: "DID PLC Method".
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import pairwise
from typing import Any, Final, NamedTuple

from weighbridge.ports import Refused
from weighbridge.repos import Cid, RepoPublicKey, RepoRefused, codec, parse_did_key

MAX_LOG: Final = 4_194_304
"""Bytes of a history."""
MAX_OPERATIONS: Final = 1_000
RECOVERY: Final = 72 * 3_600_000_000
"""For how long (µs) an operation can be undone."""
MAX_ROTATION_KEYS: Final = 5
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SIGNATURE: Final = re.compile(r"[A-Za-z0-9_-]{86}")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")


class PlcRefused(Refused):
    """What every refusal of a history is."""


class PlcForm(PlcRefused):
    """A history that cannot be read, or holds what is no operation."""

    code = "plc-form"


class PlcGenesis(PlcRefused):
    """A first operation whose hash is not the DID, or that cannot be a first one."""

    code = "plc-genesis"


class PlcOrder(PlcRefused):
    """An operation that follows none that holds, or is older than the one before it in the history."""

    code = "plc-order"


class PlcSigner(PlcRefused):
    """An operation that no key which may has signed."""

    code = "plc-signer"


class PlcLateRecovery(PlcRefused):
    """An operation that undoes another more than 72 hours after it."""

    code = "plc-late-recovery"


class PlcMarks(PlcRefused):
    """A history that states another CID of an operation than it has, or other operations as undone than are."""

    code = "plc-marks"


class PlcLeftOut(PlcRefused):
    """A history without an operation that the directory gave before: it only ever grows."""

    code = "plc-left-out"


class Span(NamedTuple):
    """Since when (µs) and until when a key was the DID's, and by which operation.

    `key`: a did:key; None: there was none, or one of another kind. Whether the operation was undone later is not in
    it: until it was, everybody saw it so.
    """

    key: str | None
    since: int
    until: int | None
    operation: Cid


class _Operation(NamedTuple):
    """One operation of the history: as it was signed, when it was taken (µs), and whether it is said to be undone."""

    value: dict[str, Any]
    at: int
    cid: Cid
    undone: bool

    @property
    def is_end(self) -> bool:
        return bool(self.value["type"] == "plc_tombstone")

    @property
    def rotation(self) -> tuple[str, ...]:
        """The rotation keys, the mightiest first; of the oldest form of a first operation the recovery key is."""
        if self.is_end:
            return ()
        if self.value["type"] == "create":
            return (self.value["recoveryKey"], self.value["signingKey"])
        return tuple(self.value["rotationKeys"])

    @property
    def key(self) -> str | None:
        """The key of the repository."""
        if self.is_end:
            return None
        legacy = self.value["type"] == "create"
        text = self.value["signingKey"] if legacy else self.value["verificationMethods"].get("atproto")
        return None if text is None or (key := _key(text)) is None else key.did_key


def read_history(did: str, data: bytes) -> tuple[Span, ...]:
    """Return whose key was the DID's when, from the answer of a directory's `/<did>/log/audit`, all of it verified.

    Raises PlcForm, PlcGenesis, PlcOrder, PlcSigner, PlcLateRecovery and PlcMarks.
    """
    operations = _parsed(did, data)
    _check_first(did, operations[0])
    held, undone = [operations[0]], set[Cid]()
    for before, operation in pairwise(operations):
        if operation.at < before.at:
            raise PlcOrder(f"an operation of {did} is older than the one before it", did=did)
        held, gone = _follow(did, held, operation)
        undone |= {each.cid for each in gone}
    if undone != {each.cid for each in operations if each.undone}:
        raise PlcMarks(f"the history of {did} marks other operations as undone than are", did=did)
    ends: list[int | None] = [*(each.at for each in operations[1:]), None]
    return tuple(Span(each.key, each.at, end, each.cid) for each, end in zip(operations, ends, strict=True))


def check_grown(did: str, before: bytes, data: bytes) -> None:
    """Check that one verified history holds all that another, older one holds. Raises PlcLeftOut."""
    older, newer = ({each["cid"] for each in json.loads(text)} for text in (before, data))
    if older - newer:
        raise PlcLeftOut(f"the directory leaves out operations of {did} that it gave before", did=did)


# --- what must hold ----------------------------------------------------------------------------------------


def _check_first(did: str, first: _Operation) -> None:
    if first.is_end or first.value["prev"] is not None:
        raise PlcGenesis(f"the first operation of {did} cannot be a first one", did=did)
    digest = sha256(codec.encode(first.value)).digest()
    name = base64.b32encode(digest).decode().lower()[:24]
    if did != f"did:plc:{name}":
        raise PlcGenesis(f"the first operation given for {did} is that of did:plc:{name}", did=did)
    if _signer(first, first.rotation) is None:
        raise PlcSigner(f"no rotation key of {did} has signed its first operation", did=did)


def _follow(
    did: str, held: Sequence[_Operation], operation: _Operation
) -> tuple[list[_Operation], list[_Operation]]:
    """Return the operations that hold after one more, and those that it undoes."""
    named = operation.value["prev"]
    place = next((n for n, each in enumerate(held) if str(each.cid) == named), None)
    if place is None or operation.value["type"] == "create" or held[place].is_end:
        raise PlcOrder(f"an operation of {did} follows {named!r:.80}, which cannot be followed", did=did)
    keys, gone = held[place].rotation, list(held[place + 1 :])
    if gone:
        # Only who could have kept the first operation from being made may undo it.
        disputed = _signer(gone[0], keys)
        keys = keys[: keys.index(disputed)] if disputed is not None else ()
    if _signer(operation, keys) is None:
        raise PlcSigner(f"none who may has signed the operation {operation.cid} of {did}", did=did)
    if gone and operation.at - gone[0].at > RECOVERY:
        raise PlcLateRecovery(f"an operation of {did} undoes another more than 72 hours after it", did=did)
    return [*held[: place + 1], operation], gone


def _signer(operation: _Operation, keys: Sequence[str]) -> str | None:
    """Return by which of some keys an operation is signed."""
    text = operation.value["sig"]
    signature = base64.urlsafe_b64decode(f"{text}==")
    if base64.urlsafe_b64encode(signature).decode().rstrip("=") != text:
        return None
    unsigned = codec.encode({name: value for name, value in operation.value.items() if name != "sig"})
    for text in keys:
        key = _key(text)
        if key is not None and _holds(key, unsigned, signature):
            return text
    return None


def _holds(key: RepoPublicKey, message: bytes, signature: bytes) -> bool:
    try:
        key.verify(message, signature)
    except RepoRefused:
        return False
    return True


def _key(text: str) -> RepoPublicKey | None:
    try:
        return parse_did_key(text)
    except RepoRefused:
        return None


# --- reading -----------------------------------------------------------------------------------------------


def _parsed(did: str, data: bytes) -> list[_Operation]:
    if len(data) > MAX_LOG:
        raise PlcForm(f"a history has at most {MAX_LOG} bytes, and this has {len(data)}", did=did)
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise PlcForm(f"the history of {did} is no JSON: {error}", did=did) from error
    if not isinstance(value, list) or not 0 < len(value) <= MAX_OPERATIONS:
        raise PlcForm(f"the history of {did} is no list of 1 to {MAX_OPERATIONS} operations", did=did)
    return [_entry(did, each) for each in value]


def _entry(did: str, entry: Any) -> _Operation:
    value = entry.get("operation") if isinstance(entry, dict) else None
    if not isinstance(value, dict) or entry.get("did") != did or not _is_operation(value):
        raise PlcForm(f"the history of {did} holds what is no operation of it", did=did)
    at, undone = _time(entry.get("createdAt")), entry.get("nullified", False)
    if at is None or type(undone) is not bool:
        raise PlcForm(f"an operation of {did} has no time, or no `nullified`", did=did)
    try:
        cid = Cid.of(codec.encode(value))
    except Refused as error:
        raise PlcForm(f"an operation of {did} cannot be encoded: {error.message}", did=did) from error
    if entry.get("cid") != str(cid):
        raise PlcMarks(f"an operation of {did} is {cid}, and said to be {entry.get('cid')!r:.80}", did=did)
    return _Operation(value, at, cid, undone)


def _is_operation(value: Mapping[str, Any]) -> bool:
    """Whether a map has what an operation of its type has."""
    sig, prev, kind = value.get("sig"), value.get("prev"), value.get("type")
    if not isinstance(sig, str) or _SIGNATURE.fullmatch(sig) is None or "prev" not in value:
        return False
    if kind == "create":
        return prev is None and _are_texts([value.get("signingKey"), value.get("recoveryKey")])
    if kind == "plc_tombstone":
        return isinstance(prev, str)
    keys, methods = value.get("rotationKeys"), value.get("verificationMethods")
    rotates = isinstance(keys, list) and 0 < len(keys) <= MAX_ROTATION_KEYS and _are_texts(keys)
    verifies = isinstance(methods, dict) and _are_texts(list(methods.values()))
    return kind == "plc_operation" and rotates and verifies and (prev is None or isinstance(prev, str))


def _are_texts(values: Sequence[object]) -> bool:
    return all(isinstance(each, str) for each in values)


def _time(text: object) -> int | None:
    if not isinstance(text, str) or _TIME.fullmatch(text) is None:
        return None
    try:
        return (datetime.fromisoformat(text) - _EPOCH) // timedelta(microseconds=1)
    except ValueError:
        return None
