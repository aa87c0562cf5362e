"""The conformance kit: what a plugin's tests subclass to hold their rule set to the contract.

from weighbridge.conformance import RuleSetConformance

class TestMyGame(RuleSetConformance):
    rules = RULES
    scenarios = Path(__file__).parent / "scenarios"
"""

from __future__ import annotations

from weighbridge.conformance.findings import Finding
from weighbridge.conformance.source import check_files, check_source
from weighbridge.conformance.suite import RuleSetConformance

__all__ = ["Finding", "RuleSetConformance", "check_files", "check_source"]
