"""Traces (§3): their forms, what dates them, and what the fold sees of them without opening anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weighbridge.contract import Frozen, Table, Trace

from weighbridge_delvetown.actions import DELVETOWN
from weighbridge_delvetown.names import ANY_AT_URI, CID, URL, author_of, digest

_Form = tuple[tuple[str, str], ...]
"""The parts of a form, in order: (name, what it holds). The last dates what was made."""

FORMS: dict[str, tuple[_Form, ...]] = {
    "fetch": ((("url", "part"), ("quote", "text")),),
    "trace": ((("uris", "uris"),),),
    "reckon": ((("number", "number"), ("method", "part")),),
    "audit": ((("claim", "part"), ("check", "part")),),
    "keep": ((("cid", "cid"),), (("url", "part"),)),
    "build": ((("made", "part"),),),
    "draw": ((("image", "part"),),),
    "mend": ((("before", "part"), ("after", "part")),),
    "sway": ((("post", "part"), ("reply", "part")),),
    "vouch": ((("vouchFor", "part"),),),
    "bargain": ((("offer", "part"), ("acceptance", "part")),),
    "convene": ((("thread", "part"),),),
}
DATED_BY_LISTING = ("fetch", "trace", "reckon", "audit", "keep")
PART_NAMES = tuple(dict.fromkeys(name for forms in FORMS.values() for form in forms for name, _ in form))
"""Every name that a part may have; `post` is among them."""

OTHERS_BY = {"audit": ("claim",), "sway": ("reply",), "bargain": ("acceptance",)}
"""Parts that must be by somebody else, where they are at-uris."""


class Cited(Frozen, frozen=True):
    """A well-formed trace as an ask keeps it.

    `text`: its parts in one line, by which a citation is known again. `parts`: the URLs and at-uris in it.
    `by_listing`: whether its first citation dates it. `opens`: whether a verdict says more than a date.
    `broken`: whether what §3 asks of its at-uris fails on sight.
    """

    text: str
    parts: tuple[str, ...]
    by_listing: bool
    opens: bool
    broken: bool


def uri_of(part: Any) -> str:
    """Return the URL or at-uri of a part; empty where it is none."""
    if isinstance(part, dict):
        part = part.get("uri") if isinstance(part.get("cid"), str) and CID.fullmatch(part["cid"]) else None
    if not isinstance(part, str) or len(part) > 8192:
        return ""
    fits = ANY_AT_URI.fullmatch(part) if part.startswith("at:") else URL.fullmatch(part)
    return part if fits is not None else ""


def read_trace(action: str, value: Any, author: str) -> Cited | None:
    """Return a trace that has the form its action asks for, or None.

    An action outside §3, and a between move (`""`), takes any form, and §3 asks nothing more of it.
    """
    if not isinstance(value, dict):
        return None
    actions = (action,) if action in FORMS else DELVETOWN
    for name in actions:
        for form in FORMS[name]:
            if form[0][0] in value and all(_fits(value.get(part), holds) for part, holds in form):
                return _cited(name, form, value, author if action in FORMS else "")
    return None


def _fits(part: Any, holds: str) -> bool:
    if holds == "text":
        return isinstance(part, str) and part != ""
    if holds == "number":
        return type(part) is int
    if holds == "cid":
        return _cid_text(part) != ""
    if holds == "uris":
        return (
            isinstance(part, list) and bool(part) and all(uri_of(each).startswith("at://") for each in part)
        )
    return uri_of(part) != ""


def _cid_text(part: Any) -> str:
    if isinstance(part, bool | int | str | bytes | list | dict) or part is None:
        return part if isinstance(part, str) and CID.fullmatch(part) is not None else ""
    return str(part)  # a link: the only other value a record holds


def _cited(action: str, form: _Form, value: Mapping[str, Any], author: str) -> Cited:
    uris = [uri for name, holds in form for uri in _uris(value[name], holds)]
    post = uri_of(value.get("post")) if action in DATED_BY_LISTING else ""
    opens = any(not uri.startswith("http") for uri in [*uris, *([post] if post else [])])
    return Cited(
        text="\n".join([action, *(f"{name} {_line(value[name], holds)}" for name, holds in form)]),
        parts=tuple(dict.fromkeys(uris)),
        by_listing=action in DATED_BY_LISTING and not post,
        opens=opens,
        broken=_is_broken(action, value, author),
    )


def _uris(part: Any, holds: str) -> list[str]:
    if holds == "uris":
        return [uri_of(each) for each in part]
    if holds == "cid":
        return [_cid_text(part)]
    return [uri_of(part)] if holds == "part" else []


def _line(part: Any, holds: str) -> str:
    each = part if holds == "uris" else [part]
    return " ".join(f"{e['uri']}#{e['cid']}" if isinstance(e, dict) else str(e) for e in each)


def _is_broken(action: str, value: Mapping[str, Any], author: str) -> bool:
    if not author:
        return False
    if any(author_of(uri_of(value[name])) == author for name in OTHERS_BY.get(action, ())):
        return True
    before, after = value.get("before"), value.get("after")
    return action == "mend" and uri_of(before).startswith("at://") and before == after


# --- Dates -------------------------------------------------------------------------------------------------


def first_cited(table: Table, author: str, cited: Cited, at: int) -> int:
    """Return when the sheet's first ask that cites this trace was listed (µs), and remember this one's."""
    key = f"cited/{author}:{digest(cited.text)}"
    known: int | None = table.get(key)
    if known is not None:
        return known
    table[key] = at
    return at


def date_of(trace: Trace | None, listed: int) -> int | None:
    """Return the date that a verdict gives (µs); a date after the listing is no date."""
    if trace is None or trace.dated is None or trace.dated > listed:
        return None
    return trace.dated


def is_unresolved(trace: Trace | None, opens: bool, broken: bool) -> bool:
    """Say whether a settled trace counts as unresolved. Of URLs alone a verdict says nothing but the date."""
    if broken:
        return True
    return trace is not None and trace.verdict == "unresolved" and opens
