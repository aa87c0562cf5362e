from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from weighbridge.cid import Cid
from weighbridge.codec import encode
from weighbridge.errors import Refused
from weighbridge.log.entries import decode_entry, make_entry
from weighbridge.logfile import write_car
from weighbridge_services.demo import board
from weighbridge_services.demo.cast import BY_KEY, GM, name_of, signer
from weighbridge_services.demo.caught import Difference, evidence_of, fields_of
from weighbridge_services.demo.keeping import workspace
from weighbridge_services.demo.progress import Shown
from weighbridge_services.demo.season import GAME, SECOND
from weighbridge_services.demo.watching import Divergence

DAY = 86_400 * SECOND
START = 19_682 * DAY
CROOK, HONEST = "did:key:zCrook", "did:key:zHonest"


# --- evidence ----------------------------------------------------------------------------------------------------


def bundle(folder: Path, values: dict[str, tuple[Any, Any]], *, entry: bool = True) -> Divergence:
    """Write an evidence bundle of a node, as the cross-check does."""
    listed = make_entry(
        None, game=GAME, at=START, op="create", uri=GAME, author=signer(GM).did, record=encode({})
    )
    blocks = {listed.cid: listed.data} if entry else {}
    sides: list[dict[str, Any]] = []
    for number, operator in enumerate((HONEST, CROOK)):
        cells: dict[str, Cid | None] = {}
        for key, pair in values.items():
            data = None if pair[number] is None else encode(pair[number])
            cells[key] = None if data is None else Cid.of(data)
            if data is not None:
                blocks[Cid.of(data)] = data
        sides.append({"operator": operator, "leaf": listed.cid.raw + Cid.of(b"").raw, "cells": cells})
    manifest = encode({"game": GAME, "index": 0, "sides": sides})
    cid = Cid.of(manifest)
    (folder / "evidence").mkdir()
    car = b"".join(write_car([cid], [(cid, manifest), *blocks.items()]))
    (folder / "evidence" / f"{cid}.car").write_bytes(car)
    return Divergence(HONEST, CROOK, "origin", 0, "delta", 3, str(cid))


def test_evidence_names_the_entry_and_the_cells_that_differ(tmp_path: Path) -> None:
    found = bundle(tmp_path, {"a/1": ({"x": 1, "y": 2}, {"x": 1, "y": 3}), "b/1": (1, 1), "c/1": (None, 5)})
    caught = evidence_of(tmp_path, found)
    assert caught is not None
    assert (caught.entry, caught.uri, caught.about, caught.exchanges) == (0, GAME, CROOK, 3)
    assert [each.key for each in caught.cells] == ["a/1", "c/1"]
    assert fields_of(caught.cells[0]) == [("y", 2, 3)]
    assert fields_of(caught.cells[1]) == [("", None, 5)]


def test_evidence_without_its_entry_still_names_the_place(tmp_path: Path) -> None:
    caught = evidence_of(tmp_path, bundle(tmp_path, {"a/1": (1, 2)}, entry=False))
    assert caught is not None
    assert (caught.entry, caught.uri) == (0, None)


def test_evidence_that_is_still_being_written_is_waited_for(tmp_path: Path) -> None:
    assert evidence_of(tmp_path, Divergence(HONEST, CROOK, "o", 0, "delta", 1, str(Cid.of(b"")))) is None


def test_spoilt_evidence_is_refused(tmp_path: Path) -> None:
    found = bundle(tmp_path, {"a/1": (1, 2)})
    path = tmp_path / "evidence" / f"{found.evidence}.car"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(Refused):
        evidence_of(tmp_path, found)


@pytest.mark.parametrize(
    ("ours", "theirs", "fields"),
    [
        ({"a": 1}, {"a": 2}, [("a", 1, 2)]),
        ({"a": 1}, {"a": 1, "b": 0}, [("b", None, 0)]),
        (None, {"a": 1}, [("", None, {"a": 1})]),
        ([1], [2], [("", [1], [2])]),
    ],
    ids=["a field", "a field more", "a cell more", "no map"],
)
def test_what_differs_is_shown_by_field(ours: Any, theirs: Any, fields: list[Any]) -> None:
    assert fields_of(Difference("k/1", ours, theirs)) == fields


# --- progress ----------------------------------------------------------------------------------------------------


def entry(at: int, collection: str | None = None) -> Any:
    fields: dict[str, Any] = {"op": "tick"}
    if collection is not None:
        uri = f"at://{signer('ilse').did}/{collection}/k"
        fields = {"op": "create", "uri": uri, "author": signer("ilse").did, "record": encode({})}
    return decode_entry(make_entry(None, game=GAME, at=at, **fields).data)


def test_a_day_is_told_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    shown = Shown(9)
    for value in ({"kind": "ask"}, {"kind": "ask"}, {"kind": "strike"}):
        shown.heard(entry(START, "town.delve.move"), value)
    shown.heard(entry(START, "network.weighbridge.receipt"), {})
    shown.heard(entry(START, "network.weighbridge.beacon"), {"round": 7})
    shown.heard(entry(START + DAY), None)
    shown.end_day()
    first, second = capsys.readouterr().err.splitlines()
    assert first.strip().startswith(
        "Tue 21 Nov 2023  2 asks, 1 strike  →  quicknet round 7, 1 receipt, 0 trace reports"
    )
    assert second.strip() == "Wed 22 Nov 2023  nobody rolls"


def test_names_are_those_of_the_cast() -> None:
    assert name_of(signer(GM).did) == "the GM"
    assert name_of(BY_KEY["wim"].did) == "Wim"
    assert name_of("did:key:zSomebodyElseAltogether").startswith("did:key:zSomebod")


# --- what is left ------------------------------------------------------------------------------------------------


def test_a_folder_that_is_not_kept_is_gone_whatever_happens() -> None:
    folders: list[Path] = []
    with pytest.raises(NotADirectoryError), workspace(None) as folder:
        fill(folder, folders)
    assert not folders[0].exists()


def fill(folder: Path, folders: list[Path]) -> None:
    folders.append(folder)
    (folder / "alma").write_text("a file")
    (folder / "alma" / "keys").mkdir()


def test_a_folder_to_keep_stays(tmp_path: Path) -> None:
    with workspace(tmp_path / "kept") as folder:
        (folder / "alma").mkdir()
    assert (tmp_path / "kept" / "alma").is_dir()


@pytest.mark.parametrize(
    ("called", "found", "shown"),
    [
        (".venv/bin/weighbridge", None, ".venv/bin/weighbridge"),
        (".venv/bin/weighbridge", "/usr/bin/weighbridge", "weighbridge"),
        ("weighbridge_services/__main__.py", None, "weighbridge"),
    ],
    ids=["not on the path", "on the path", "as a module"],
)
def test_what_to_try_next_can_be_typed_as_it_is_shown(
    called: str, found: str | None, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [called])
    monkeypatch.setattr(board, "which", lambda _: found)
    assert board.own_command() == shown
