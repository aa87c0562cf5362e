"""Writing files so that nothing is ever half-written: beside the place, synced, then renamed into it."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path


def write_new(path: Path, data: bytes, *, mode: int = 0o600, replace: bool = False) -> None:
    """Write a whole file or nothing. Without `replace`, raises FileExistsError if it is there."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            os.replace(beside, path)
        else:
            os.link(beside, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last through a power failure."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
