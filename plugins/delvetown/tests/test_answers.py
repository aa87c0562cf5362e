"""The records by which a GM's desk answers the game's questions close them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from delvetown_town import files
from weighbridge.codec import encode
from weighbridge.contract import Question
from weighbridge.fold import Fold
from weighbridge.log import make_entry
from weighbridge.log.entries import Listed
from weighbridge.scenario import load, run
from weighbridge_delvetown import RULES

SHEET = "at://did:plc:annannannannannannannann/town.delve.sheet/self"
ASK = "at://did:plc:annannannannannannannann/town.delve.move/a"
ASKED: Counter[str] = Counter()


class Noting(Fold):
    """A fold that remembers the last entry, so that others can follow."""

    last: Listed

    def fold(self, listed: Listed) -> Any:
        self.last = listed
        return super().fold(listed)


def finished(path: Path) -> Noting:
    folds: list[Noting] = []

    def make(game: str) -> Noting:
        folds.append(Noting(game, RULES, scenario=True))
        return folds[0]

    run(load(path.read_bytes()), RULES, fold=make)
    return folds[0]


def questions(fold: Fold) -> list[Question]:
    prefix = "_/question/"
    return [
        Question(**{"id": key.removeprefix(prefix), **cell, "options": tuple(cell["options"])})
        for key, cell in fold.table.items(prefix)
        if cell["to"] == "gm"
    ]


@pytest.mark.parametrize("path", files(), ids=lambda path: path.stem)
def test_whatever_is_still_asked_is_closed_by_the_record_of_any_answer(path: Path) -> None:
    for place, question in enumerate(questions(finished(path))):
        options = ("A limp, since the ferry.",) if question.kind == "scar" else question.options
        for option in options:
            fold = finished(path)
            found = RULES.answer(question, option, "for a test")
            assert found is not None
            collection, value = found
            assert not RULES.shape(collection, {**value, "game": fold.game}).problems
            root = fold.world.root_at(fold.size)
            assert root is not None
            gm = root[0].gm
            listed = make_entry(
                fold.last, game=fold.game, at=fold.last.entry.at, op="create", uri=f"at://{gm}/{collection}/answer{place}",
                author=gm, record=encode({**value, "game": fold.game}),
            )  # fmt: skip
            before = len(fold.table.keys("_/question/"))
            fold.fold(listed)
            assert (
                f"_/question/{question.id}" not in fold.table or len(fold.table.keys("_/question/")) < before
            )
            ASKED[question.kind] += 1


def test_every_kind_of_question_was_answered_so() -> None:
    """After the test above, which this one looks back on."""
    assert not ASKED or set(ASKED) == {"consequence", "scar", "vouch", "ability"}


@pytest.mark.parametrize(
    ("kind", "about", "answer"),
    [
        pytest.param("consequence", ASK, "a pie in the face", id="no-option"),
        pytest.param("vouch", ASK, "", id="empty"),
        pytest.param("scar", SHEET, "", id="no-scar"),
        pytest.param("scar", SHEET, "two\nlines", id="two-lines"),
        pytest.param("scar", SHEET, "x" * 3_001, id="a-long-scar"),
        pytest.param("scar", ASK, "A limp.", id="a-scar-on-no-sheet"),
    ],
)
def test_what_is_no_answer_has_no_record(kind: str, about: str, answer: str) -> None:
    question = Question("id", kind, about, "?", ("drift", "heat"), "gm", 0)
    assert RULES.answer(question, answer) is None
