"""Load the plugins that a configuration names, and no others."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from weighbridge.cid import Cid
from weighbridge.contract import Attachment, RuleSet
from weighbridge.plugins.errors import PinMismatch, PluginBroken, PluginNameTaken, PluginUnknown
from weighbridge.plugins.finding import GROUPS, Found, find
from weighbridge.plugins.pins import Manifest, manifest, package_of

RULESETS = GROUPS[0]


class Listing(NamedTuple):
    """One installed plugin: what it calls itself, where it comes from, and whether this process runs it."""

    group: str
    name: str
    distribution: str
    version: str
    configured: bool
    loaded: bool


class Plugins:
    """The plugins of one process. `configured` maps each group to the names that may be loaded from it.

    Nothing is imported before it is asked for by name. The metadata is read once, at the start.
    """

    def __init__(self, configured: Mapping[str, Iterable[str]]) -> None:
        self._configured = {group: frozenset(names) for group, names in configured.items()}
        self._found = find({*GROUPS, *configured})
        self._loaded: dict[tuple[str, str], Any] = {}
        self._manifests: dict[str, Manifest] = {}

    def check(self) -> None:
        """Check that every configured name is there and claimed once, without importing it.

        For the start of a process. Errors: `PluginUnknown`, `PluginNameTaken`.
        """
        for group, names in sorted(self._configured.items()):
            for name in sorted(names):
                self._only(group, name)

    def list(self) -> list[Listing]:
        """Return all installed plugins, sorted by group, name and distribution."""
        return [
            Listing(
                one.group,
                one.name,
                one.distribution,
                one.version,
                one.name in self._configured.get(one.group, ()),
                (one.group, one.name) in self._loaded,
            )
            for one in self._found
        ]

    def load(self, group: str, name: str) -> Any:
        """Return what a configured plugin's entry point names, importing it the first time.

        A rule set's files are hashed when it is imported: what runs is what its pin says, also if they change
        later. Errors: `PluginUnknown`, `PluginNameTaken`, `PluginBroken`, `PluginUnpinnable`.
        """
        if (group, name) not in self._loaded:
            found = self._only(group, name)
            loaded = _imported(found)
            if group == RULESETS:
                self._manifests[name] = manifest(_rule_set(loaded, found))
            self._loaded[group, name] = loaded
        return self._loaded[group, name]

    def ruleset(self, name: str) -> RuleSet:
        """Return a rule set by name. Errors: as `load`; `PluginBroken` for an attachment."""
        loaded = self.load(RULESETS, name)
        if not isinstance(loaded, RuleSet):
            raise PluginBroken(
                f"{name} is an attachment and cannot own a game; name it in fold.with", name=name
            )
        return loaded

    def attachment(self, name: str, wanted: Cid | None = None) -> Attachment:
        """Return an attachment by name, with the pin that a root names for it; None: whatever pin is here.

        Errors: as `load`; `PinMismatch`; `PluginBroken` for what can only own a game.
        """
        loaded = self.load(RULESETS, name)
        if not isinstance(loaded, Attachment):
            raise PluginBroken(f"{name} is a rule set and no attachment; name it in fold.name", name=name)
        _hold(name, self.pin(name), wanted)
        return loaded

    def pin(self, name: str, attachments: Mapping[str, Cid] | None = None) -> Cid:
        """Return the pin of a rule set or an attachment by name. Errors: as `load`."""
        self.load(RULESETS, name)
        return self._manifests[name].pin(attachments)

    def resolve(self, name: str, wanted: Cid | None, attachments: Mapping[str, Cid] | None = None) -> RuleSet:
        """Return the rule set that a root names, with the pin it names; None: whatever pin is here.

        `attachments` are the pins of what `fold.with` attaches, by name. Errors: `PluginUnknown` and
        `PinMismatch`, both `CannotRun`; and those of `load`.
        """
        ruleset = self.ruleset(name)
        if wanted is not None:
            _hold(name, self.pin(name, attachments), wanted)
        return ruleset

    def _only(self, group: str, name: str) -> Found:
        found = [one for one in self._found if (one.group, one.name) == (group, name)]
        if not found or name not in self._configured.get(group, ()):
            raise self._unknown(group, name, installed=bool(found))
        if len(found) > 1:
            who = " and ".join(f"{one.distribution} {one.version}" for one in found)
            raise PluginNameTaken(
                f"{who} both claim the name {name!r} in {group}; uninstall one", group=group, name=name
            )
        return found[0]

    def _unknown(self, group: str, name: str, installed: bool) -> PluginUnknown:
        if installed:
            says = f"{name!r} of {group} is installed, and the configuration does not name it; add it there"
            return PluginUnknown(says, group=group, name=name)
        names = sorted({one.name for one in self._found if one.group == group})
        nearest = difflib.get_close_matches(name, names, n=3) or names[:3]
        hint = f"installed are {', '.join(nearest)}" if nearest else "nothing of this group is installed"
        return PluginUnknown(
            f"no plugin {name!r} in {group}: {hint}; install it, or correct the name", group=group, name=name
        )


def resolve(name: str, wanted: Cid | None, configured: Iterable[str]) -> RuleSet:
    """Return a rule set by name and pin, of those a configuration names. Errors: as `Plugins.resolve`."""
    return Plugins({RULESETS: configured}).resolve(name, wanted)


def _imported(found: Found) -> Any:
    try:
        return found.point.load()
    except Exception as error:  # a plugin may fail in any way; the process that needs it says so and stops
        raise PluginBroken(
            f"{found.name!r} of {found.group} ({found.distribution} {found.version}) cannot be imported: "
            f"{type(error).__name__}: {error}; repair or uninstall it",
            group=found.group,
            name=found.name,
        ) from error


def _rule_set(loaded: object, found: Found) -> RuleSet | Attachment:
    what = f"{found.point.value} of {found.distribution} {found.version}"
    if not isinstance(loaded, RuleSet | Attachment):
        raise PluginBroken(f"{what} is no instance of RuleSet or Attachment", name=found.name)
    if getattr(loaded, "name", None) != found.name:
        says = f"calls itself {getattr(loaded, 'name', None)!r} and its entry point {found.name!r}"
        raise PluginBroken(f"{what} {says}; they must agree", name=found.name)
    if package_of(loaded) != found.point.module.partition(".")[0]:
        says = f"is of a class in {package_of(loaded)}, which its pin would not cover"
        raise PluginBroken(f"{what} {says}; define it in its own package", name=found.name)
    return loaded


def _hold(name: str, here: Cid, wanted: Cid | None) -> None:
    if wanted is not None and here != wanted:
        raise PinMismatch(
            f"the root names {name} with pin {wanted}, and here it has {here}; install the version that the "
            "root names, or wait for a root that names this one",
            name=name,
            wanted=str(wanted),
            here=str(here),
        )
