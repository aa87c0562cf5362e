"""`weighbridge game`, `move` and `sheet`: publish a game's records, and follow a game from its at-uri alone."""

from __future__ import annotations

from weighbridge_services.for_plugins import Subparsers, group_of

from weighbridge_atproto_tools.arguments import add_publish
from weighbridge_atproto_tools.follow import add_follow

__all__ = ["register_game", "register_move", "register_sheet"]


def register_game(subparsers: Subparsers) -> None:
    """Add `game`."""
    group = group_of(subparsers, "game", "begin a game, or follow one")
    add_publish(group, "new", "publish the root of a game")
    add_follow(group)


def register_move(subparsers: Subparsers) -> None:
    """Add `move`."""
    add_publish(subparsers, "move", "publish a move")


def register_sheet(subparsers: Subparsers) -> None:
    """Add `sheet`."""
    add_publish(subparsers, "sheet", "publish a sheet")
