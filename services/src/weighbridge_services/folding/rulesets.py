"""Which rule set folds a game on this node: the one its root names, of those the configuration names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from weighbridge.cid import BadCid, Cid
from weighbridge.contract import Attachment, Problem, RuleSet
from weighbridge.fold import Fold, History, origin_of
from weighbridge.plugins import GROUPS, CannotRun, PinMismatch, Plugins


class Running(NamedTuple):
    """A rule set that runs here, and its pin as text."""

    ruleset: RuleSet
    pin: str


class RuleSets(Protocol):
    """Where a fold gets its rule sets from. Every method raises `CannotRun` for what is not here."""

    def first(self, root: Any) -> Running:
        """Return the rule set that the value of a game's first entry names."""
        ...

    def named(self, root: Any, name: str | None, pin: str | None) -> Running:
        """Return a rule set by name and pin; None: the game's own, and whatever pin is here."""
        ...

    def attachments(self, root: Any) -> Mapping[str, Attachment]:
        """Return what the first root attaches, by name."""
        ...


class Configured:
    """The rule sets that a node's configuration names; `default` is the one of a root that names none."""

    def __init__(self, configured: Iterable[str], default: str) -> None:
        self._plugins = Plugins({GROUPS[0]: configured})
        self._default = default

    def first(self, root: Any) -> Running:
        """Return the rule set that the value of a game's first entry names."""
        fold = fold_in(root)
        return self.named(root, _text(fold.get("name")), _text(fold.get("pin")))

    def named(self, root: Any, name: str | None, pin: str | None) -> Running:
        """Return a rule set by name and pin."""
        chosen = self._default if name is None else name
        pins = {each: self._plugins.pin(each) for each in attached_in(root)}
        ruleset = self._plugins.resolve(chosen, _cid(pin, chosen), pins)
        return Running(ruleset, str(self._plugins.pin(chosen, pins)))

    def attachments(self, root: Any) -> Mapping[str, Attachment]:
        """Return what the first root attaches, by name."""
        return {name: self._plugins.attachment(name) for name in attached_in(root)}


def begin(game: str, root: Any, rulesets: RuleSets, history: History, running: Running | None = None) -> Fold:
    """Return a fold of a game at its start, or, with `running`, one to restore into. Raises CannotRun.

    `root` is the value of the game's first entry.
    """
    chosen = rulesets.first(root) if running is None else running

    def resolve(name: str | None, pin: str | None) -> tuple[RuleSet, str]:
        try:
            return rulesets.named(root, name, pin)
        except CannotRun as error:
            if pin is None:
                raise
            # The entry that moves the game is still the old rule set's to fold; its transcript ends as everywhere.
            return Absent(name or chosen.ruleset.name, error), pin

    return Fold(
        game, chosen.ruleset, attachments=rulesets.attachments(root), pin=chosen.pin, history=history,
        resolve=resolve,
    )  # fmt: skip


class Absent(RuleSet):
    """Stands for a rule set that a root moves a game to and that is not here. It folds nothing."""

    def __init__(self, name: str, why: CannotRun) -> None:
        self.name = name  # type: ignore[misc]
        self.why = why

    def rules(self, root: Mapping[str, Any]) -> tuple[Any, tuple[Problem, ...]]:
        """Return no options and no problems: the root is in force, whatever its own rule set makes of it."""
        return None, ()


def wanted_origin(game: str, root: Any, default: str) -> str:
    """Return the origin of the transcript that a root asks for; what it leaves open is a `?`."""
    fold = fold_in(root)
    return origin_of(game, _text(fold.get("name")) or default, _text(fold.get("pin")) or "?")


def fold_in(root: Any) -> Mapping[str, Any]:
    """Return a root's `fold`, or nothing where there is none to speak of: the fold itself reports a bad root."""
    found = root.get("fold") if isinstance(root, dict) else None
    return found if isinstance(found, dict) else {}


def attached_in(root: Any) -> list[str]:
    """Return the names of what a root attaches."""
    found = fold_in(root).get("with", [])
    several = found if isinstance(found, list) else [found]
    return sorted({e["name"] for e in several if isinstance(e, dict) and isinstance(e.get("name"), str)})


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _cid(text: str | None, name: str) -> Cid | None:
    try:
        return None if text is None else Cid.parse(text)
    except BadCid as error:
        says = f"the root names {name} with a pin that is no CID: {text!r}"
        raise PinMismatch(says, name=name, wanted=text) from error
