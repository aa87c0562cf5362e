"""What a scenario file says about its own names: each is given once, and stands for something."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.lexicon.paths import below
from weighbridge.scenario import steps as s
from weighbridge.scenario.mentions import Known, check_account, check_key, check_value, is_name
from weighbridge.scenario.wrong import wrong


def check_names(scenario: s.Scenario) -> None:
    """Check that every name mentioned is that of something, and that records are changed by who put them."""
    known = Known(records={"root"}, seals=set(scenario.seals))
    for at, step in enumerate(scenario.steps):
        if isinstance(step, s.Put) and step.name is not None:
            if not is_name(step.name) or step.name == "root":
                wrong(f"$.steps[{at}].as", "must be of ASCII letters, digits, _ and -, and not root")
            if step.name in known.records:
                wrong(f"$.steps[{at}].as", f"is the second record put as {step.name}")
            known.records.add(step.name)
    check_value(scenario.root, "$.root", known)
    for name, seal in scenario.seals.items():
        path = below("$.seals", name)
        check_account(seal.by, f"{path}.by")
        check_value([list(seal.slot), seal.value], path, known)
    _step_names(scenario, known)
    _expect_names(scenario.expect, known)


def _step_names(scenario: s.Scenario, known: Known) -> None:
    authors: dict[str, str | None] = {"root": None}
    deleted: set[str] = set()
    for at, step in enumerate(scenario.steps):
        path = f"$.steps[{at}]"
        if isinstance(step, s.Put | s.Update | s.Delete):
            check_account(step.by, f"{path}.by")
        if isinstance(step, s.Put | s.Update):
            check_value(step.value, f"{path}.value", known)
        if isinstance(step, s.Put) and step.name is not None:
            authors[step.name] = step.by
        elif isinstance(step, s.Update | s.Delete):
            _change(step, path, authors, deleted)
        elif (
            isinstance(step, s.Traced | s.Rolled | s.Beaconed | s.Received) and step.name not in known.records
        ):
            wrong(path, f"is about {step.name!r}, and no record is put as that")
        if isinstance(step, s.Received):
            for n, operator in enumerate(step.operators):
                check_account(operator, f"{path}.receipt[{n}]")


def _change(
    step: s.Update | s.Delete, path: str, authors: Mapping[str, str | None], deleted: set[str]
) -> None:
    if step.name not in authors:
        wrong(path, f"is about {step.name!r}, and no record has been put as that by then")
    author = authors[step.name]
    if author is not None and step.by != author:
        wrong(f"{path}.by", f"must be {author}, who put it: a record is changed by its author")
    if isinstance(step, s.Update):
        deleted.discard(step.name)
    elif step.name in deleted:
        wrong(f"{path}.delete", "is already deleted")
    else:
        deleted.add(step.name)


def _expect_names(expect: s.Expect, known: Known) -> None:
    for key, value in (expect.cells or {}).items():
        path = below("$.expect.cells", key)
        check_key(key, path, known)
        check_value(value, path, known)
    for at, key in enumerate(expect.no_cells or ()):
        check_key(key, f"$.expect.noCells[{at}]", known)
    for name in expect.reports or {}:
        if name not in known.records:
            wrong(below("$.expect.reports", name), "names no record that is put")
    for at, question in enumerate(expect.questions or ()):
        path = f"$.expect.questions[{at}]"
        check_value({key: each for key, each in question.items() if key != "about"}, path, known)
        if "about" in question and question["about"] not in known.records:
            wrong(f"{path}.about", "names no record that is put")
