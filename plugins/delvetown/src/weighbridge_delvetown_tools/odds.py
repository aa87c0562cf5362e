"""The chances of an ask that has not rolled, in the rule book's words."""

from __future__ import annotations

from collections.abc import Iterator

from weighbridge.dry_run import Tried
from weighbridge_delvetown.tools import odds

WORDS = {
    "failed": "fails (1–3)",
    "mixed": "succeeds with a consequence (4–5)",
    "clean": "clean (6)",
    "crit": "crit (6 6)",
}


def odds_of(tried: Tried) -> Iterator[str]:
    """Yield the chance of each result of an ask whose dice are not out yet."""
    if tried.outlook is None:
        return
    for change in tried.changes:
        if change.key.startswith("ask/") and isinstance(change.after, dict) and "pool" in change.after:
            pool = int(change.after["pool"])
            dice = (
                f"{pool} dice, the highest kept"
                if pool > 1
                else "1 die"
                if pool
                else "2 dice, the lower kept"
            )
            chances = " · ".join(f"{WORDS[result]} {chance}" for result, chance in odds(pool).items())
            yield f"with {dice}: {chances} (§4)"
