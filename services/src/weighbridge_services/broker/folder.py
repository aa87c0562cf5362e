"""Where an embedded broker keeps its things: `broker/` in the node's folder."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from weighbridge_services.node import Node


class BrokerFolder(NamedTuple):
    """The files of an embedded broker."""

    path: Path

    @property
    def config(self) -> Path:
        """The generated configuration."""
        return self.path / "nats.conf"

    @property
    def data(self) -> Path:
        """JetStream's files."""
        return self.path / "data"

    @property
    def log(self) -> Path:
        """What the server says."""
        return self.path / "nats.log"

    @property
    def pid(self) -> Path:
        """The process that runs, or ran."""
        return self.path / "nats.pid"

    @property
    def port(self) -> Path:
        """The port it listens on, where the configuration leaves that open."""
        return self.path / "port"


def folder_of(node: Node) -> BrokerFolder:
    """Return the folder of a node's embedded broker."""
    return BrokerFolder(node.folder / "broker")


def url_of(node: Node) -> str:
    """Return the URL of a node's embedded broker; of one with an open port that never ran, port 0."""
    table = node.config.broker
    host = "127.0.0.1" if table.host in ("0.0.0.0", "::") else table.host
    return f"nats://{f'[{host}]' if ':' in host else host}:{table.port or last_port(node)}"


def last_port(node: Node) -> int:
    """Return the port that an embedded broker listens on or did last, or 0."""
    try:
        return int(folder_of(node).port.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0
