"""`weighbridge dry-run`: what records would do to a game as it stands, published to nobody."""

from __future__ import annotations

from weighbridge_services.commands import Subparsers
from weighbridge_services.trying import add_dry_run


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    add_dry_run(subparsers)
