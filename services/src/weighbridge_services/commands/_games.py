"""Which of a node's games a command is about."""

from __future__ import annotations

from weighbridge_services.config import GameTable
from weighbridge_services.node import Node
from weighbridge_services.tailing import NoGame


def game_in(node: Node, asked: str | None) -> GameTable:
    """Return the game that is asked for, or a node's only one. Raises NoGame."""
    found = [game for game in node.games if asked in (None, game.uri)]
    if len(found) != 1:
        games = ", ".join(game.uri for game in node.games)
        raise NoGame(f"say which of this node's games is meant (--help says how): {games or 'it has none'}")
    return found[0]
