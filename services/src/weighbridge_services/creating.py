"""Making a node: a folder with a configuration to edit, keys that only its owner can read, and nothing else."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from pathlib import Path

from weighbridge.errors import Refused

from weighbridge_services.config import FILE, config_of
from weighbridge_services.files import sync_folder, write_new
from weighbridge_services.node import KEY_NAMES, PASSWORD, PLAYER_PASSWORD, PUBLIC, Keys, Node, public_halves
from weighbridge_services.secret_files import write_key


class FolderInUse(Refused):
    """The folder holds something already; a new node goes into an empty one."""

    code = "folder-in-use"


def create_node(folder: Path, config: str) -> Node:
    """Make a node in a folder that is empty or not there, from the text of its configuration.

    Raises FolderInUse or BadConfig. All of it is there afterwards, or nothing: it is made beside and then
    renamed into place.
    """
    config_of(config)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        what = "a node" if (folder / FILE).exists() else "something else"
        raise FolderInUse(f"{folder} holds {what} already; name a folder that is empty or not there")
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.tmp")
    try:
        _fill(beside, config)
        node = Node.open(beside)
        os.replace(beside, folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    sync_folder(folder.parent)
    return Node(folder, node.config, node.keys)


def _fill(folder: Path, config: str) -> None:
    folder.mkdir(mode=0o700)
    keys = folder / "keys"
    keys.mkdir(mode=0o700)
    made = Keys(*(write_key(keys / f"{name}.key", secrets.token_bytes(32)) for name in KEY_NAMES))
    write_new(keys / PUBLIC, json.dumps(public_halves(made), indent=2).encode() + b"\n")
    for name in (PASSWORD, PLAYER_PASSWORD):
        write_new(keys / name, f"{secrets.token_hex(24)}\n".encode())
    write_new(folder / FILE, config.encode())
