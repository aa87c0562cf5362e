"""`weighbridge delvetown about`: what this is, and whom it owes."""

from __future__ import annotations

import argparse
import textwrap

from weighbridge.plugins import pin
from weighbridge_delvetown import CREDIT, RULES
from weighbridge_services.for_plugins import Subparsers, parser_of, say_json


def add_about(group: Subparsers) -> None:
    """Add the command."""
    parser = parser_of(group, "about", "say what this rule set is and what it is based on")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=about)


def about(args: argparse.Namespace) -> int:
    """Run `delvetown about`."""
    found = {"name": RULES.name, "version": RULES.version, "pin": str(pin(RULES)), "credit": CREDIT}
    if args.json:
        say_json(found)
    else:
        print(f"Gangs of Delvetown, rule set {found['name']} {found['version']}\npin {found['pin']}\n")
        print(textwrap.fill(CREDIT, 100))
    return 0
