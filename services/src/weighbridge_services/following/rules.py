"""The rules in force, as far as a service beside the fold must know them: whose game it is, what may roll and when.

No fold is needed for that: root versions come from the log, and what a record may await is a pure function of
the record and the rules. This takes a root to hold that the fold makes wait for its quorum; what follows is a
checkpoint or a beacon that nobody had to have, and never an outcome.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from weighbridge.contract import Docket, Needs, RuleSet
from weighbridge.dice import round_after
from weighbridge.fold.records import DAY
from weighbridge.fold.roots import FLOODS, Root, read_root
from weighbridge.log.entries import Listed

UNKNOWN: Final = Needs(dice=("unknown",))
"""What a record awaits whose rule set fails on it: it may roll, for all that can be known beside the fold."""


EVIDENCE: Final = 256
"""How many authors' whole days one operator's evidence may be of: a witness says a word or two of each record."""


class Rules(msgspec.Struct, frozen=True):
    """The latest well-formed root and what the rule set made of it; None before there is one."""

    root: Root | None = None
    options: Any = None
    first: Root | None = None

    @property
    def floods(self) -> tuple[int, int]:
        """How many records a day's log holds: of one author, and of authors without standing."""
        if self.root is None:
            return FLOODS["author"], FLOODS["strangers"]
        return self.root.flood_author, self.root.flood_strangers

    @property
    def most_later(self) -> int:
        """How many of the records of authors without standing may be another than their author's first of the day."""
        return self.floods[1] - self.floods[1] // 4

    @property
    def most_evidence(self) -> int:
        """How many records of evidence of one operator a day's log holds."""
        return EVIDENCE * self.floods[0]

    @property
    def named(self) -> frozenset[str]:
        """Whom the root names: the GM, the lister, operators and witnesses."""
        root = self.root
        if root is None:
            return frozenset()
        policies = [policy.members() for policy in (root.policy, root.witnesses) if policy is not None]
        lister = () if root.lister is None else (root.lister,)
        return frozenset({root.gm, *lister, *(did for members in policies for did in members)})


def rules_after(rules: Rules, ruleset: RuleSet, value: object) -> Rules:
    """Return the rules in force after a version of the root was listed."""
    if not isinstance(value, dict):
        return rules
    root, problems = read_root(value, rules.first)
    try:
        options, more = ruleset.rules(value)
    except Exception:  # a rule set that fails on a root has not understood it
        return rules
    if root is None or problems or more:
        return rules
    return Rules(root, options, rules.first or root)


def docket_of(rules: Rules, ruleset: RuleSet, listed: Listed, value: Any) -> Docket | None:
    """Return the docket of a listed record that the rule set would judge, or None where it would not."""
    entry = listed.entry
    author, collection, rkey = (entry.uri or "at:////").removeprefix("at://").split("/")
    if collection not in ruleset.collections or rules.root is None or entry.record is None:
        return None
    if entry.op != "create" and collection not in ruleset.versions:
        return None
    return Docket(
        seq=entry.seq, at=entry.at, day=entry.at // DAY, uri=entry.uri or "", cid=entry.record, author=author,
        collection=collection, rkey=rkey, op="create" if entry.op == "create" else "update", value=value,
        rules=rules.options, gm=rules.root.gm,
    )  # fmt: skip


def needs_of(rules: Rules, ruleset: RuleSet, listed: Listed, value: Any) -> Needs:
    """Return the most that a listed record may await."""
    docket = docket_of(rules, ruleset, listed, value)
    if docket is None:
        return Needs()
    try:
        return ruleset.needs(docket, rules.options)
    except Exception:  # of a record with a shape that the rule set refuses, for one
        return UNKNOWN


def round_of(rules: Rules, needs: Needs, at: int) -> int | None:
    """Return the round that a record listed at a time rolls on, if its listing fixes that."""
    if rules.first is None or not needs.dice or needs is UNKNOWN:
        return None
    if needs.trace and needs.after == "trace":
        return None
    return round_after(rules.first.chain, at, rules.first.margin)
