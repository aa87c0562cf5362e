"""The syntax of AT Protocol names: DID, handle, NSID, record key, TID and at-uri, strict.

The `is_…` functions answer about text, and False for what is no text. What a name refers to is another
question: nothing here resolves anything.
"""

from __future__ import annotations

import re
from typing import ClassVar

import msgspec

from weighbridge.errors import Refused

MAX_DID = 2048
MAX_HANDLE = 253
MAX_NSID = 317
MAX_RKEY = 512
MAX_AT_URI = 8192

_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_TOP_LABEL = r"[a-zA-Z](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_DID = re.compile(r"did:[a-z]+:[a-zA-Z0-9._:%-]*[a-zA-Z0-9._-]")
_HANDLE = re.compile(rf"(?:{_LABEL}\.)+{_TOP_LABEL}")
# The name, the last segment, has no hyphen and does not begin with a digit; the first begins with a letter.
_NSID = re.compile(rf"{_TOP_LABEL}(?:\.{_LABEL})+\.[a-zA-Z][a-zA-Z0-9]{{0,62}}")
_RKEY = re.compile(r"[a-zA-Z0-9_~.:-]+")
_RECORD = re.compile(rf"at://({_DID.pattern})/({_NSID.pattern})/({_RKEY.pattern})")
_TID_LETTERS = "234567abcdefghijklmnopqrstuvwxyz"
_TID = re.compile(r"[234567abcdefghij][234567abcdefghijklmnopqrstuvwxyz]{12}")

_PARTS = ("DID or handle", "collection (NSID)", "record key")


class BadAtUri(Refused):
    """The text is no at-uri, or not of a record of a DID where one is wanted."""

    code: ClassVar[str] = "bad-at-uri"


class AtUri(msgspec.Struct, frozen=True):
    """An at-uri in its parts: `at://<authority>/<collection>/<rkey>`, the last two or the last one absent."""

    authority: str
    collection: str | None = None
    rkey: str | None = None

    def __str__(self) -> str:
        return "at://" + "/".join(
            part for part in (self.authority, self.collection, self.rkey) if part is not None
        )


def is_did(text: object) -> bool:
    """Whether the text is a DID as AT Protocol allows it (any method, at most 2,048 characters)."""
    return isinstance(text, str) and len(text) <= MAX_DID and _DID.fullmatch(text) is not None


def is_handle(text: object) -> bool:
    """Whether the text is a handle: a domain name of two labels or more, the last not with a digit first."""
    return isinstance(text, str) and len(text) <= MAX_HANDLE and _HANDLE.fullmatch(text) is not None


def is_at_identifier(text: object) -> bool:
    """Whether the text is a DID or a handle."""
    return is_did(text) or is_handle(text)


def is_nsid(text: object) -> bool:
    """Whether the text is an NSID, as a collection has it."""
    return isinstance(text, str) and len(text) <= MAX_NSID and _NSID.fullmatch(text) is not None


def is_rkey(text: object) -> bool:
    """Whether the text is a record key: 1 to 512 of `A-Za-z0-9_~.:-`, but not `.` or `..`."""
    if not isinstance(text, str) or len(text) > MAX_RKEY or text in (".", ".."):
        return False
    return _RKEY.fullmatch(text) is not None


def is_tid(text: object) -> bool:
    """Whether the text is a TID: 13 characters of sortable base32, the top bit clear."""
    return isinstance(text, str) and _TID.fullmatch(text) is not None


def tid_time(tid: str) -> int:
    """Return the time (µs since 1970) that a TID begins with; its last 10 bits name a clock."""
    number = 0
    for letter in tid:
        number = number << 5 | _TID_LETTERS.index(letter)
    return number >> 10


def parse_at_uri(text: object) -> AtUri:
    """Return an at-uri in its parts, without fragment or query. Raises BadAtUri."""
    if not isinstance(text, str):
        raise BadAtUri(f"an at-uri is text, not {type(text).__name__}")
    if len(text) > MAX_AT_URI:
        raise BadAtUri(f"an at-uri has at most {MAX_AT_URI} characters, not {len(text)}", length=len(text))
    if not text.startswith("at://"):
        raise BadAtUri(f"an at-uri begins with at://, not {text[:8]!r}", uri=text)
    parts = text[len("at://") :].split("/")
    if len(parts) > 3:
        raise BadAtUri(f"an at-uri has at most authority, collection and record key: {text!r}", uri=text)
    for part, fits, what in zip(parts, (is_at_identifier, is_nsid, is_rkey), _PARTS, strict=False):
        if not fits(part):
            raise BadAtUri(f"{part!r} in {text!r} is no {what}", uri=text, part=part)
    return AtUri(*parts)


def is_at_uri(text: object) -> bool:
    """Whether the text is an at-uri, of a repo, a collection or a record."""
    try:
        parse_at_uri(text)
    except BadAtUri:
        return False
    return True


def parse_record_uri(text: object) -> AtUri:
    """Return the parts of the at-uri of one record of a DID, as Weighbridge names records. Raises BadAtUri.

    A handle can pass to another account, so that none is accepted here.
    """
    uri = parse_at_uri(text)
    if uri.rkey is None:
        raise BadAtUri(f"{text!r} names no record: at://<did>/<collection>/<rkey> does", uri=text)
    if not is_did(uri.authority):
        raise BadAtUri(f"{text!r} names its repo by a handle; a record is named by its DID", uri=text)
    return uri


def is_record_uri(text: object) -> bool:
    """Whether the text is the at-uri of one record of a DID: what `parse_record_uri` takes, found out at once."""
    if not isinstance(text, str) or len(text) > MAX_AT_URI:
        return False
    found = _RECORD.fullmatch(text)
    if found is None:
        return False
    did, collection, rkey = found.groups()
    fits = len(did) <= MAX_DID and len(collection) <= MAX_NSID and len(rkey) <= MAX_RKEY
    return fits and rkey not in (".", "..")
