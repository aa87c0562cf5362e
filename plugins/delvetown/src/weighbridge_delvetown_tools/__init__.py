"""`weighbridge delvetown`: the tools that the rule book speaks of. No part of the rule set, and of no pin."""

from __future__ import annotations

from weighbridge_services.for_plugins import Subparsers, add_dry_run, group_of

from weighbridge_delvetown_tools.about import add_about
from weighbridge_delvetown_tools.checking import add_check
from weighbridge_delvetown_tools.odds import odds_of
from weighbridge_delvetown_tools.writing import add_new


def register(subparsers: Subparsers) -> None:
    """Add the command `delvetown` with those below it."""
    group = group_of(
        subparsers, "delvetown", "sheets and moves of Gangs of Delvetown, tried before they are made"
    )
    sheet = group_of(group, "sheet", "check a sheet, or write one")
    add_check(sheet)
    add_new(sheet)
    add_dry_run(group, "delvetown", odds_of)
    add_about(group)
