"""Rule cards, a rule set for Weighbridge: when this happens, then that."""

from __future__ import annotations

from weighbridge_rulecards.cards import parse, render
from weighbridge_rulecards.pickers import options_at
from weighbridge_rulecards.rules import Rules, read_rules
from weighbridge_rulecards.ruleset import RULES, RuleCards
from weighbridge_rulecards.schemas import CARDS_SCHEMA, SYSTEM_SCHEMA
from weighbridge_rulecards.system_reading import read_system

__all__ = [
    "CARDS_SCHEMA",
    "RULES",
    "SYSTEM_SCHEMA",
    "RuleCards",
    "Rules",
    "options_at",
    "parse",
    "read_rules",
    "read_system",
    "render",
]
