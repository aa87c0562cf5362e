"""Signing and opening C2SP signed notes, and `cosignature/v1` of checkpoints.

Signatures of unknown keys are ignored; a signature of a known key that does not verify refuses the note, and
so does a note that no known key has signed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

import msgspec

from weighbridge.errors import Refused
from weighbridge.identity import ed25519
from weighbridge.identity.keys import Signer
from weighbridge.identity.notes import COSIGNATURE_HEADER, Note, NoteSignature, check_note_text, parse_note
from weighbridge.identity.vkeys import COSIGNATURE, SIGNATURE, VerifierKey, verifier_key

_TIME_BYTES = 8
_MAX_TIME = 2**63 - 1


class BadNoteSignature(Refused):
    """A signature of a known key does not verify."""

    code: ClassVar[str] = "bad-note-signature"


class NoKnownSignature(Refused):
    """No key that is known here has signed the note."""

    code: ClassVar[str] = "no-known-signature"


class AmbiguousKey(Refused):
    """Two of the known keys have one name and one key id."""

    code: ClassVar[str] = "ambiguous-note-key"


class BadCosignatureTime(Refused):
    """The time of a cosignature is not within 0 and 2^63 - 1 seconds."""

    code: ClassVar[str] = "bad-cosignature-time"


class Verified(msgspec.Struct, frozen=True):
    """A signature that verified: whose, and for a cosignature its time (seconds since 1970)."""

    key: VerifierKey
    time: int | None = None


class OpenedNote(msgspec.Struct, frozen=True):
    """A note that known keys have signed: its text and their signatures, in the note's order."""

    text: str
    verified: tuple[Verified, ...]

    @property
    def keys(self) -> frozenset[VerifierKey]:
        """The keys that signed it."""
        return frozenset(verified.key for verified in self.verified)


def sign_note(signer: Signer, name: str, text: str) -> NoteSignature:
    """Sign a text as a note under the name of a key (type 0x01).

    Raises BadNote, NoteTooLarge, ReservedNoteText or BadKeyName.
    """
    check_note_text(text)
    key = verifier_key(name, SIGNATURE, signer.public)
    return NoteSignature(name, key.key_id, signer.sign(text.encode()))


def cosign(signer: Signer, name: str, text: str, time: int) -> NoteSignature:
    """Cosign a checkpoint's text under the name of a key (type 0x04) at a time (seconds since 1970).

    It says: as of then, this is the largest tree of that origin that I hold, and it is consistent. A key
    may say more (recomputed it), the same of all that it cosigns. Raises as `sign_note` does,
    or BadCosignatureTime.
    """
    check_note_text(text)
    if not 0 <= time <= _MAX_TIME:
        raise BadCosignatureTime(
            f"the time of a cosignature is within 0 and 2^63 - 1 seconds, not {time}", time=time
        )
    key = verifier_key(name, COSIGNATURE, signer.public)
    stamp = time.to_bytes(_TIME_BYTES, "big")
    return NoteSignature(name, key.key_id, stamp + signer.sign(cosigned_bytes(text, time)))


def cosigned_bytes(text: str, time: int) -> bytes:
    """Return the message of a `cosignature/v1` of a checkpoint's text (C2SP tlog-cosignature)."""
    return f"{COSIGNATURE_HEADER}time {time}\n{text}".encode()


def open_note(note: Note | bytes, keys: Iterable[VerifierKey]) -> OpenedNote:
    """Return the text of a note and which of the known keys signed it, each signature verified.

    Raises what `parse_note` does, BadNoteSignature, NoKnownSignature or AmbiguousKey.
    """
    note = parse_note(note) if isinstance(note, bytes) else note
    known = _by_name(keys)
    verified: list[Verified] = []
    for signature in note.signatures:
        key = known.get((signature.name, signature.key_id))
        if key is not None:
            verified.append(verify_signature(note.text, key, signature))
    if not verified:
        names = ", ".join(signature.name for signature in note.signatures)
        raise NoKnownSignature(f"no key that is known here has signed this note; it is signed by {names}")
    return OpenedNote(note.text, tuple(verified))


def verify_signature(text: str, key: VerifierKey, signature: NoteSignature) -> Verified:
    """Verify one signature line of a note's text by its key, of whichever type. Raises BadNoteSignature."""
    time: int | None = None
    message, signed = text.encode(), signature.signature
    if key.type == COSIGNATURE:
        time, signed = int.from_bytes(signed[:_TIME_BYTES], "big"), signed[_TIME_BYTES:]
        message = cosigned_bytes(text, time)
    too_late = time is not None and time > _MAX_TIME
    if too_late or (signature.name, signature.key_id) != (key.name, key.key_id):
        raise BadNoteSignature(
            f"the signature line of {signature.name} is not of the key {key}", name=key.name
        )
    if not ed25519.verify(key.public, message, signed):
        raise BadNoteSignature(f"the signature of {key} does not verify", name=key.name)
    return Verified(key, time)


def cosigners(note: Note | bytes, keys: Mapping[str, VerifierKey]) -> dict[str, int]:
    """Return who cosigned a note and when: of the keys by DID, each DID with its earliest time (seconds).

    Signatures of type 0x01 are verified and do not count. Raises as `open_note`, but not where nobody signed.
    """
    try:
        opened = open_note(note, keys.values())
    except NoKnownSignature:
        return {}
    found: dict[str, int] = {}
    for did in sorted(keys):
        times = [one.time for one in opened.verified if one.key == keys[did] and one.time is not None]
        if times:
            found[did] = min(times)
    return found


def _by_name(keys: Iterable[VerifierKey]) -> dict[tuple[str, bytes], VerifierKey]:
    known: dict[tuple[str, bytes], VerifierKey] = {}
    for key in keys:
        if known.setdefault((key.name, key.key_id), key) != key:
            raise AmbiguousKey(
                f"two keys that are known here go by {key.name} and {key.key_id.hex()}", name=key.name
            )
    return known
