"""What a plugin's own command may use of the command line, and the only module of it that a plugin imports.

The entry-point group is `weighbridge.commands`, an entry point's name the command's, its object a
`register(subparsers)`. Exit codes: 0 done, and it holds; 1 it does not hold; 2 refused input. A `WeighbridgeError` that
is raised becomes one line and its code.
"""

from __future__ import annotations

from weighbridge_services.commands import Subparsers, group_of, parser_of
from weighbridge_services.output import clean, say_json
from weighbridge_services.trying import More, add_dry_run

__all__ = ["More", "Subparsers", "add_dry_run", "clean", "group_of", "parser_of", "say_json"]
