"""Folds a node's log again by whatever coin game is on the path: a rule set that has changed under its pin."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import coin
from weighbridge_services.folding.reading import read_ledger
from weighbridge_services.folding.refold import refold
from weighbridge_services.folding.rulesets import Running
from weighbridge_services.folding.store import FoldStore


class Changed:
    """The coin game as it is on the path, under the pin that the ledger has it by."""

    def __init__(self, pin: str) -> None:
        self._running = Running(coin.RULES, pin)

    def first(self, root: Any) -> Running:
        return self._running

    def named(self, root: Any, name: str | None, pin: str | None) -> Running:
        return self._running

    def attachments(self, root: Any) -> dict[str, Any]:
        return {}


folder, game, origin, size = sys.argv[1:]
with read_ledger(Path(folder) / "ledger" / "fold.db") as ledger:
    store = FoldStore(ledger, game)
    print(refold(store, Changed(store.era_named(origin).pin), origin, int(size)).hex())
