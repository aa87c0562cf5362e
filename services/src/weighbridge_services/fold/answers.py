"""What the fold answers: hashes, leaves, cells with their proof, the view, why. In the ledger's thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from weighbridge import codec
from weighbridge.errors import Refused
from weighbridge.fold import Fold, Root
from weighbridge.fold.grades import grade_of
from weighbridge.fold.operators import operator_of
from weighbridge.tree.keys import check_key

from weighbridge_services.config import GameTable
from weighbridge_services.fold.decide import QUESTION
from weighbridge_services.fold.runner import Runner
from weighbridge_services.fold.signing import Signing
from weighbridge_services.folding import asking
from weighbridge_services.folding.errors import BadQuestion
from weighbridge_services.folding.explaining import explain
from weighbridge_services.folding.players import me
from weighbridge_services.folding.statements import open_statement
from weighbridge_services.node import Node
from weighbridge_services.outcome import chain_label

BYTES: Final = 2 << 20
"""Bytes of one answer, above which the rest is left to the next."""

GRADES: Final = 4_096
"""Entries of one answer about grades."""

Answer = Callable[[bytes], bytes]


class Answers:
    """The answers of one game's fold."""

    def __init__(self, node: Node, runner: Runner, signing: Signing, table: GameTable) -> None:
        self._node = node
        self._runner = runner
        self._signing = signing
        self._table = table
        self._store = runner.store

    def all(self) -> dict[str, Answer]:
        """Return every answer by its name."""
        return {
            "status": self.status, "subtree": self.subtree, "leaf": self.leaf, "cell": self.cell, "view": self.view,
            "explain": self.explain, "me": self.me, "entries": self.entries, "stop": self.stop,
            "questions": self.questions, "grades": self.grades,
        }  # fmt: skip

    # --- the transcript ----------------------------------------------------------------------------------------

    def subtree(self, body: bytes) -> bytes:
        """Answer with the hash over some leaves."""
        asked = asking.question(body, asking.Subtree)
        self._store.era_named(asked.origin)
        tree = self._store.transcript(asked.origin).tree
        return codec.encode({"hash": tree.subtree_root(asked.start, asked.end)})

    def leaf(self, body: bytes) -> bytes:
        """Answer with a leaf: its entry, record and delta, the cells it changed, and the proof of its place."""
        asked = asking.question(body, asking.LeafOf)
        found = self._store.folded_at(asked.origin, asked.index)
        tree = self._store.transcript(asked.origin).tree
        size = asked.size or tree.size
        answer = {
            "leaf": found.leaf, "delta": found.delta, "cells": found.cells, "size": size,
            "proof": list(tree.inclusion(asked.index, size)),
            "entry": None if found.listed is None else found.listed.data,
            "record": None if found.listed is None else found.listed.record,
        }  # fmt: skip
        return codec.encode(answer)

    def entries(self, body: bytes) -> bytes:
        """Answer with folded entries from `start` on: for audits."""
        asked = asking.question(body, asking.Entries)
        found: list[dict[str, Any]] = []
        weight = 0
        for seq in range(asked.start, min(asked.start + max(asked.count, 0), self._store.folded)):
            era = self._store.era_of(seq)
            one = self._store.folded_at(era.origin, era.index_of(seq))
            if one.listed is None:
                break
            found.append(
                {
                    "entry": one.listed.data,
                    "record": one.listed.record,
                    "delta": one.delta,
                    "cells": one.cells,
                }
            )
            weight += (
                len(one.listed.data)
                + len(one.listed.record or b"")
                + sum(len(c or b"") for c in one.cells.values())
            )
            if weight > BYTES:
                break
        return codec.encode({"entries": found, "size": self._store.folded})

    # --- the table -----------------------------------------------------------------------------------------------

    def cell(self, body: bytes) -> bytes:
        """Answer with a cell's bytes and the tree's blocks that prove it, or its absence, under the state root."""
        asked = asking.question(body, asking.CellOf)
        try:
            check_key(asked.key)
        except Refused as refused:
            raise BadQuestion(refused.message) from refused
        fold = self._runner.fold
        answer = {
            "value": fold.world.cells.raw(asked.key), "proof": fold.prove(asked.key), "state": fold.state_root(),
            "size": fold.size, "origin": fold.origin,
        }  # fmt: skip
        return codec.encode(answer)

    def view(self, body: bytes) -> bytes:
        """Answer with the view of the table as the rule set gives it."""
        fold = self._runner.fold
        view = fold.world.ruleset.view(fold.table)
        return codec.encode({"view": msgspec.to_builtins(view), "size": fold.size, "at": fold.world.at})

    def explain(self, body: bytes) -> bytes:
        """Answer with every entry that changed a cell."""
        ruleset = self._runner.fold.world.ruleset
        found = explain(self._store, asking.question(body, asking.CellOf).key, ruleset)
        return codec.encode(found | {"chain": chain_label(self._runner.fold)})

    def grades(self, body: bytes) -> bytes:
        """Answer with the grade of each entry asked about, by the receipts folded so far; null where it has none."""
        fold, asked = self._runner.fold, asking.question(body, asking.Grades)
        grades = [grade_of(fold.world, seq) if 0 <= seq < fold.size else None for seq in asked.seqs[:GRADES]]
        return codec.encode({"grades": grades, "size": fold.size})

    def me(self, body: bytes) -> bytes:
        """Answer with what concerns one player."""
        return codec.encode(me(self._runner.fold, asking.question(body, asking.Me).did))

    def questions(self, body: bytes) -> bytes:
        """Answer with every question that is open, the oldest first."""
        fold = self._runner.fold
        cells = [{**cell, "id": key.removeprefix(QUESTION)} for key, cell in fold.table.items(QUESTION)]
        found = sorted(cells, key=lambda each: (each["asked"], each["id"]))
        return codec.encode({"questions": found, "size": fold.size, "at": fold.world.at})

    def status(self, body: bytes) -> bytes:
        """Answer with where the fold is, what falls due, what is awaited, who signs."""
        fold = self._runner.fold
        root = _root_of(fold)
        stopped = self._signing.stopped
        transcript = fold.transcript
        answer: dict[str, Any] = {
            "game": fold.game, "size": fold.size, "at": fold.world.at, "origin": fold.origin,
            "leaves": transcript.size, "root": transcript.root(), "origins": [era.origin for era in self._store.eras],
            "due": list(fold.due()), "pending": pending(fold), "chain": chain_label(fold),
            "cosigned": self._signing.newest, "says": self._signing.weaknesses(),
            "stopped": None if stopped is None else {"reason": stopped.reason, "says": stopped.says},
            "operators": operators(fold), "policy": _policy(root), "gm": None if root is None else root.gm,
            "lister": None if root is None else root.lister,
            "handed": [msgspec.to_builtins(each) for each in fold.world.lister_cell().handed],
        }  # fmt: skip
        return codec.encode(answer)

    # --- stopping --------------------------------------------------------------------------------------------------

    def stop(self, body: bytes) -> bytes:
        """Cosign no more, as this node's own signed `abstain` says. Nobody else can ask for that."""
        asked = asking.question(body, asking.Stop)
        own = self._node.operator_record(self._table.uri)
        statement = open_statement(asked.statement, self._table.uri, own).statement
        if statement.verdict != "abstain":
            raise BadQuestion(
                f"a node stops cosigning by an abstain of its own, not by {statement.verdict!r}"
            )
        self._signing.stop(statement.reason or "abstain", "; ".join(statement.says))
        return codec.encode({"stopped": True})


def pending(fold: Fold) -> list[dict[str, Any]]:
    """Return the dockets that await evidence, in listing order: what each awaits, and its round, once it is known."""
    found: list[dict[str, Any]] = []
    for each in fold.world.pendings.values():
        listed = fold.world.history.listed(each.seq)
        found.append(
            {
                "uri": each.uri, "cid": str(listed.entry.record), "seq": each.seq, "dice": list(each.dice),
                "round": each.round, "beacon": each.beacon is not None, "roll": each.roll,
                "trace": each.trace and each.verdict is None, "words": sorted(each.words),
            }
        )  # fmt: skip
    return found


def operators(fold: Fold) -> dict[str, dict[str, Any]]:
    """Return the operators whose records are in the log, by DID: each record's value."""
    found: dict[str, dict[str, Any]] = {}
    for key in fold.world.cells.keys("_/operator/"):
        did = key.removeprefix("_/operator/")
        operator = operator_of(fold.world, did)
        if operator is not None:
            found[did] = operator.value
    return found


def _root_of(fold: Fold) -> Root | None:
    held = fold.world.root_at(fold.world.seq)
    return None if held is None else held[0]


def _policy(root: Root | None) -> Mapping[str, Any] | None:
    return None if root is None or root.policy is None else root.policy.value()
