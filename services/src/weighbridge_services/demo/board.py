"""The demo's last page: the board, the newest rolls with their proof, who was caught, and what to try next."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from shutil import which
from typing import Any, Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text
from weighbridge.chain import QUICKNET, round_time

from weighbridge_services.commands import own_names
from weighbridge_services.demo.cast import name_of
from weighbridge_services.demo.caught import Caught, fields_of
from weighbridge_services.demo.checking import Roll
from weighbridge_services.demo.crooked import CHANGE
from weighbridge_services.demo.driver import Outcome
from weighbridge_services.demo.nodes import CROOK, LISTER
from weighbridge_services.outcome import questions
from weighbridge_services.output import clean, console
from weighbridge_services.render import page

LAST: Final = 8
"""Rolls that are shown with their proof."""
SECOND: Final = 1_000_000


def show(outcome: Outcome, kept: Path | None) -> None:
    """Print the page."""
    screen = console()
    fold = outcome.checked.fold
    page(fold.world.ruleset.view(fold.table), screen)
    _proofs(outcome, screen)
    _desk(outcome, screen)
    _agreement(outcome, screen)
    _caught(outcome, screen)
    _next(outcome, kept, screen)


def as_json(outcome: Outcome) -> dict[str, Any]:
    """Return what `demo --json` prints."""
    agreed, caught, operators = outcome.agreed, outcome.caught, outcome.operators
    return {
        "agreed": {
            "size": agreed.statement.size,
            "root": agreed.statement.root.hex(),
            "operators": [operators.name_of(did) for did in agreed.operators],
        },
        "caught": {
            "operator": operators.name_of(caught.about),
            "entry": caught.entry,
            "cells": [difference.key for difference in caught.cells],
        },
        "diceVerified": outcome.checked.dice,
        "seconds": round(outcome.seconds, 1),
    }


# --- parts ---------------------------------------------------------------------------------------------------


def _heading(text: str, screen: Console) -> None:
    screen.print(Text(f"\n{text}", style="bold"))


def _line(text: str, screen: Console) -> None:
    screen.print(Text(clean(text)), soft_wrap=True)


def _proofs(outcome: Outcome, screen: Console) -> None:
    _heading("Their proof", screen)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("Entry", "Who", "What", "Listed (UTC)", "Round", "Out at", "Signature", "Dice"):
        table.add_column(column)
    for roll in reversed(outcome.checked.rolls[-LAST:]):
        table.add_row(*(Text(clean(cell)) for cell in _proof(roll)))
    screen.print(table)
    says = (
        f"Each of the {outcome.checked.dice} dice follows from a beacon of the League of Entropy that was published"
        " after the ask was listed and receipted; all were worked out again here, and every beacon's signature"
        " checked against quicknet's public key. (The season is a recording: who wrote it could look these rounds"
        " up. In a live game nobody can, as the round does not exist when the ask is listed.)"
    )
    screen.print(Text(says))


def _proof(roll: Roll) -> tuple[str, ...]:
    who, _, key = roll.uri.removeprefix("at://").split("/")
    listed = datetime.fromtimestamp(roll.at // SECOND, UTC).strftime("%d %b %H:%M:%S")
    due = datetime.fromtimestamp(round_time(QUICKNET, roll.round), UTC).strftime("%H:%M:%S")
    faces = " ".join(str(face) for face in roll.faces)
    what = key if roll.purpose == "ask" else f"{key} (resist)"
    return (
        str(roll.seq),
        name_of(who),
        what,
        listed,
        str(roll.round),
        due,
        f"{roll.signature.hex()[:12]}…",
        faces,
    )


def _desk(outcome: Outcome, screen: Console) -> None:
    found = list(questions(outcome.checked.fold.table))
    _heading(f"On the GM's desk: {len(found)} open questions", screen)
    for question in found:
        about = question["about"].rpartition("/")[2]
        options = " / ".join(question.get("options") or ("a line of text",))
        default = f", else {question['default']}" if question.get("default") else ""
        _line(f"  {question['kind']} of {about}: {options}{default}", screen)


def _agreement(outcome: Outcome, screen: Console) -> None:
    agreed, operators = outcome.agreed, outcome.operators
    statement = agreed.statement
    _heading("Agreed", screen)
    names = ", ".join(operators.name_of(did) for did in agreed.operators)
    _line(
        f"{len(agreed.operators)} of {len(operators.named)} operators ({operators.quorum} suffice) cosigned: {names}",
        screen,
    )
    _line(f"transcript  {statement.size} leaves, root {statement.root.hex()}", screen)
    for each in outcome.rejected:
        _line(f"rejected    {each['code']}: {each['says']}", screen)


def _caught(outcome: Outcome, screen: Console) -> None:
    caught, operators = outcome.caught, outcome.operators
    _heading("Caught", screen)
    by = operators.name_of(caught.by)
    _line(
        f"{CROOK} changed one constant in its copy of the rules: {CHANGE.says}; and it lied about its pin.",
        screen,
    )
    _line(
        f"{by} found the first entry that differs, {caught.exchanges} exchanges later: {_where(caught)}",
        screen,
    )
    for difference in caught.cells:
        for field, ours, theirs in fields_of(difference):
            name = f"{_cell(difference.key)}{f' .{field}' if field else ''}"
            _line(f"  {name}: {ours} says {by}, {theirs} says {CROOK}", screen)


def _where(caught: Caught) -> str:
    return f"entry {caught.entry}" + ("" if caught.uri is None else f", {caught.uri}")


def _cell(key: str) -> str:
    did = key.partition("/")[2].partition("/")[0]
    return f"{key} ({name_of(did)})" if did.startswith("did:") else key


def _next(outcome: Outcome, kept: Path | None, screen: Console) -> None:
    _heading("Try next", screen)
    own = own_command()
    if kept is None:
        _line(f"  {own} demo --keep demo        the same again, and everything stays in ./demo", screen)
        _line(
            f"  {own} demo --live             a table that plays on now, with dice of a chain of its own",
            screen,
        )
        return
    roll = outcome.checked.rolls[-1]
    log = kept / "game.car"
    caught = outcome.caught
    alma = f"--node {kept / LISTER}"
    cell = caught.cells[0].key if caught.cells else "game/-"
    tries = [
        (f"{own} dice check {log} {roll.uri}", "every step from the ask to its dice"),
        (f"{own} log verify {log}", "the log, every link of it"),
        (f"{own} fold {log}", "fold it yourself: the root above comes out"),
        (f"{own} node up {alma}", "start the lister again; then, beside it"),
        (f"{own} explain {cell} {alma}", "why a cell is as it is: which entries and rules made it"),
        (f"{own} desk {alma}", "what the GM has to decide"),
        (f"ls {caught.evidence.parent}", f"the evidence against {CROOK}, for anybody to check"),
    ]
    known = own_names()
    for command, says in tries:
        if command.startswith("ls ") or command.removeprefix(f"{own} ").split()[0] in known:
            _line(f"  {command}\n      {says}", screen)


def own_command() -> str:
    """Return the command as it can be typed here: `make demo` runs one that is on nobody's path."""
    return "weighbridge" if which("weighbridge") or not sys.argv[0].endswith("weighbridge") else sys.argv[0]
