"""The string formats of Lexicon: strict, over ASCII alone.

Source: the AT Protocol specifications of each format, held to the interop syntax files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from weighbridge.identity.syntax import (
    is_at_identifier,
    is_at_uri,
    is_did,
    is_handle,
    is_nsid,
    is_rkey,
    is_tid,
)

_CID = re.compile(r"[a-zA-Z0-9+=]{8,256}", re.ASCII)
_URI = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{0,80}:[!-~]+", re.ASCII)
_LANGUAGE = re.compile(r"(?:[a-z]{2,3}|(?:i|[xX])(?=-))(?:-[a-zA-Z0-9]{1,8})*", re.ASCII)
_DATETIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]{1,20})?"
    r"(?:Z|([+-])([0-9]{2}):([0-9]{2}))",
    re.ASCII,
)
_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_cid(text: str) -> bool:
    """Whether `text` looks like a CID of version 1, in any base."""
    return _CID.fullmatch(text) is not None and not text.startswith("Qmb")


def is_uri(text: str) -> bool:
    """Whether `text` is a URI of at most 8 KiB, without spaces."""
    return len(text) <= 8192 and _URI.fullmatch(text) is not None


def is_datetime(text: str) -> bool:
    """Whether `text` is a date and time with a time zone, valid in RFC 3339 and ISO 8601 alike."""
    match = _DATETIME.fullmatch(text)
    if match is None:
        return False
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= month <= 12 or not 1 <= day <= _MONTH_DAYS[month - 1] + leap:
        return False
    return max(minute, second) <= 59 and hour <= 23 and _is_offset(match, (year, month, day, hour, minute))


def _is_offset(match: re.Match[str], local: tuple[int, int, int, int, int]) -> bool:
    if match[7] is None:
        return True
    hours, minutes = int(match[8]), int(match[9])
    if hours > 23 or minutes > 59 or (match[7] == "-" and hours == minutes == 0):
        return False
    # East of Greenwich the first hours of the year 0 lie in a year that cannot be written.
    return match[7] == "-" or local >= (0, 1, 1, hours, minutes)


def is_language(text: str) -> bool:
    """Whether `text` is a BCP 47 tag: well-formed, and no variant or extension stands in it twice."""
    if _LANGUAGE.fullmatch(text) is None:
        return False
    seen: set[str] = set()
    extension = False
    for part in text.lower().split("-")[1:]:
        if part == "x":
            break
        extension = extension or len(part) == 1
        variant = len(part) >= 5 or (len(part) == 4 and part[0] in "0123456789")
        if len(part) == 1 or (variant and not extension):
            if part in seen:
                return False
            seen.add(part)
    return True


FORMATS: Mapping[str, tuple[Callable[[str], bool], str]] = {
    "did": (is_did, "a DID"),
    "handle": (is_handle, "a handle"),
    "at-identifier": (is_at_identifier, "a DID or a handle"),
    "nsid": (is_nsid, "an NSID"),
    "record-key": (is_rkey, "a record key"),
    "tid": (is_tid, "a TID"),
    "cid": (is_cid, "a CID"),
    "uri": (is_uri, "a URI"),
    "at-uri": (is_at_uri, "an at-uri"),
    "datetime": (is_datetime, "a date and time with its time zone, such as 2026-10-18T09:00:00Z"),
    "language": (is_language, "a language tag"),
}
"""Each format of Lexicon: whether a text has it, and its name in a sentence."""
