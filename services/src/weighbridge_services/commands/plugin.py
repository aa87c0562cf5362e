"""`weighbridge plugin`: what is installed here."""

from __future__ import annotations

import argparse
import importlib.metadata
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from weighbridge_services import commands
from weighbridge_services.commands import Subparsers, group_of, origin_of, parser_of
from weighbridge_services.output import clean, console, say_json

GROUPS = ("rulesets", "attachments", "audits", "sources", "tracers", "beacons", "commands")
LIST_TEXT = """Read from the packages' metadata; no plugin is imported. A name that two of them claim cannot
be used."""


def register(subparsers: Subparsers) -> None:
    """Add the commands."""
    group = group_of(subparsers, "plugin", "see which plugins are installed here, and pin one")
    listed = parser_of(group, "list", "list the plugins that are installed here", LIST_TEXT)
    listed.add_argument("--json", action="store_true", help="print JSON")
    listed.set_defaults(run=list_plugins)


def list_plugins(args: argparse.Namespace) -> int:
    """Run `plugin list`."""
    found = [as_json(group, point) for group in GROUPS for point in points(group)]
    claimed = [(each["group"], each["name"]) for each in found]
    own = {("commands", name) for name in commands.own_names()}
    for each, key in zip(found, claimed, strict=True):
        each["usable"] = claimed.count(key) == 1 and key not in own
    if args.json:
        say_json(found)
    else:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for column in ("kind", "name", "from", ""):
            table.add_column(column, overflow="fold")
        for each in found:
            note = "" if each["usable"] else "claimed twice: cannot be used"
            cells = (each["group"], each["name"], f"{each['distribution']} {each['version']}", note)
            table.add_row(*(Text(clean(cell)) for cell in cells))
        console().print(table)
    return 0


def points(group: str) -> list[importlib.metadata.EntryPoint]:
    """Return the entry points of one of our groups, by name."""
    return sorted(importlib.metadata.entry_points(group=f"weighbridge.{group}"), key=lambda point: point.name)


def as_json(group: str, point: importlib.metadata.EntryPoint) -> dict[str, Any]:
    """Return what is known of a plugin without importing it."""
    version = point.dist.version if point.dist else ""
    return {
        "group": group,
        "name": point.name,
        "distribution": origin_of(point),
        "version": version,
        "value": point.value,
    }
