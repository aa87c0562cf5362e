"""Whether a record fits the game's rule set, said before it is published: what is published cannot be taken back."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from weighbridge.contract import Problem
from weighbridge.errors import Refused
from weighbridge.identity.policy import lint
from weighbridge.plugins import CannotRun
from weighbridge.repos import is_did
from weighbridge_services.for_plugins import clean, game_rules


class BadShape(Refused):
    """The record does not fit its type; the message has every problem with its path."""

    code = "bad-record-shape"


def check_fit(
    collection: str, value: Mapping[str, Any], root_of: str, ruleset: str | None, *, root: bool, force: bool
) -> None:
    """Hold a record against the Lexicon of its collection. Raises BadShape, unless forced.

    `root_of`: the collection of the game's root, which tells the rule set where `ruleset` does not name it; `root`:
    whether the record is a root. What is not checked is said on standard error.
    """
    try:
        rules = game_rules.rules_of_game(root_of, value if root else {}, ruleset)
    except (game_rules.NoRuleSet, CannotRun) as refusal:
        if ruleset is not None:
            raise
        _warn(f"not held against any rule set: {refusal.message}")
        return
    problems = rules.root_problems(value) if root and collection == rules.ruleset.root else ()
    shape = rules.shape(collection, value)
    if shape is None and not problems:
        known = ", ".join(rules.collections)
        problems = (Problem("$type", f"{rules.name} has no collection {collection}; it has {known}"),)
    elif shape is not None and not problems:
        problems = shape.problems
        _unknown(shape.unknown if not root else ())
    _judge(problems, force)
    if root:
        _lint(value)


def check_gm(root: Mapping[str, Any], did: str, *, force: bool) -> None:
    """Check that a root's GM is who publishes it: only the GM's rulings count. Raises BadShape, unless forced."""
    gm = root.get("gm")
    if not isinstance(gm, str) or not is_did(gm):
        _judge([Problem("$.gm", f"the GM's DID is missing or is no DID; it is to be yours, {did}")], force)
    elif gm != did:
        says = f"is {gm:.200}, and you publish as {did}: only that account's rulings would count"
        _judge([Problem("$.gm", says)], force)


def _unknown(paths: Sequence[str]) -> None:
    for path in paths:
        if path != "$.$type":
            _warn(f"{path}: a field that nobody knows; it is kept, and changes nothing")


def _lint(root: Mapping[str, Any]) -> None:
    """Say what of a root is well-formed and weak all the same."""
    if "lister" not in root:
        _warn("$.lister: nobody is named who lists this game; until a root names somebody there is no log")
    for name in ("policy", "witnesses"):
        for remark in lint(root[name], f"$.{name}")[1] if name in root else ():
            if not remark.fatal:
                _warn(f"{remark.path}: {remark.says}")


def _judge(problems: Sequence[Problem], force: bool) -> None:
    if not problems:
        return
    says = "; ".join(f"{each.path}: {each.says}" for each in problems)
    if not force:
        raise BadShape(
            f"the record does not fit, and is not published (--force would): {says}", problems=problems
        )
    _warn(f"published although it does not fit: {says}")


def _warn(text: str) -> None:
    print(clean(f"weighbridge: {text}"), file=sys.stderr)
