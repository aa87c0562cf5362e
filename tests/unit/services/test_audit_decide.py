"""What the audit host and an audit's process say to each other."""

from __future__ import annotations

from typing import Any

import pytest
from weighbridge import codec
from weighbridge.contract import Finding
from weighbridge.log.entries import make_entry
from weighbridge_services.audit_host.child import load
from weighbridge_services.audit_host.decide import (
    MAX_FINDINGS,
    MAX_FRAME,
    ask,
    findings,
    frame,
    frame_length,
    observed,
    seq_of,
)
from weighbridge_services.audit_host.errors import AuditBroken, BadFrame

GAME = "at://did:plc:gmgmgmgmgmgmgmgmgmgmgmgm/example.game.root/self"
LISTED = make_entry(None, game=GAME, at=7, op="tick")
SENT = {"entry": LISTED.data, "record": None, "delta": b"\x80", "cells": {"b": codec.encode(1), "a": None}}


class Talking:
    name = "talking"

    def observe(self, entry: Any, value: Any, delta: Any) -> Any:
        for number in range(10 * MAX_FINDINGS):
            yield Finding("word", entry["game"], str(number))


def test_an_audit_is_shown_entry_record_and_changed_cells_with_their_values() -> None:
    shown = observed(SENT)
    assert (shown.entry["game"], shown.entry["at"], shown.value) == (GAME, 7, None)
    assert shown.delta == [("a", None), ("b", 1)]
    assert seq_of(SENT) == 0


def test_an_audit_that_never_stops_talking_is_heard_so_far_and_no_further() -> None:
    found = ask(Talking(), SENT)
    assert len(found) == MAX_FINDINGS
    assert findings(frame(found)[4:])[0] == Finding("word", GAME, "0")


def test_a_frame_says_how_long_it_is() -> None:
    made = frame([1, 2])
    assert frame_length(made[:4]) == len(made) - 4


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\xff", id="no encoding"),
        pytest.param(codec.encode({"code": "x"}), id="no list"),
        pytest.param(codec.encode([["code", "about"]]), id="a finding without its sentence"),
        pytest.param(codec.encode([["code", "about", 3]]), id="a sentence that is a number"),
        pytest.param(codec.encode([["", "about", "says"]]), id="a finding without a code"),
        pytest.param(codec.encode([["c", "a", "s"]] * (MAX_FINDINGS + 1)), id="too many"),
    ],
)
def test_what_no_audit_may_answer_is_a_bad_frame(data: bytes) -> None:
    with pytest.raises(BadFrame):
        findings(data)


def test_a_frame_that_would_fill_the_memory_is_refused_before_it_is_read() -> None:
    with pytest.raises(BadFrame):
        frame_length((MAX_FRAME + 1).to_bytes(4, "big"))


def test_long_words_are_cut() -> None:
    (found,) = findings(codec.encode([["c" * 100, "a", "s" * 10_000]]))
    assert (len(found.code), len(found.says)) == (64, 2_000)


def test_an_audit_without_a_method_to_observe_is_broken(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "nothing_toy-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: nothing-toy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[weighbridge.audits]\nnothing = audits:NONE\ncounting = audits:Counting\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(AuditBroken):
        load("nothing")
    assert load("counting") is not load("counting"), "each process, and each test, has an audit of its own"
