"""The plugins that are installed here, by the names that roots and scenarios use."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from typing import Any

from weighbridge import codec
from weighbridge.contract import Attachment, RuleSet
from weighbridge.errors import Refused
from weighbridge.fold import Fold
from weighbridge.log.entries import Listed


class NoRuleSet(Refused):
    """The rule set that is named, or would have to be, is not installed here."""

    code = "no-rule-set"


def ruleset_named(name: str) -> RuleSet:
    """Return the rule set of that name."""
    found = importlib.metadata.entry_points(group="weighbridge.rulesets", name=name)
    for point in found:
        ruleset: RuleSet = point.load()
        return ruleset
    raise NoRuleSet(f"no rule set {name!r} is installed here; `weighbridge plugin list` shows which are")


def attachments_for(root: Any) -> Mapping[str, Attachment]:
    """Return the attachments that a root's `fold.with` names, by name."""
    return {}


def fold_of(first: Listed, name: str | None) -> Fold:
    """Return the fold of the game whose first entry this is, by the named rule set or the root's own."""
    root: Any = codec.decode(first.record) if first.record is not None else {}
    named = root.get("fold") if isinstance(root, dict) else None
    name = name or (named.get("name") if isinstance(named, dict) else None)
    if not isinstance(name, str):
        raise NoRuleSet("the root names no rule set (`fold.name`); name one with --ruleset")
    return Fold(first.entry.game, ruleset_named(name), attachments=attachments_for(root))
