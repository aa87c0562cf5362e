"""Running a scenario: its steps listed, folded with no broker, no network and no clock, and what came out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import msgspec

from weighbridge.cid import Cid
from weighbridge.codec import to_json
from weighbridge.contract import Attachment, RuleSet, Table
from weighbridge.fold import Fold
from weighbridge.log.entries import Listed
from weighbridge.scenario.listing import Listing
from weighbridge.scenario.records import Records
from weighbridge.scenario.steps import Scenario
from weighbridge.scenario.wrong import wrong

REPORTS = "_/report/"
QUESTIONS = "_/question/"


class Folded(Protocol):
    """What folding one entry gives: the delta, and the CIDs by which others compare it."""

    @property
    def seq(self) -> int:
        """The entry's place."""
        ...

    @property
    def entry_cid(self) -> Cid:
        """The entry's CID."""
        ...

    @property
    def delta(self) -> tuple[tuple[str, Cid | None], ...]:
        """The cells that changed, by key: their CIDs, None where they are gone."""
        ...

    @property
    def delta_cid(self) -> Cid:
        """The CID of the delta."""
        ...


class Folding(Protocol):
    """A fold, as far as a scenario needs one."""

    @property
    def table(self) -> Table:
        """The table, for reading."""
        ...

    def fold(self, listed: Listed) -> Folded:
        """Fold the next entry."""
        ...

    def state_root(self) -> Cid:
        """Return the root of the tree over all cells."""
        ...


class Line(msgspec.Struct, frozen=True, rename={"state_root": "stateRoot"}):
    """What one step came to: the reports and questions that stand after it, and the root of all cells.

    `step` counts from 1, so that it equals `seq`: the root's entry is 0 and no step's. `reports` are codes by
    the record's name (its at-uri where it has none), `questions` are ids.
    """

    step: int
    seq: int
    entry: str
    delta: str
    state_root: str
    reports: dict[str, list[str]]
    questions: list[str]


class Result:
    """What a scenario came to, after its last step. All values are JSON, as `codec.to_json` gives them.

    `reports`: by record name, each code with its sentence; records without a report are not in it.
    `questions`: those open, `about` by the record's name where it has one. `cells`: all of them.
    """

    def __init__(self, scenario: Scenario, records: Records, progress: _Progress) -> None:
        table = progress.engine.table
        self.ruleset = scenario.ruleset
        self.records = records
        self.lines = progress.lines
        self.state_root = str(progress.engine.state_root())
        self.cells: dict[str, Any] = {
            key: to_json(table[key]) for key in sorted(progress.keys) if key in table
        }
        self.reports: dict[str, dict[str, str]] = {
            progress.name_of(key[len(REPORTS) :]): value
            for key, value in self.cells.items()
            if key.startswith(REPORTS)
        }
        uris = {place.uri: name for name, place in records.places.items()}
        self.questions: list[dict[str, Any]] = [
            {"id": key[len(QUESTIONS) :], **value, "about": uris.get(value["about"], value["about"])}
            for key, value in self.cells.items()
            if key.startswith(QUESTIONS)
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the result object of `weighbridge foldtest --json`."""
        uris = {name: place.uri for name, place in self.records.places.items()}
        return {
            "ruleset": self.ruleset,
            "game": self.records.game,
            "size": len(self.lines) + 1,
            "stateRoot": self.state_root,
            "names": {**self.records.accounts(), **uris},
            "reports": self.reports,
            "questions": self.questions,
            "cells": self.cells,
        }


def run(
    scenario: Scenario,
    ruleset: RuleSet,
    *,
    attachments: Mapping[str, Attachment] | None = None,
    pin: str = "scenario",
    fold: Callable[[str], Folding] | None = None,
) -> Result:
    """List and fold a scenario. `fold` makes another fold than the kernel's for a game (its at-uri).

    Raises `ScenarioWrong` where the file does not fit the rule set, or a value in it can be no record.
    """
    if scenario.ruleset != ruleset.name:
        wrong("$.ruleset", f"must be {ruleset.name!r}, the rule set that is to run it")
    attached = dict(attachments or {})
    records = Records(scenario, ruleset.root, _collections(ruleset, attached.values()))
    engine: Folding = (
        fold(records.game)
        if fold is not None
        else Fold(records.game, ruleset, scenario=True, attachments=attached, pin=pin)
    )
    progress = _Progress(engine, records)
    for listed in Listing(scenario, records).entries():
        progress.step(listed)
    return Result(scenario, records, progress)


def trace_lines(result: Result) -> Iterable[str]:
    """Yield one line of JSON for each step, as `weighbridge foldtest --trace` writes them."""
    for line in result.lines:
        yield json.dumps(msgspec.to_builtins(line), ensure_ascii=False, separators=(",", ":"))


def _collections(ruleset: RuleSet, attached: Iterable[Attachment]) -> list[str]:
    """The owner's collections come first: a last name that both have is the owner's."""
    return [*ruleset.collections, *(nsid for each in attached for nsid in each.collections)]


class _Progress:
    """A fold on its way through a scenario: the keys that stand, and a line for each step."""

    def __init__(self, engine: Folding, records: Records) -> None:
        self.engine = engine
        self.keys: set[str] = set()
        self.lines: list[Line] = []
        self._names = {place.cell: place.uri for place in records.puts.values()}
        self._names |= {place.cell: name for name, place in records.places.items()}
        self._reports: dict[str, list[str]] = {}
        self._questions: set[str] = set()

    def name_of(self, cell: str) -> str:
        """Return the name of a record (its at-uri where it has none) from the end of its report's key."""
        return self._names.get(cell, cell)

    def step(self, listed: Listed) -> None:
        """Fold one entry, and note what stands after it."""
        folded = self.engine.fold(listed)
        for key, cid in folded.delta:
            self._note(key, cid)
        if not listed.entry.seq:
            return
        line = Line(
            step=listed.entry.seq,
            seq=folded.seq,
            entry=str(folded.entry_cid),
            delta=str(folded.delta_cid),
            state_root=str(self.engine.state_root()),
            reports=dict(sorted(self._reports.items())),
            questions=sorted(self._questions),
        )
        self.lines.append(line)

    def _note(self, key: str, cid: Cid | None) -> None:
        (self.keys.discard if cid is None else self.keys.add)(key)
        if key.startswith(REPORTS):
            name = self.name_of(key[len(REPORTS) :])
            self._reports.pop(name, None)
            if cid is not None:
                self._reports[name] = sorted(self.engine.table[key])
        elif key.startswith(QUESTIONS):
            (self._questions.discard if cid is None else self._questions.add)(key[len(QUESTIONS) :])
