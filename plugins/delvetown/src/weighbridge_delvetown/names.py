"""How things are named: records by at-uri, sheets by DID, crews by either; and the cell keys made of them."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from typing import Any

DID = re.compile(r"did:[a-z]+:[A-Za-z0-9._:%-]*[A-Za-z0-9._-]", re.ASCII)
AT_URI = re.compile(rf"at://({DID.pattern})/([a-zA-Z0-9.-]+)/([A-Za-z0-9._~:-]+)", re.ASCII)
ANY_AT_URI = re.compile(r"at://[A-Za-z0-9._:%-]+(/[a-zA-Z0-9.-]+(/[A-Za-z0-9._~:-]+)?)?", re.ASCII)
URL = re.compile(r"https?://[A-Za-z0-9._~:@%-]+([/?#][!-~\u00a1-\U0010ffff]*)?")
CID = re.compile(r"b[a-z2-7]{20,120}|Qm[1-9A-HJ-NP-Za-km-z]{44}", re.ASCII)

PLACE = re.compile(r"[a-z0-9-]{1,32}", re.ASCII)

MOVE = "town.delve.move"
SHEET = "town.delve.sheet"
CREW = "town.delve.crew"
ROOT = "town.delve.root"


@lru_cache(maxsize=16_384)
def split(uri: str) -> tuple[str, str, str] | None:
    """Return DID, collection and record key of a record's at-uri, or None where it is none."""
    found = AT_URI.fullmatch(uri)
    return None if found is None else (found[1], found[2], found[3])


@lru_cache(maxsize=16_384)
def id_of(uri: str, collection: str) -> str:
    """Return the `<did>:<rkey>` of a record of that collection; empty for any other text."""
    parts = split(uri)
    return f"{parts[0]}:{parts[2]}" if parts is not None and parts[1] == collection else ""


def move_id(value: Any) -> str:
    """Return the id of the move that a field names; empty where it names none."""
    return id_of(value, MOVE) if isinstance(value, str) else ""


def author_of(uri: str) -> str:
    """Return whose record an at-uri names: its authority, a DID or a handle; empty where it is no at-uri."""
    return uri.removeprefix("at://").partition("/")[0] if uri.startswith("at://") else ""


@lru_cache(maxsize=16_384)
def crew_id(name: str) -> str:
    """Return the id in cell keys of a crew's name: an at-uri, or the DID of a sheet in no crew."""
    return id_of(name, CREW) if name.startswith("at://") else name


def crew_key(name: str) -> str:
    """Return the key of a crew's cell."""
    return f"crew/{crew_id(name)}"


def digest(text: str) -> str:
    """Return the digest by which cell keys name a free text: 32 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def ordered(seq: int) -> str:
    """Return a sequence number as text whose order is that of the numbers."""
    return f"{seq:012}"
