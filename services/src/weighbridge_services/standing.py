"""A game as it stands, wherever that is: a log in a file, a scenario file, or the folder of a node, running or not."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import msgspec
from weighbridge.errors import Refused
from weighbridge.fold import Fold
from weighbridge.log.entries import Listed
from weighbridge.scenario import Listing, Records, ScenarioWrong, account, load
from weighbridge.scenario.mentions import replace_key, replace_value

from weighbridge_services.installed import attachments_for, fold_of, ruleset_named
from weighbridge_services.logs import read_log

MAX_LINE = 2_000_000
"""Bytes of the first line that are looked at to tell a scenario from a log."""


class EmptyLog(Refused):
    """There is no entry to fold, and so no game."""

    code: ClassVar[str] = "empty-log"


class Names:
    """What the names of a scenario stand for: `@ann` and, in what a scenario names, `uri:a1` and `id:a1`."""

    def __init__(self, records: Records | None = None) -> None:
        self._records = records

    def value(self, value: Any) -> Any:
        """Return a JSON value with the names in it replaced; of a real game they are texts like any other."""
        return value if self._records is None else replace_value(value, self._stands_for)

    def key(self, key: str) -> str:
        """Return a cell's key with the names in it replaced."""
        return key if self._records is None else replace_key(key, self._stands_for)

    def _stands_for(self, kind: str, name: str) -> Any:
        if self._records is None or kind == "@":
            return account(name)
        place = self._records.places.get(name)
        if place is None:
            raise ScenarioWrong(f"nothing in the scenario is named {name}", path=f"{kind}{name}")
        if kind == "ref:":
            return {"uri": place.uri, "cid": str(self._records.cid(name))}
        return {"uri:": place.uri, "id:": place.id, "cid:": str(self._records.cid(name))}.get(kind, name)


class Standing(msgspec.Struct):
    """A game: `fold`, and the `entries` that it has not folded yet. Fold them to see it as it stands."""

    fold: Fold
    entries: Iterator[Listed]
    names: Names

    def to_the_end(self) -> Fold:
        """Fold what is left, and return the fold."""
        for listed in self.entries:
            self.fold.fold(listed)
        return self.fold


@contextmanager
def standing(
    path: Path, ruleset: str | None = None, game: str | None = None, *, whole: bool = False
) -> Generator[Standing]:
    """Open a game. `ruleset`: by name, where the root names none. `game`: which, of a node with several.

    `whole`: from its first entry on, where else a node's newest snapshot would do. Raises EmptyLog, NoGame, and what
    reading logs, scenarios and ledgers and loading plugins raises.
    """
    if path.is_dir():
        with _in_node(path, game, whole=whole) as found:
            yield found
    elif is_scenario(path):
        yield _in_scenario(path)
    else:
        yield _in_log(path, ruleset)


def is_scenario(path: Path) -> bool:
    """Whether a file is a scenario: JSON whose first line is not the whole of an entry, as a JSONL log's is."""
    with path.open("rb") as file:
        line = file.readline(MAX_LINE)
    if not line.lstrip().startswith(b"{"):
        return False
    try:
        value = msgspec.json.decode(line)
    except (ValueError, RecursionError):
        return len(line) < MAX_LINE
    return isinstance(value, dict) and "steps" in value


def _in_log(path: Path, ruleset: str | None) -> Standing:
    entries = read_log(path, "fold")
    first = next(entries, None)
    if first is None:
        raise EmptyLog(f"{path} holds no entry")
    return Standing(fold_of(first, ruleset), chain([first], entries), Names())


def _in_scenario(path: Path) -> Standing:
    scenario = load(path.read_bytes())
    ruleset, attachments = ruleset_named(scenario.ruleset), attachments_for(scenario.root)
    attached = [nsid for each in attachments.values() for nsid in each.collections]
    records = Records(scenario, ruleset.root, [*ruleset.collections, *attached])
    fold = Fold(records.game, ruleset, scenario=True, attachments=attachments)
    return Standing(fold, Listing(scenario, records).entries(), Names(records))


@contextmanager
def _in_node(folder: Path, game: str | None, *, whole: bool) -> Generator[Standing]:
    # Only here, so that a log or a scenario is looked at without what a node needs.
    from weighbridge_services.commands._games import game_in  # noqa: PLC0415
    from weighbridge_services.folding.reading import read_ledger  # noqa: PLC0415
    from weighbridge_services.folding.replaying import from_snapshot, from_start  # noqa: PLC0415
    from weighbridge_services.folding.rulesets import Configured  # noqa: PLC0415
    from weighbridge_services.folding.store import LEDGER, FoldStore  # noqa: PLC0415
    from weighbridge_services.node import Node  # noqa: PLC0415

    node = Node.open(folder)
    table = game_in(node, game)
    rulesets = Configured(node.config.plugins.rulesets, table.ruleset)
    with read_ledger(folder / "ledger" / f"{LEDGER}.db") as ledger:
        store = FoldStore(ledger, table.uri)
        start = from_start(store, rulesets) if whole else from_snapshot(store, rulesets, store.log.size)
        yield Standing(start.fold, store.log.entries(start.size, store.log.size), Names())
