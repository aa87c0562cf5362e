"""`weighbridge plugin`: what is installed here, and what exactly a rule set is."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text
from weighbridge.plugins import GROUPS, Found, Plugins, find
from weighbridge.plugins.pins import manifest, pin

from weighbridge_services import commands
from weighbridge_services.commands import Subparsers, group_of, parser_of
from weighbridge_services.output import clean, console, say_json

RULESETS = GROUPS[0]
LIST_TEXT = """Read from the packages' metadata; no plugin is imported. A name that two of them claim cannot
be used."""
PIN_TEXT = """A rule set is chosen by name and pin: the CID over every source file of its package, the version
of the contract, and each module beyond it that the rule set imports. It is the same from a wheel, an sdist
or an editable install. --attach names what the game attaches, whose pins are part of it."""


def register(subparsers: Subparsers) -> None:
    """Add the commands."""
    group = group_of(subparsers, "plugin", "see which plugins are installed here, and pin one")
    listed = parser_of(group, "list", "list the plugins that are installed here", LIST_TEXT)
    listed.add_argument("--json", action="store_true", help="print JSON")
    listed.set_defaults(run=list_plugins)
    pinned = parser_of(group, "pin", "print the pin of a rule set", PIN_TEXT)
    pinned.add_argument("name", metavar="NAME")
    pinned.add_argument("--attach", metavar="NAME", action="append", default=[], help="may be given again")
    pinned.add_argument("--json", action="store_true", help="print the pin and all that it covers as JSON")
    pinned.set_defaults(run=pin_plugin)


def list_plugins(args: argparse.Namespace) -> int:
    """Run `plugin list`."""
    found = find((*GROUPS, commands.GROUP))
    claims = Counter((each.group, each.name) for each in found)
    claims.update((commands.GROUP, name) for name in commands.own_names())
    listed = [as_json(each, usable=claims[each.group, each.name] == 1) for each in found]
    if args.json:
        say_json(listed)
    else:
        console().print(table_of(listed))
    return 0


def pin_plugin(args: argparse.Namespace) -> int:
    """Run `plugin pin`."""
    plugins = Plugins({RULESETS: [args.name, *args.attach]})
    attached = {name: pin(plugins.attachment(name)) for name in args.attach}
    whole = manifest(plugins.load(RULESETS, args.name))
    found = str(whole.pin(attached))
    if args.json:
        say_json(
            {
                "name": args.name,
                "pin": found,
                "files": {path: digest.hex() for path, digest in whole.files.items()},
                "thirdParty": {name: digest.hex() for name, digest in whole.third_party.items()},
                "attachments": {name: str(each) for name, each in attached.items()},
            }
        )
    else:
        print(found)
    return 0


def as_json(found: Found, usable: bool) -> dict[str, Any]:
    """Return what is known of a plugin without importing it."""
    return {
        "group": found.group,
        "name": found.name,
        "distribution": found.distribution,
        "version": found.version,
        "value": found.point.value,
        "usable": usable,
    }


def table_of(listed: list[dict[str, Any]]) -> Table:
    """Return the plugins as a table for a terminal."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("group", "name", "from", ""):
        table.add_column(column, overflow="fold")
    for each in listed:
        note = "" if each["usable"] else "claimed twice: cannot be used"
        cells = (each["group"], each["name"], f"{each['distribution']} {each['version']}", note)
        table.add_row(*(Text(clean(cell)) for cell in cells))
    return table
