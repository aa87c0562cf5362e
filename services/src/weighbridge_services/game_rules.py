"""Which installed rule set a game has, seen from its root alone, and whether a record fits it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from weighbridge.contract import Attachment, Problem, RuleSet, Shape, check_shape
from weighbridge.errors import WeighbridgeError
from weighbridge.fold.roots import read_root
from weighbridge.plugins import Plugins, find

from weighbridge_services.installed import RULESETS, NoRuleSet, rules_of_root

__all__ = ["GameRules", "NoRuleSet", "problems_of_root", "rules_of_collection", "rules_of_game"]


class GameRules(NamedTuple):
    """A game's rule set as it is installed here: its name and pin, and what is attached, by name.

    `pin` is that of what is here; where the root names one, it is the same.
    """

    name: str
    pin: str
    ruleset: RuleSet
    attached: Mapping[str, Attachment]

    @property
    def collections(self) -> tuple[str, ...]:
        """The NSIDs of the game's records, sorted: the rule set's, the root's, and those of what is attached."""
        attached = [nsid for each in self.attached.values() for nsid in each.collections]
        return tuple(sorted({self.ruleset.root, *self.ruleset.collections, *attached}))

    def shape(self, collection: str, value: Any) -> Shape | None:
        """Say how a record fits its type; None where no Lexicon of the game is of that collection."""
        if collection in self.ruleset.collections:
            return self.ruleset.shape(collection, value)
        for each in self.attached.values():
            if collection in each.collections:
                return check_shape(each.collections[collection], value)
        return None

    def root_problems(self, value: Mapping[str, Any]) -> tuple[Problem, ...]:
        """Return what would make a root `bad-root`: the kernel's fields, the options, the shape."""
        return problems_of_root(self.ruleset, value)


def problems_of_root(ruleset: RuleSet, value: Mapping[str, Any]) -> tuple[Problem, ...]:
    """Return what would make a root of this rule set `bad-root`: the kernel's fields, the options, the shape."""
    problems = list(read_root(value, None)[1]) + list(ruleset.rules(value)[1])
    known = {each.path for each in problems}
    shape = ruleset.shape(ruleset.root, value)
    return (*problems, *(each for each in shape.problems if each.path not in known))


def rules_of_game(collection: str, root: Mapping[str, Any], name: str | None = None) -> GameRules:
    """Return the rule set of a game: the one named here, the root's own, or the only one with such a root.

    `collection`: the root's. Errors: `NoRuleSet`, and those of `weighbridge.plugins`: `PluginUnknown` where what the
    root names is not installed here, `PinMismatch` where it is with another pin.
    """
    fold = root.get("fold")
    own = fold.get("name") if isinstance(fold, dict) else None
    chosen = name if name is not None else own if isinstance(own, str) else _only(collection)
    found = rules_of_root(root, chosen)
    return GameRules(found.ruleset.name, found.pin, found.ruleset, found.attachments)


def rules_of_collection(collection: str, name: str | None = None) -> GameRules:
    """Return the rule set of a game of which only the root's collection is known. Errors: as `rules_of_game`."""
    return rules_of_game(collection, {}, name)


def _only(collection: str) -> str:
    """Return the one installed rule set whose games have roots of this collection. Raises NoRuleSet."""
    found = sorted({each.name for each in find((RULESETS,)) if _root_of(each.name) == collection})
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(found)
        raise NoRuleSet(f"several rule sets have roots of {collection} ({names}); name one with --ruleset")
    raise NoRuleSet(
        f"no rule set that is installed here has roots of {collection}; install the game's plugin, or name its rule"
        " set with --ruleset"
    )


def _root_of(name: str) -> str | None:
    try:
        loaded = Plugins({RULESETS: [name]}).load(RULESETS, name)
    except WeighbridgeError:
        # One that is broken, or claimed twice, is none that could be meant without being named.
        return None
    return loaded.root if isinstance(loaded, RuleSet) else None
