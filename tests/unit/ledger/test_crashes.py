"""Killed at any point, a ledger opens, is sound, and holds the committed batches and nothing of the next."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from weighbridge.ledger import Ledger, LedgerCorrupt
from writer import GAME, PER_BATCH, entries, everything, killed_at, write_batch

BATCHES = 4
POINTS = [
    "begun",
    "record-written",
    "entry-written",
    "uri-written",
    "delta-written",
    "leaf-written",
    "checkpoint-written",
    "cosignature-written",
    "position-written",
    "value-written",
    "message-written",
    "message-sent",
    "rejected-written",
    "snapshot-chunk-written",
    "written",
    "tiles-written",
    "flushed",
    "committed",
]


def after_each_batch(folder: Path) -> list[dict[str, object]]:
    """What a ledger holds after 0, 1, … batches."""
    listed = entries(BATCHES * PER_BATCH)
    with Ledger.open(folder / "whole") as ledger:
        states = [everything(ledger)]
        for number in range(BATCHES):
            write_batch(ledger, listed, number)
            states.append(everything(ledger))
    return states


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    return after_each_batch(tmp_path_factory.mktemp("whole"))


def check(path: Path, acknowledged: int, states: list[dict[str, object]]) -> None:
    listed = entries(BATCHES * PER_BATCH)
    with Ledger.open(path) as ledger:
        held = everything(ledger)
        assert held in states[acknowledged : acknowledged + 2]
        assert ledger.verify().sound
        for number in range(states.index(held), BATCHES):
            write_batch(ledger, listed, number)
        assert everything(ledger) == states[-1]
        assert ledger.verify().sound


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("occurrence", [1, 3], ids=["first", "third"])
def test_killed_at_a_point_it_opens_and_holds_a_prefix(
    path: Path, states: list[dict[str, object]], point: str, occurrence: int
) -> None:
    acknowledged = killed_at(path, point, occurrence, BATCHES)
    check(path, acknowledged, states)


def test_every_point_a_ledger_passes_is_in_the_table(path: Path) -> None:
    passed: list[str] = []
    with Ledger.open(path, probe=passed.append) as ledger:
        for number in range(2):
            write_batch(ledger, entries(2 * PER_BATCH), number)
    assert set(passed) == set(POINTS)


@pytest.mark.slow
def test_killed_at_every_occurrence_of_every_point_it_opens_and_holds_a_prefix(
    tmp_path: Path, states: list[dict[str, object]]
) -> None:
    passed: list[str] = []
    with Ledger.open(tmp_path / "counted", probe=passed.append) as ledger:
        for number in range(BATCHES):
            write_batch(ledger, entries(BATCHES * PER_BATCH), number)
    for number, point in enumerate(passed):
        path = tmp_path / str(number)
        acknowledged = killed_at(path, point, passed[: number + 1].count(point), BATCHES)
        check(path, acknowledged, states)


def files_in_use(folder: Path) -> tuple[bytes, bytes]:
    """The database and its write-ahead log, as a crash would leave them after all batches."""
    with Ledger.open(folder / "used") as ledger:
        for number in range(BATCHES):
            write_batch(ledger, entries(BATCHES * PER_BATCH), number)
        return (folder / "used").read_bytes(), (folder / "used-wal").read_bytes()


def laid_out(path: Path, database: bytes, wal: bytes) -> Path:
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    path.write_bytes(database)
    Path(f"{path}-wal").write_bytes(wal)
    return path


def test_a_torn_write_ahead_log_is_a_prefix(tmp_path: Path, states: list[dict[str, object]]) -> None:
    database, wal = files_in_use(tmp_path)
    seen: list[int] = []
    for length in range(0, len(wal) + 1, max(len(wal) // 60, 1)):
        path = laid_out(tmp_path / "torn", database, wal[:length])
        with Ledger.open(path) as ledger:
            seen.append(states.index(everything(ledger)))
    assert seen == sorted(seen)
    assert seen[0] == 0
    assert len(set(seen)) > BATCHES // 2


def test_a_damaged_write_ahead_log_is_a_prefix_or_detected(
    tmp_path: Path, states: list[dict[str, object]]
) -> None:
    database, wal = files_in_use(tmp_path)
    for offset in range(0, len(wal), max(len(wal) // 60, 1)):
        damaged = bytearray(wal)
        damaged[offset] ^= 0x10
        path = laid_out(tmp_path / "damaged", database, bytes(damaged))
        try:
            with Ledger.open(path) as ledger:
                assert everything(ledger) in states
        except LedgerCorrupt:
            pass


def test_a_crash_while_creating_leaves_no_ledger_and_the_next_start_makes_one(path: Path) -> None:
    Path(f"{path}.new").write_bytes(b"half of one")
    shutil.copy(f"{path}.new", f"{path}.new-journal")
    with Ledger.open(path) as ledger:
        assert ledger.log(GAME).size == 0
    assert sorted(one.name for one in path.parent.iterdir()) == [path.name]
