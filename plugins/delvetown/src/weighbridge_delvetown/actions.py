"""The actions of §3, in three groups, and the twelve that a root may take instead."""

from __future__ import annotations

READING = ("fetch", "trace", "reckon", "audit")
MAKING = ("build", "draw", "mend", "keep")
DEALING = ("sway", "vouch", "bargain", "convene")
DELVETOWN = READING + MAKING + DEALING
BLADES = (
    "attune", "command", "consort", "finesse", "hunt", "prowl",
    "skirmish", "study", "survey", "sway", "tinker", "wreck",
)  # fmt: skip
NAMED = {"delvetown": DELVETOWN, "blades": BLADES}

XP_KINDS = ("lost-roll", "refused", "contradicted", "wont-guess", "drive")
"""§6: what earns XP."""
