"""What services share that read this node's own log: entries checked as the next, and the rules in force by them."""

from __future__ import annotations

from weighbridge_services.following.entries import LogReader, OwnLogDiffers, listed_in, remember
from weighbridge_services.following.rules import UNKNOWN, Rules, docket_of, needs_of, round_of, rules_after

__all__ = [
    "UNKNOWN",
    "LogReader",
    "OwnLogDiffers",
    "Rules",
    "docket_of",
    "listed_in",
    "needs_of",
    "remember",
    "round_of",
    "rules_after",
]
