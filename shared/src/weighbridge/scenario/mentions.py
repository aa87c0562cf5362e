"""Names in a scenario: `@name`, `uri:NAME`, `cid:NAME`, `ref:NAME`, `seal:NAME`, and `id:NAME` in cell keys.

They are replaced where they are a whole string (a key of a map too), or a whole part of a cell key.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

from weighbridge.identity.syntax import is_did
from weighbridge.lexicon.paths import below
from weighbridge.scenario.wrong import wrong

Json: TypeAlias = Any
"""What JSON may hold."""

_NAME = r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
_IS_NAME = re.compile(_NAME, re.ASCII)
_MENTION = re.compile(rf"(@|uri:|cid:|ref:|seal:)({_NAME})", re.ASCII)
_IN_KEY = re.compile(rf"(@|id:|uri:|cid:|seal:)({_NAME})", re.ASCII)


class Known(msgspec.Struct):
    """The names that a file gives."""

    records: set[str]
    seals: set[str]


def is_name(text: str) -> bool:
    """Whether `text` may name a record or a seal: it becomes a record key."""
    return _IS_NAME.fullmatch(text) is not None


def account(name: str) -> str:
    """Return the DID of the account `@name`, `name` being what follows the `@`."""
    digest = hashlib.sha256(f"weighbridge/scenario/{name}".encode()).digest()
    return "did:plc:" + base64.b32encode(digest).decode().lower()[:24]


def did_of(by: str) -> str:
    """Return the DID that `@name`, or a DID, stands for."""
    return account(by[1:]) if by.startswith("@") else by


Replace = Callable[[str, str], Any]
"""Returns what stands for a mention: of a kind (`@`, `uri:`, …), and a name."""


def replace_value(value: Json, replace: Replace) -> Json:
    """Return a JSON value with the names in it replaced."""
    if isinstance(value, str):
        match = _MENTION.fullmatch(value)
        return value if match is None else replace(match[1], match[2])
    if isinstance(value, dict):
        return {_map_key(key, replace): replace_value(each, replace) for key, each in value.items()}
    return [replace_value(each, replace) for each in value] if isinstance(value, list | tuple) else value


def _map_key(key: str, replace: Replace) -> str:
    replaced = replace_value(key, replace)
    return replaced if isinstance(replaced, str) else key


def replace_key(key: str, replace: Replace) -> str:
    """Return a cell key with the names that are whole parts of it replaced."""
    matches = ((part, _IN_KEY.fullmatch(part)) for part in key.split("/"))
    return "/".join(part if match is None else str(replace(match[1], match[2])) for part, match in matches)


def check_account(by: str, path: str) -> None:
    """Refuse what is neither `@name` nor a DID."""
    if not (by.startswith("@") and is_name(by[1:])) and not is_did(by):
        wrong(path, "must be @ and a name of ASCII letters, digits, _ and -")


def check_value(value: Json, path: str, known: Known) -> None:
    """Refuse a value that mentions what the file does not name."""
    if isinstance(value, dict):
        for key, each in value.items():
            check_value(key, below(path, key), known)
            check_value(each, below(path, key), known)
    elif isinstance(value, list | tuple):
        for at, each in enumerate(value):
            check_value(each, f"{path}[{at}]", known)
    elif isinstance(value, str):
        replace_value(value, _checker(path, known))


def check_key(key: str, path: str, known: Known) -> None:
    """Refuse a cell key that mentions what the file does not name."""
    replace_key(key, _checker(path, known))


def _checker(path: str, known: Known) -> Replace:
    def check(kind: str, name: str) -> str:
        if kind != "@" and name not in (known.seals if kind == "seal:" else known.records):
            wrong(path, f"mentions {kind}{name}, and nothing in this file is named {name}")
        return ""

    return check
