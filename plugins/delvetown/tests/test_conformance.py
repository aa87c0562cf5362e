"""Gangs of Delvetown held to the contract, its own scenario files included."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from weighbridge.conformance import RuleSetConformance
from weighbridge.contract import RuleSet
from weighbridge_delvetown import RULES


class TestDelvetown(RuleSetConformance):
    rules: ClassVar[RuleSet] = RULES
    scenarios: ClassVar[Path | None] = Path(__file__).parents[1] / "scenarios"
