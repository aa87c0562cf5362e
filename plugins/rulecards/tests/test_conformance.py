"""Rule cards held to the contract, their own scenario files included."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from weighbridge.conformance import RuleSetConformance
from weighbridge.contract import RuleSet
from weighbridge_rulecards import RULES


class TestRuleCards(RuleSetConformance):
    rules: ClassVar[RuleSet] = RULES
    scenarios: ClassVar[Path | None] = Path(__file__).parents[1] / "scenarios"
