"""What a plugin's own command may use of the command line, and the only module of it that a plugin imports.

The entry-point group is `weighbridge.commands`, an entry point's name the command's, its object a
`register(subparsers)`. Exit codes: 0 done, and it holds; 1 it does not hold; 2 refused input. A `WeighbridgeError` that
is raised becomes one line and its code. `game_rules` finds the installed rule set of a game, `joining` makes a node
that follows one; `read_key` and `read_secret` read files that only their owner may read.
"""

from __future__ import annotations

from weighbridge_services import game_rules, joining
from weighbridge_services.commands import Subparsers, group_of, parser_of
from weighbridge_services.output import clean, console, say_json
from weighbridge_services.secret_files import read_key, read_secret
from weighbridge_services.trying import More, add_dry_run

__all__ = [
    "More",
    "Subparsers",
    "add_dry_run",
    "clean",
    "console",
    "game_rules",
    "group_of",
    "joining",
    "parser_of",
    "read_key",
    "read_secret",
    "say_json",
]
