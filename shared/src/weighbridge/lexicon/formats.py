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
    r"([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):([0-5][0-9]):[0-5][0-9]"
    r"(?:\.[0-9]{1,20})?(?:Z|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))",
    re.ASCII,
)
# At-uris of the common form, which one match can tell: the full check costs five times as much.
_COMMON_AT_URI = re.compile(
    r"at://did:[a-z]{1,20}:[a-zA-Z0-9._:%-]{0,200}[a-zA-Z0-9._-]"
    r"/[a-z][a-z0-9]{0,30}(?:\.[a-z0-9]{1,30}){1,4}\.[a-zA-Z][a-zA-Z0-9]{0,62}/[a-zA-Z0-9_~:-]{1,64}",
    re.ASCII,
)
_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_cid(text: str) -> bool:
    """Whether `text` looks like a CID of version 1, in any base."""
    return _CID.fullmatch(text) is not None and not text.startswith("Qmb")


def is_uri(text: str) -> bool:
    """Whether `text` is a URI of at most 8 KiB, without spaces."""
    return len(text) <= 8192 and _URI.fullmatch(text) is not None


def is_any_at_uri(text: str) -> bool:
    """Whether `text` is an at-uri, as `is_at_uri` says it, but sooner."""
    return _COMMON_AT_URI.fullmatch(text) is not None or is_at_uri(text)


def is_datetime(text: str) -> bool:
    """Whether `text` is a date and time with a time zone, valid in RFC 3339 and ISO 8601 alike."""
    match = _DATETIME.fullmatch(text)
    if match is None:
        return False
    if match[3] > "28" and not _is_day(int(match[1]), int(match[2]), int(match[3])):
        return False
    return match[6] is None or _is_offset(match)


def _is_day(year: int, month: int, day: int) -> bool:
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return day <= _MONTH_DAYS[month - 1] + leap


def _is_offset(match: re.Match[str]) -> bool:
    sign, hours, minutes = match[6], match[7], match[8]
    if sign == "-":
        return (hours, minutes) != ("00", "00")
    # East of Greenwich the first hours of the year 0 lie in a year that cannot be written.
    return match.group(1, 2, 3) != ("0000", "01", "01") or (match[4], match[5]) >= (hours, minutes)


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
    "at-uri": (is_any_at_uri, "an at-uri"),
    "datetime": (is_datetime, "a date and time with its time zone, such as 2026-10-18T09:00:00Z"),
    "language": (is_language, "a language tag"),
}
"""Each format of Lexicon: whether a text has it, and its name in a sentence."""
