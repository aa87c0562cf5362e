"""C2SP signed notes: a text, a blank line, and signature lines of an em dash, a key's name and base64.

    <text, each line ended by a newline>

    — <key name> <base64 of key id (4 bytes) and signature>

This module knows the format alone; `signing` signs and verifies. Until then the text means nothing.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from typing import ClassVar

import msgspec

from weighbridge.errors import Refused
from weighbridge.identity.vkeys import KEY_ID_BYTES, is_key_name, unbase64
from weighbridge.limits import MAX_NOTE, MAX_NOTE_SIGNATURES, MAX_NOTE_TEXT

COSIGNATURE_HEADER = "cosignature/v1\n"

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f]")


class BadNote(Refused):
    """The bytes are no signed note; the message says which rule of the format they break."""

    code: ClassVar[str] = "bad-note"


class NoteTooLarge(Refused):
    """The note, its text or the number of its signatures is over its limit."""

    code: ClassVar[str] = "note-too-large"


class ReservedNoteText(Refused):
    """The text of a note is the message of a cosignature, which nobody may sign as a note."""

    code: ClassVar[str] = "reserved-note-text"


class NoteSignature(msgspec.Struct, frozen=True):
    """One signature line. `key_id` is 4 bytes; `signature` is what follows them, of whatever type of key."""

    name: str
    key_id: bytes
    signature: bytes

    def __str__(self) -> str:
        """The line, with its newline."""
        return f"— {self.name} {base64.b64encode(self.key_id + self.signature).decode()}\n"


class Note(msgspec.Struct, frozen=True):
    """A text and its signatures, nothing verified."""

    text: str
    signatures: tuple[NoteSignature, ...]

    def __str__(self) -> str:
        """The note as text."""
        return self.text + "\n" + "".join(str(signature) for signature in self.signatures)


def parse_note(data: bytes) -> Note:
    """Return the note that bytes hold, nothing verified. Raises BadNote, NoteTooLarge or ReservedNoteText."""
    if len(data) > MAX_NOTE:
        raise NoteTooLarge(
            f"a note has at most {MAX_NOTE} bytes, not {len(data)}", size=len(data), limit=MAX_NOTE
        )
    try:
        whole = data.decode()
    except UnicodeDecodeError as error:
        raise BadNote(f"a note is UTF-8: {error.reason} at byte {error.start}", offset=error.start) from error
    text, blank, lines = whole.rpartition("\n\n")
    if not blank:
        raise BadNote("a note has a blank line between its text and its signatures")
    if not lines.endswith("\n"):
        raise BadNote("a note ends with a newline after its last signature")
    text += "\n"
    check_note_text(text)
    signature_lines = lines[:-1].split("\n")
    if len(signature_lines) > MAX_NOTE_SIGNATURES:
        raise NoteTooLarge(f"a note has at most {MAX_NOTE_SIGNATURES} signatures, not {len(signature_lines)}")
    return Note(text, tuple(_parse_line(line) for line in signature_lines))


def format_note(text: str, signatures: Iterable[NoteSignature]) -> bytes:
    """Return the bytes of a note. Raises BadNote or NoteTooLarge."""
    check_note_text(text)
    note = Note(text, tuple(signatures))
    data = str(note).encode()
    if not note.signatures or parse_note(data) != note:
        raise BadNote("a note has one signature or more, each with the name of a key, a key id and bytes")
    return data


def check_note_text(text: str) -> None:
    """Check that a text can be signed as a note. Raises BadNote, NoteTooLarge or ReservedNoteText."""
    if not text.endswith("\n"):
        raise BadNote("the text of a note ends with a newline")
    if text.startswith(COSIGNATURE_HEADER):
        # Signed as a note, it would be a cosignature of the same Ed25519 key, and the other way about.
        raise ReservedNoteText("a text that begins cosignature/v1 is signed only as a cosignature")
    if (control := _CONTROL.search(text)) is not None:
        raise BadNote(
            f"a note has no control character but the newline: {control[0]!r}", offset=control.start()
        )
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise BadNote("the text of a note is UTF-8, without lone surrogates") from error
    if size > MAX_NOTE_TEXT:
        raise NoteTooLarge(f"the text of a note has at most {MAX_NOTE_TEXT} bytes, not {size}", size=size)


def _parse_line(line: str) -> NoteSignature:
    parts = line.split(" ")
    if len(parts) != 3 or parts[0] != "—" or not is_key_name(parts[1]):
        raise BadNote(
            f"a signature line is an em dash, the name of a key and base64, not {line[:80]!r}", line=line
        )
    data = unbase64(parts[2])
    if data is None or len(data) <= KEY_ID_BYTES:
        raise BadNote(f"the signature of {parts[1]} is no base64 of a key id and a signature", line=line)
    return NoteSignature(parts[1], data[:KEY_ID_BYTES], data[KEY_ID_BYTES:])
