"""Gangs of Delvetown, a rule set for Weighbridge."""

from __future__ import annotations

from weighbridge_delvetown.credit import CREDIT
from weighbridge_delvetown.ruleset import RULES, Delvetown

__all__ = ["CREDIT", "RULES", "Delvetown"]
