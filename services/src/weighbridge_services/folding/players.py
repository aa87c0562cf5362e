"""What of a game concerns one player, whatever the rule set: records that wait, questions, reports, own cells."""

from __future__ import annotations

from typing import Any

from weighbridge.codec import decode_own
from weighbridge.fold import Fold

from weighbridge_services.outcome import chain_label

PENDING, QUESTION, REPORT = "_/pending/", "_/question/", "_/report/"
MOST = 200
"""Cells and reports that are shown at most."""


def me(fold: Fold, did: str) -> dict[str, Any]:
    """Return what concerns a player (DID).

    `chain`: what that of the game's dice is called. `pending`: their records that await evidence. `questions`: open
    ones about their records or to them. `reports`: on their records, by place. `cells`: the rule set's own cells
    whose key holds the DID as one of its parts, such as a day's ration, with their bytes.
    """
    cells = fold.world.cells
    waiting = [each for each in fold.world.pendings.values() if _author(each.uri) == did]
    asked = [(key.removeprefix(QUESTION), cells.value(key)) for key in cells.keys(QUESTION)]
    reports = {key: cells.value(key) for key in cells.keys(REPORT) if _of(key, did)}
    own = {
        key: data for key, data in cells.everything().items() if not key.startswith("_/") and _names(key, did)
    }
    return {
        "did": did, "size": fold.size, "at": fold.world.at, "chain": chain_label(fold),
        "pending": [
            {"uri": p.uri, "seq": p.seq, "round": p.round, "dice": list(p.dice), "roll": p.roll,
             "trace": p.trace and p.verdict is None} for p in waiting
        ],
        "questions": [{**cell, "id": id} for id, cell in asked if did in (_author(cell["about"]), cell["to"])],
        "reports": dict(list(reports.items())[-MOST:]),
        "cells": dict(list(own.items())[:MOST]),
    }  # fmt: skip


def _author(uri: str) -> str:
    return uri.removeprefix("at://").partition("/")[0]


def _of(key: str, did: str) -> bool:
    return key.rpartition("/")[2].startswith(f"{did}:")


def _names(key: str, did: str) -> bool:
    return did in key.split("/")


def shown(data: bytes) -> Any:
    """Return a cell's value."""
    return decode_own(data)
