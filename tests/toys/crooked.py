"""Rule sets that break the contract, each in one way, to show that the conformance kit sees it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, ClassVar

from coin import Coin
from weighbridge.contract import Context, Docket, Needs, Shape, Table, View


class Hashing(Coin):
    """What it writes differs from process to process."""

    def apply(self, table: Table, docket: Docket, ctx: Context) -> None:
        super().apply(table, docket, ctx)
        table["crooked/-"] = hash(docket.uri) % 1000


class Surroundings(Coin):
    """What it writes depends on where it runs."""

    def apply(self, table: Table, docket: Docket, ctx: Context) -> None:
        super().apply(table, docket, ctx)
        table["crooked/-"] = os.environ.get("TZ", "")


class Remembering(Coin):
    """It counts in itself, and not in a cell."""

    count = 0

    def judge(self, table: Table, docket: Docket, ctx: Context) -> Needs:
        self.count += 1
        table["crooked/-"] = self.count
        return super().judge(table, docket, ctx)


class Trusting(Coin):
    """It takes every record for well-formed."""

    def shape(self, collection: str, value: Any) -> Shape:
        return Shape()


class Blind(Coin):
    """It cannot show what it folds."""

    def view(self, table: Table) -> View:
        return View("", ())


class Foreign(Coin):
    """One of its collections has the Lexicon of another."""

    collections: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        **Coin.collections,
        "example.coin.note": Coin.collections["example.coin.move"],
    }


HASHING = Hashing()
SURROUNDINGS = Surroundings()
REMEMBERING = Remembering()
TRUSTING = Trusting()
BLIND = Blind()
FOREIGN = Foreign()
