"""From what a root's `fold` names to the code that folds: the rule set, and what it attaches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from weighbridge.contract import Attachment, Problem, RuleSet
from weighbridge.fold.roots import FoldPin


class Resolved(NamedTuple):
    """What folds a game: the rule set, its pin (which covers the pins of what is attached), and the attachments."""

    ruleset: RuleSet
    pin: str
    attachments: Mapping[str, Attachment]


Resolve = Callable[[FoldPin], Resolved]
"""Returns what a node runs for a root. Raises what says that it is not here: no outcome, but the end of folding."""

Attach = Callable[[Mapping[str, Any]], Attachment]
"""Returns what one of a root's `fold.with` names, for a name that was not attached before. Raises as `Resolve`."""


def attached_pins(fold: FoldPin) -> dict[str, str | None]:
    """Return the names of what a root attaches, and the pin of each where it names one."""
    found: dict[str, str | None] = {}
    for settings in fold.attached:
        name = settings["name"]
        found[name] = settings.get("pin") or found.get(name)
    return found


def names_another(before: FoldPin | None, after: FoldPin, ruleset: str, pin: str) -> bool:
    """Whether a root that came into force may be folded by other code: by what it names, or by what it attaches."""
    if after.pin not in (None, pin) or after.name not in (None, ruleset):
        return True
    return before is not None and attached_pins(before) != attached_pins(after)


def contradictions(before: FoldPin, after: FoldPin, pin: str) -> list[Problem]:
    """Return what is wrong with a root that attaches something else under the very pin that is in force.

    Nobody could run that: a rule set's pin covers what is attached to it.
    """
    if after.pin != pin or attached_pins(before) == attached_pins(after):
        return []
    says = "is covered by fold.pin, which names the same as before: name the pin that goes with what is attached now"
    return [Problem("$.fold.with", says)]
