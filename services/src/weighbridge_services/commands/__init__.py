"""The commands of `weighbridge`: adding one is adding a module here.

Each public module has `register(subparsers)`, which adds its parser and sets its `run`, a function from the
parsed arguments to an exit code. A plugin adds a command through the entry-point group
`weighbridge.commands`: the entry point's name is the command's, its object such a `register`. It is imported
when it is called for.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import pkgutil
from typing import TYPE_CHECKING, Any

from weighbridge.errors import Broken

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # pyright: ignore[reportPrivateUsage]
else:
    Subparsers = Any

GROUP = "weighbridge.commands"


class CommandBroken(Broken):
    """A plugin's command cannot be used: its name is taken, or its code cannot be imported."""

    code = "command-broken"


def parser_of(subparsers: Subparsers, name: str, summary: str, text: str = "") -> argparse.ArgumentParser:
    """Add the parser of a command: its one-line `summary` for the list, and more `text` for its own help."""
    return subparsers.add_parser(
        name,
        help=summary,
        description=f"{summary[:1].upper()}{summary[1:]}.{text and chr(10) * 2 + text}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def group_of(subparsers: Subparsers, name: str, summary: str) -> Subparsers:
    """Add a command that only has commands below it."""
    return parser_of(subparsers, name, summary).add_subparsers(metavar="COMMAND", required=True)


def register_own(subparsers: Subparsers, asked: str | None = None) -> None:
    """Register the module that is named like the command asked for, or else all of them, sorted by name."""
    names = own_names()
    if asked in names:
        # Only what is called for is imported: a command starts in no more time than it needs.
        names = [asked]
    for name in names:
        importlib.import_module(f"{__name__}.{name.replace('-', '_')}").register(subparsers)


def own_names() -> list[str]:
    """Return the names of our own commands, sorted: this package's public modules, with - for _."""
    modules = (module.name for module in pkgutil.iter_modules(__path__))
    return [name.replace("_", "-") for name in modules if not name.startswith("_")]


def register_plugins(subparsers: Subparsers, asked: str | None) -> None:
    """List the commands of installed plugins, and import the one that is asked for."""
    for name, points in sorted(_by_name().items()):
        if name in subparsers.choices:
            continue  # our own commands are never a plugin's; `plugin list` names who claims one
        origins = sorted({origin_of(point) for point in points})
        if name != asked:
            parser_of(subparsers, name, f"from the plugin {' and '.join(origins)}")
        elif len(points) > 1:
            raise CommandBroken(
                f"two plugins claim the command {name!r} ({', '.join(origins)}); uninstall one"
            )
        else:
            _load(points[0])(subparsers)


def origin_of(point: importlib.metadata.EntryPoint) -> str:
    """Return the distribution that an entry point comes from."""
    return point.dist.name if point.dist else point.module


def _by_name() -> dict[str, list[importlib.metadata.EntryPoint]]:
    found: dict[str, list[importlib.metadata.EntryPoint]] = {}
    for point in importlib.metadata.entry_points(group=GROUP):
        found.setdefault(point.name, []).append(point)
    return found


def _load(point: importlib.metadata.EntryPoint) -> Any:
    try:
        return point.load()
    except (ImportError, AttributeError) as error:
        raise CommandBroken(
            f"the command {point.name!r} cannot be imported from {point.value}: {error}; reinstall the plugin"
        ) from error
