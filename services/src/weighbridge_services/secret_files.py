"""Files that only their owner may read: keys and passwords."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import ClassVar

from weighbridge.errors import Refused
from weighbridge.identity import Signer

from weighbridge_services.files import write_new


class BadKeyFile(Refused):
    """A key or password file is missing, is readable by others, holds nothing of use, or is not this node's."""

    code: ClassVar[str] = "bad-key-file"


def read_secret(path: Path) -> str:
    """Read a file that only its owner may read. Raises BadKeyFile."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        text = path.read_text(encoding="ascii").strip()
    except FileNotFoundError as error:
        raise BadKeyFile(f"{path} is missing; restore it from a backup, or make a new node") from error
    except UnicodeDecodeError as error:
        raise BadKeyFile(f"{path} holds bytes that are no ASCII text; restore it from a backup") from error
    except OSError as error:
        raise BadKeyFile(f"{path} cannot be read: {error.strerror or error}") from error
    if mode & 0o077:
        raise BadKeyFile(f"{path} can be used by others (mode {mode:04o}); run chmod 600 on it")
    if not text:
        raise BadKeyFile(f"{path} is empty; restore it from a backup, or make a new node")
    return text


def read_key(path: Path) -> Signer:
    """Read a key file. Raises BadKeyFile."""
    text = read_secret(path)
    try:
        seed = bytes.fromhex(text)
    except ValueError:
        seed = b""
    if len(seed) != 32 or len(text) != 64:
        raise BadKeyFile(f"{path} holds no key: 64 hex digits are expected; restore it from a backup")
    return Signer(seed)


def write_key(path: Path, seed: bytes) -> Signer:
    """Write a new key (32 bytes). Raises FileExistsError."""
    write_new(path, seed.hex().encode() + b"\n")
    return Signer(seed)


def loose_modes(folder: Path) -> list[Path]:
    """Return what in a folder of keys, itself included, others may read or write."""
    found = [folder, *sorted(folder.iterdir())] if folder.is_dir() else []
    return [path for path in found if stat.S_IMODE(path.stat().st_mode) & 0o077]
