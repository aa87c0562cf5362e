"""Random games."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Random


def random_game(random: Random) -> dict[str, Any]:
    """Return a random game as a scenario."""
    return {"ruleset": "delvetown", "root": {"gm": "@gm"}, "steps": []}
