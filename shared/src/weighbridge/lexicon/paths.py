"""Paths into a value: `$.dots.fetch`, `$.places[2].name`, `$["odd key"]`."""

from __future__ import annotations

import json
import re
from typing import TypeAlias

Path: TypeAlias = "tuple[Path, str | int] | None"
"""A path as it is built on the way down: (the path above, the key or index), None above the root."""

_PLAIN = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*", re.ASCII)


def below(path: str, key: str) -> str:
    """Return the path of the field `key` of what stands at `path`."""
    return f"{path}.{key}" if _PLAIN.fullmatch(key) else f"{path}[{json.dumps(key)}]"


def render(parent: Path, key: str | int) -> str:
    """Return the text of a path: the root's key is `$`."""
    if parent is None:
        return str(key)
    above = render(*parent)
    return f"{above}[{key}]" if isinstance(key, int) else below(above, key)
