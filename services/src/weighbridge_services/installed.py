"""The rule sets that a command needs: those that a root, a scenario or an option names, and no others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from weighbridge import codec
from weighbridge.contract import Attachment, RuleSet
from weighbridge.errors import Refused
from weighbridge.fold import Fold, Resolve
from weighbridge.log.entries import Listed
from weighbridge.plugins import PinMismatch, Plugins, pin

RULESETS = "weighbridge.rulesets"


class NoRuleSet(Refused):
    """Nothing says which rule set a game has."""

    code = "no-rule-set"


def ruleset_named(name: str) -> RuleSet:
    """Return the rule set of that name. Errors: those of `weighbridge.plugins`."""
    return Plugins({RULESETS: [name]}).ruleset(name)


def attachments_for(root: Any) -> Mapping[str, Attachment]:
    """Return the attachments that a root's `fold.with` names, by name."""
    names = _attached(_fold_of(root))
    plugins = Plugins({RULESETS: names})
    return {name: plugins.attachment(name) for name in names}


class Rules(NamedTuple):
    """What a game is folded by, as `Fold` takes it."""

    ruleset: RuleSet
    attachments: Mapping[str, Attachment]
    pin: str
    resolve: Resolve


def fold_of(first: Listed, name: str | None) -> Fold:
    """Return the fold of the game whose first entry this is. Errors: those of `rules_of`."""
    found = rules_of(first, name)
    return Fold(
        first.entry.game,
        found.ruleset,
        attachments=found.attachments,
        pin=found.pin,
        resolve=found.resolve,
    )


def rules_of(first: Listed, name: str | None) -> Rules:
    """Return what folds the game whose first entry this is. Errors: those of `rules_of_root`."""
    return rules_of_root(codec.decode(first.record) if first.record is not None else None, name)


def rules_of_root(root: Any, name: str | None) -> Rules:
    """Return what folds the game of a root: the named rule set, or the root's own.

    Errors: `NoRuleSet`, and those of `weighbridge.plugins`, `PinMismatch` among them.
    """
    named = _fold_of(root)
    chosen = name if name is not None else named.get("name")
    if not isinstance(chosen, str):
        raise NoRuleSet("the root names no rule set (`fold.name`); name one with --ruleset")
    attachments = attachments_for(root)
    pins = {each: pin(attachment) for each, attachment in attachments.items()}

    def resolve(other: str | None, wanted: str | None) -> tuple[RuleSet, str]:
        ruleset = ruleset_named(chosen if other is None else other)
        here = str(pin(ruleset, pins))
        if wanted not in (None, here):
            raise PinMismatch(
                f"the root names {ruleset.name} with pin {wanted}, and here it has {here}; install the version that"
                " the root names",
                name=ruleset.name,
            )
        return ruleset, here

    wanted = named.get("pin") if chosen == named.get("name") else None
    ruleset, here = resolve(None, wanted if isinstance(wanted, str) else None)
    return Rules(ruleset, attachments, here, resolve)


def _fold_of(root: Any) -> Mapping[str, Any]:
    """Return a root's `fold`, or nothing where there is none to speak of: the fold itself reports a bad root."""
    found = root.get("fold") if isinstance(root, dict) else None
    return found if isinstance(found, dict) else {}


def _attached(fold: Mapping[str, Any]) -> list[str]:
    found = fold.get("with", [])
    several = found if isinstance(found, list) else [found]
    names = {each["name"] for each in several if isinstance(each, dict) and isinstance(each.get("name"), str)}
    return sorted(names)
