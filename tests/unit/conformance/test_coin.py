"""The kit, held to a rule set that keeps to the contract."""

from __future__ import annotations

from pathlib import Path

from coin import RULES
from weighbridge.conformance import RuleSetConformance


class TestCoin(RuleSetConformance):
    rules = RULES
    scenarios = Path(__file__).parent / "scenarios"
    seeds = range(8)
