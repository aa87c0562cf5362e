"""Which rule set folds a game on this node: the one its root names, of those the configuration names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from weighbridge.contract import Attachment, Problem, RuleSet
from weighbridge.fold import Attach, Fold, FoldPin, History, Resolve, Resolved, origin_of
from weighbridge.plugins import GROUPS, CannotRun, Plugins

from weighbridge_services.resolving import asked_pins, attachments_of, fold_in, resolved, root_of


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
        """Return a rule set by name and pin; None: the game's own, and whatever pin is here. `root`: what attaches."""
        ...

    def asked(self, root: Any) -> str:
        """Return the pin that a root without one asks for by what it attaches, whether that is here or not."""
        ...

    def attachments(self, root: Any) -> Mapping[str, Attachment]:
        """Return what a root attaches, by name."""
        ...


class Configured:
    """The rule sets that a node's configuration names; `default` is the one of a root that names none."""

    def __init__(self, configured: Iterable[str], default: str) -> None:
        self._plugins = Plugins({GROUPS[0]: configured})
        self._default = default

    def first(self, root: Any) -> Running:
        """Return the rule set that the value of a game's first entry names."""
        fold = fold_in(root)
        return self.named(root, fold.name, fold.pin)

    def named(self, root: Any, name: str | None, pin: str | None) -> Running:
        """Return a rule set by name and pin."""
        attached = fold_in(root).attached
        ruleset, found, _ = resolved(self._plugins, FoldPin(name or self._default, pin, attached))
        return Running(ruleset, found)

    def asked(self, root: Any) -> str:
        """Return the pin that a root without one asks for."""
        fold = fold_in(root)
        return str(self._plugins.pin(fold.name or self._default, asked_pins(self._plugins, fold)))

    def attachments(self, root: Any) -> Mapping[str, Attachment]:
        """Return what a root attaches, by name."""
        return attachments_of(self._plugins, fold_in(root))


def resolver(rulesets: RuleSets) -> Resolve:
    """Return what finds a game's next rule set. Raises CannotRun for what is not here."""

    def resolve(fold: FoldPin) -> Resolved:
        root = root_of(fold)
        ruleset, pin = rulesets.named(root, fold.name, fold.pin)
        return Resolved(ruleset, pin, rulesets.attachments(root))

    return resolve


def attacher(rulesets: RuleSets) -> Attach:
    """Return what finds something that a later root attaches. Raises CannotRun for what is not here."""

    def attach(settings: Mapping[str, Any]) -> Attachment:
        return rulesets.attachments({"fold": {"with": [settings]}})[settings["name"]]

    return attach


def begin(game: str, root: Any, rulesets: RuleSets, history: History, running: Running | None = None) -> Fold:
    """Return a fold of a game at its start, or, with `running`, one to restore into. Raises CannotRun.

    `root` is the value of the game's first entry, or of the root in force where the fold is restored.
    """
    chosen = rulesets.first(root) if running is None else running
    find = resolver(rulesets)

    def resolve(fold: FoldPin) -> Resolved:
        try:
            return find(fold)
        except CannotRun as error:
            # The entry that moves the game is still the old rule set's to fold; its transcript ends as everywhere.
            pin = fold.pin or rulesets.asked(root_of(fold))
            return Resolved(Absent(fold.name or chosen.ruleset.name, error), pin, {})

    return Fold(
        game, chosen.ruleset, attachments=rulesets.attachments(root), pin=chosen.pin, history=history,
        resolve=resolve, attach=attacher(rulesets),
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
    return origin_of(game, fold.name or default, fold.pin or "?")
