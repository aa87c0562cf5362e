"""A little log-writer for the fold's tests: it lists records, ticks and evidence in order."""

from __future__ import annotations

from typing import Any

from weighbridge.cid import Cid
from weighbridge.codec import encode
from weighbridge.contract import RuleSet
from weighbridge.fold import Fold, Step
from weighbridge.log.entries import Listed, make_entry

SECOND = 1_000_000
MINUTE = 60 * SECOND
DAY = 86_400 * SECOND
START = 20_000 * DAY + 8 * 3_600 * SECOND
GM = "did:plc:gmgmgmgmgmgmgmgmgmgmgmgm"
ANN = "did:plc:annannannannannannannann"
BOB = "did:plc:bobbobbobbobbobbobbobbob"


def place(uri: str) -> str:
    _, _, did, collection, rkey = uri.split("/")
    return f"{collection}/{did}:{rkey}"


class Book:
    """Writes a log and folds it as it goes."""

    def __init__(
        self,
        ruleset: RuleSet,
        *,
        root: dict[str, Any] | None = None,
        prefix: str = "example.coin",
        **options: Any,
    ):
        self.game = f"at://{GM}/{prefix}.root/self"
        self.prefix = prefix
        self.now = START
        self.entries: list[Listed] = []
        self.steps: list[Step] = []
        self.fold = Fold(self.game, ruleset, **options)
        self._count = 0
        if root is not None:
            self.put(GM, "root", root, uri=self.game)

    def put(
        self,
        by: str,
        what: str,
        value: dict[str, Any],
        *,
        op: Any = "create",
        uri: str | None = None,
        wait: int = SECOND,
    ) -> str:
        self.now += wait
        self._count += 1
        collection = what if "." in what else f"{self.prefix}.{what}"
        uri = uri or f"at://{by}/{collection}/r{self._count}"
        if uri != self.game:
            value = {**value, "game": self.game}
        record = None if op == "delete" else encode(value)
        self.list(op=op, uri=uri, author=by, record=record)
        return uri

    def tick(self, wait: int = SECOND) -> None:
        self.now += wait
        self.list(op="tick")

    def state(self, subject: str, kind: str, **facts: Any) -> None:
        value = {"kind": kind, "subject": subject, **facts}
        self.put(GM, "network.weighbridge.scenario", value)

    def dice(self, subject: str, *values: int, timely: bool = True) -> None:
        self.state(subject, "dice", values=list(values), timely=timely)

    def list(self, **fields: Any) -> Step:
        previous = self.entries[-1] if self.entries else None
        listed = make_entry(previous, game=self.game, at=self.now, **fields)
        step = self.fold.fold(listed)
        self.entries.append(listed)
        self.steps.append(step)
        return step

    def reports(self, uri: str) -> list[str]:
        return sorted(self.fold.table.get(f"_/report/{place(uri)}", {}))

    def cells(self) -> dict[str, bytes]:
        return self.fold.world.cells.everything()


def refolded(book: Book, ruleset: RuleSet, **options: Any) -> list[tuple[Cid, bytes]]:
    fold = Fold(book.game, ruleset, **options)
    return [(step.delta_cid, step.leaf) for step in map(fold.fold, book.entries)]
