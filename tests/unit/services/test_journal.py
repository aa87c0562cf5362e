"""What a node writes into its log."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Literal

import pytest
import structlog
from weighbridge_services.config import LogTable
from weighbridge_services.journal import set_up


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    before, handlers = structlog.get_config(), logging.root.handlers[:]
    yield
    structlog.configure(**before)
    logging.root.handlers[:] = handlers


def fail() -> None:
    password = "-".join(["the", "password"])
    raise RuntimeError(f"a bug, {len(password)} characters on")


@pytest.mark.parametrize("form", ["people", "json"])
def test_a_bug_is_told_with_its_traceback_and_without_what_the_variables_held(
    form: Literal["people", "json"], capsys: pytest.CaptureFixture[str]
) -> None:
    set_up(LogTable(format=form))
    for say in (structlog.get_logger().exception, logging.getLogger("a library").exception):
        try:
            fail()
        except RuntimeError:
            say("a bug")
        said = capsys.readouterr().err
        assert "RuntimeError: a bug, 12 characters on" in said
        assert "test_journal.py" in said
        assert "the-password" not in said
