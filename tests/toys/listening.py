"""A toy attachment: it hears of every flip of the coin and counts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weighbridge.contract import Attachment, Context, Effect, Event, Table


class Listening(Attachment):
    """Counts what it hears."""

    name = "listening"
    version = "1"

    def handle(
        self, table: Table, event: Event, settings: Mapping[str, Any], record: Any, ctx: Context
    ) -> Sequence[Effect]:
        table["heard/-"] = table.get("heard/-", 0) + 1
        return []


RULES = Listening()
