"""The configuration of an embedded nats-server, generated from the node's."""

from __future__ import annotations

import json
from typing import Any

from weighbridge_services.broker.folder import folder_of
from weighbridge_services.broker.rights import PLAYER, operator_rights, player_rights
from weighbridge_services.files import write_new
from weighbridge_services.node import PASSWORD, PLAYER_PASSWORD, Node
from weighbridge_services.secret_files import read_secret
from weighbridge_services.streams import names_for_others
from weighbridge_services.subjects import token

MAX_PAYLOAD = 8 << 20
"""Bytes of one message at most: a transcript batch of 4 MiB and a good deal of room."""
HEADER = "# Written by weighbridge at every start from weighbridge.toml: change that instead.\n"


def configure(node: Node, port: int) -> None:
    """Write the broker's configuration (port -1: any that is free). Raises BadKeyFile."""
    folder = folder_of(node)
    folder.path.mkdir(mode=0o700, exist_ok=True)
    text = HEADER + json.dumps(configuration(node, port), indent=2, ensure_ascii=False) + "\n"
    write_new(folder.config, text.encode(), replace=True)


def configuration(node: Node, port: int) -> dict[str, Any]:
    """Return the configuration; nats-server reads JSON."""
    table, folder = node.config.broker, folder_of(node)
    jetstream: dict[str, Any] = {"store_dir": str(folder.data), "sync_interval": table.sync_interval}
    if table.domain is not None:
        jetstream["domain"] = table.domain
    return {
        "server_name": f"wb-{token(node.did)}",
        "host": table.host,
        "port": port,
        "max_payload": MAX_PAYLOAD,
        "pid_file": str(folder.pid),
        "ports_file_dir": str(folder.path),
        "jetstream": jetstream,
        "authorization": {"users": users(node)},
        **leaf(node),
    }


def users(node: Node) -> list[dict[str, Any]]:
    """Return who may log in: the node, the other operators it names, and players."""
    keys = node.folder / "keys"
    own_games = [game.uri for game in node.games]
    found = [
        user(
            token(node.did),
            read_secret(keys / PASSWORD),
            operator_rights(node.did, own_games, names_for_others(node)),
        )
    ]
    for each in node.config.broker.operators:
        rights = operator_rights(each.did, each.games or own_games, declares=False)
        found.append(user(token(each.did), read_secret(node.folder / each.password_file), rights))
    if (keys / PLAYER_PASSWORD).exists():
        found.append(user(PLAYER, read_secret(keys / PLAYER_PASSWORD), player_rights()))
    return found


def user(name: str, password: str, permissions: dict[str, Any]) -> dict[str, Any]:
    """Return a user of the configuration."""
    return {"user": name, "password": password, "permissions": permissions}


def leaf(node: Node) -> dict[str, Any]:
    """Return how this broker meets others', if it does."""
    table = node.config.broker.leaf
    nodes: dict[str, Any] = {}
    if table.port:
        nodes |= {"host": table.host, "port": table.port}
    if table.hubs:
        nodes |= {"remotes": [{"url": url} for url in table.hubs]}
    return {"leafnodes": nodes} if nodes else {}
