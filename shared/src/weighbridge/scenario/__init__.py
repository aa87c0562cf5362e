"""Scenario files: one way to state a case for any rule set, and to fold it with no broker and no clock.

`load` reads a file, `run` lists its steps and folds them, `differences` compares the result with what the
file expects. What is wrong with the file itself is a `ScenarioWrong`, with its path.
"""

from __future__ import annotations

from weighbridge.scenario.expecting import Difference, differences
from weighbridge.scenario.listing import Listing
from weighbridge.scenario.mentions import account
from weighbridge.scenario.reading import load, read
from weighbridge.scenario.records import Records
from weighbridge.scenario.running import Result, run, trace_lines
from weighbridge.scenario.steps import Expect, Scenario
from weighbridge.scenario.wrong import ScenarioWrong

__all__ = [
    "Difference",
    "Expect",
    "Listing",
    "Records",
    "Result",
    "Scenario",
    "ScenarioWrong",
    "account",
    "differences",
    "load",
    "read",
    "run",
    "trace_lines",
]
