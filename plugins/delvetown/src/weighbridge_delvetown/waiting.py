"""Rulings on what is still pending: they wait until it has rolled."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Context, Table


def keep_waiting(table: Table, ask: str, what: str, ruling: dict[str, Any]) -> None:
    """Keep a ruling (`pick` or `rule`) until its ask (id) has rolled. A later one replaces an earlier."""
    table[f"wait/{ask}:{what}"] = ruling


def take_waiting(table: Table, ask: str, what: str) -> dict[str, Any] | None:
    """Return the ruling that waits for an ask, if any; it waits no longer."""
    found: dict[str, Any] | None = table.get(f"wait/{ask}:{what}")
    if found is not None:
        del table[f"wait/{ask}:{what}"]
    return found


def drop_waiting(table: Table, ctx: Context, ask: str) -> None:
    """Report what waited for an ask and turned out to answer nothing."""
    pick, rule = take_waiting(table, ask, "pick"), take_waiting(table, ask, "rule")
    if pick is not None:
        ctx.report(
            "bad-consequence", pick["uri"], "The roll came to owe nothing: the pick changes nothing (§4)."
        )
    if rule is not None:
        ctx.report("bad-ruling", rule["uri"], "The roll opened no question: the answer changes nothing (§9).")
