"""The rule sets that a command needs: those that a root, a scenario or an option names, and no others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from weighbridge import codec
from weighbridge.contract import Attachment, RuleSet
from weighbridge.errors import Refused
from weighbridge.fold import Attach, Fold, FoldPin, Resolve, Resolved
from weighbridge.log.entries import Listed
from weighbridge.plugins import Plugins

from weighbridge_services.resolving import attachments_of, fold_in, resolved

RULESETS = "weighbridge.rulesets"


class NoRuleSet(Refused):
    """Nothing says which rule set a game has."""

    code = "no-rule-set"


def ruleset_named(name: str) -> RuleSet:
    """Return the rule set of that name. Errors: those of `weighbridge.plugins`."""
    return Plugins({RULESETS: [name]}).ruleset(name)


def attachments_for(root: Any) -> Mapping[str, Attachment]:
    """Return the attachments that a root's `fold.with` names, by name. Errors: those of `weighbridge.plugins`."""
    fold = fold_in(root)
    return attachments_of(_plugins_of(fold), fold)


def _plugins_of(fold: FoldPin) -> Plugins:
    named = {each["name"] for each in fold.attached} | ({fold.name} if fold.name is not None else set())
    return Plugins({RULESETS: sorted(named)})


class Rules(NamedTuple):
    """What a game is folded by, as `Fold` takes it."""

    ruleset: RuleSet
    attachments: Mapping[str, Attachment]
    pin: str
    resolve: Resolve
    attach: Attach


def fold_of(first: Listed, name: str | None) -> Fold:
    """Return the fold of the game whose first entry this is. Errors: those of `rules_of`."""
    found = rules_of(first, name)
    return Fold(first.entry.game, **found._asdict())


def rules_of(first: Listed, name: str | None) -> Rules:
    """Return what folds the game whose first entry this is. Errors: those of `rules_of_root`."""
    return rules_of_root(codec.decode(first.record) if first.record is not None else None, name)


def rules_of_root(root: Any, name: str | None) -> Rules:
    """Return what folds the game of a root: the named rule set, or the root's own.

    Errors: `NoRuleSet`, and those of `weighbridge.plugins`, `PinMismatch` among them.
    """
    named = fold_in(root)
    chosen = name if name is not None else named.name
    if chosen is None:
        raise NoRuleSet("the root names no rule set (`fold.name`); name one with --ruleset")

    def resolve(fold: FoldPin) -> Resolved:
        whole = FoldPin(fold.name or chosen, fold.pin, fold.attached)
        return resolved(_plugins_of(whole), whole)

    def attach(settings: Mapping[str, Any]) -> Attachment:
        fold = FoldPin(attached=(dict(settings),))
        return attachments_of(_plugins_of(fold), fold)[settings["name"]]

    wanted = named.pin if chosen == named.name else None
    ruleset, here, attachments = resolve(FoldPin(chosen, wanted, named.attached))
    return Rules(ruleset, attachments, here, resolve, attach)
