"""A second writer, a full disk, a read-only or foreign place: a code, what to do, and nothing changed."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from weighbridge.codec import encode
from weighbridge.errors import Unavailable, WeighbridgeError
from weighbridge.ledger import (
    DiskError,
    DiskFull,
    ForeignLedger,
    Ledger,
    LedgerClosed,
    LedgerExists,
    LedgerLocked,
    LedgerMissing,
    LedgerNewer,
    ReadOnly,
    restore,
    schema,
)
from weighbridge.ledger.opening import open_database
from writer import GAME, PER_BATCH, entries, everything, write_batch


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def test_a_second_writer_is_refused_and_told_who_has_it(ledger: Ledger) -> None:
    with pytest.raises(LedgerLocked, match=f"process {os.getpid()} has it open; stop that one") as caught:
        Ledger.open(ledger.path)
    assert caught.value.detail["holder"] == str(os.getpid())
    ledger.log(GAME).extend(entries(3))
    ledger.close()
    with Ledger.open(ledger.path) as again:
        assert again.log(GAME).size == 3


def test_another_process_is_refused_until_the_first_is_gone(path: Path) -> None:
    child = os.fork()
    if child == 0:
        held = Ledger.open(path)
        os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(held.log(GAME).size)
    os.waitpid(child, os.WUNTRACED)
    try:
        with pytest.raises(LedgerLocked, match=f"process {child} "):
            Ledger.open(path)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    Ledger.open(path).close()


def test_a_program_that_writes_beside_us_is_named_locked(ledger: Ledger) -> None:
    other = sqlite3.connect(ledger.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerLocked):
        ledger.values.set("a", b"")
    other.close()
    ledger.values.set("a", b"")


def test_a_closed_ledger_says_so(ledger: Ledger) -> None:
    ledger.close()
    ledger.close()
    with pytest.raises(LedgerClosed):
        ledger.values.get("a")
    with pytest.raises(LedgerClosed):
        ledger.values.set("a", b"")


def test_no_ledger_and_no_folder_are_told_apart_from_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(LedgerMissing, match="no ledger"):
        Ledger.open(tmp_path / "none", create=False)
    with pytest.raises(LedgerMissing, match="folder does not exist"):
        Ledger.open(tmp_path / "nowhere" / "none")
    assert names(tmp_path) == []


def foreign_database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (x)")
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        pytest.param(foreign_database, "another application's database", id="another-database"),
        pytest.param(
            lambda path: path.write_bytes(b"a letter to my aunt" * 50), "not a database", id="a-text"
        ),
        pytest.param(lambda path: path.write_bytes(b""), "not a database", id="an-empty-file"),
        pytest.param(lambda path: path.mkdir(), "is a folder", id="a-folder"),
    ],
)
def test_what_is_not_a_ledger_is_left_alone(path: Path, make: object, says: str) -> None:
    make(path)  # type: ignore[operator]
    before = None if path.is_dir() else path.read_bytes()
    with pytest.raises(ForeignLedger, match=says):
        Ledger.open(path)
    assert names(path.parent) == [path.name]
    assert before is None or path.read_bytes() == before


def test_a_ledger_of_a_newer_format_is_refused(path: Path) -> None:
    Ledger.open(path).close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {schema.FORMAT + 1}")
    connection.commit()
    connection.close()
    with pytest.raises(LedgerNewer, match="run the newer one"):
        Ledger.open(path)


def test_an_older_ledger_is_brought_up_to_date_in_one_transaction(path: Path) -> None:
    Ledger.open(path).close()
    database = open_database(path)
    done: list[str] = []

    def second(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE more (x)")
        done.append("second")

    def third(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE more (x)")

    def migrates() -> None:
        with database.batch():
            schema.migrate(database.connection, 1, 3, {1: second, 2: third})

    with pytest.raises(sqlite3.OperationalError):
        migrates()
    assert done == ["second"]
    assert database.fetch("ledger", "format", "PRAGMA user_version") == (1,)
    with database.batch():
        schema.migrate(database.connection, 1, 2, {1: second})
    assert database.fetch("ledger", "format", "PRAGMA user_version") == (2,)
    assert database.fetch_all("more", "all", "SELECT * FROM more") == []
    database.close()


def test_a_full_disk_undoes_the_batch_and_nothing_else(ledger: Ledger) -> None:
    write_batch(ledger, entries(40), 0)
    before = everything(ledger)
    connection = ledger._db.connection
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(DiskFull, match="free some, then try again") as caught:
        ledger.log(GAME).extend(entries(400, 5000, ledger.log(GAME).last))
    assert isinstance(caught.value, Unavailable)
    assert everything(ledger) == before
    connection.execute("PRAGMA max_page_count = 1000000")
    write_batch(ledger, entries(40), 1)
    assert ledger.verify().sound


def test_a_disk_full_in_mid_batch_is_not_forgotten_when_swallowed(ledger: Ledger) -> None:
    connection = ledger._db.connection
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages + 2}")

    def swallows() -> None:
        with ledger.batch():
            with pytest.raises(DiskFull):
                ledger.values.set("large", b"x" * 100_000)
            assert ledger.path.exists()

    with pytest.raises(DiskFull):
        swallows()
    assert ledger.values.names() == []


ON_A_SMALL_DISK = """
import sys, pathlib
sys.path.insert(0, sys.argv[2])
from writer import *
from weighbridge.errors import WeighbridgeError
folder = pathlib.Path(sys.argv[1])
ballast = folder / "ballast"
with Ledger.open(folder / "ledger") as ledger:
    log = ledger.log(GAME)
    log.extend(entries(8))
    try:
        log.extend(entries(400, 5000, log.last))
    except WeighbridgeError as error:
        print(error.code, log.size, ledger.verify().sound)
with Ledger.open(folder / "ledger") as ledger:
    print(ledger.log(GAME).size, ledger.verify().sound)
    ballast.write_bytes(b"x")
try:
    with open(ballast, "wb") as file:
        while True:
            file.write(b"x" * 4096)
            file.flush()
except OSError:
    pass
try:
    Ledger.open(folder / "another")
except WeighbridgeError as error:
    print(error.code, sorted(one.name for one in folder.iterdir()))
"""


MOUNTED = 'mount -t tmpfs -o size=900k none "$1" && exec "$2" "$3" "$1" "$4"'


def test_on_a_small_disk_a_ledger_stays_whole_and_none_is_half_created(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    script = tmp_path / "script.py"
    script.write_text(ON_A_SMALL_DISK)
    if shutil.which("unshare") is None or os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root and unshare")
    here = Path(__file__).resolve().parent
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", MOUNTED, "sh", tmp_path / "disk", sys.executable, script, here],
        capture_output=True,
        text=True,
        check=False,
    )
    if "mount:" in done.stderr or "unshare" in done.stderr:
        pytest.skip(f"no small disk can be mounted here: {done.stderr.strip()}")
    assert done.stdout.splitlines() == ["disk-full 8 True", "8 True", "disk-full ['ballast', 'ledger']"], (
        done.stderr
    )


def in_a_child_with_file_limit(limit: int, work: object) -> bytes:
    """Run `work` in a child process whose files may not grow past `limit` bytes; return what it says."""
    reader, sender = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            os.write(sender, work())  # type: ignore[operator]
        finally:
            os._exit(0)
    os.close(sender)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


def test_a_disk_that_refuses_to_write_leaves_what_was_committed(path: Path) -> None:
    with Ledger.open(path) as ledger:
        write_batch(ledger, entries(40), 0)
        before = everything(ledger)

    def work() -> bytes:
        try:
            with Ledger.open(path) as ledger:
                ledger.log(GAME).extend(entries(400, 9000, ledger.log(GAME).last))
        except DiskError as error:
            return error.code.encode()
        return b"nothing"

    assert in_a_child_with_file_limit(path.stat().st_size + 100_000, work) == b"disk-error"
    with Ledger.open(path) as ledger:
        assert everything(ledger) == before
        assert ledger.verify().sound


def test_a_ledger_that_cannot_be_created_leaves_nothing(path: Path) -> None:
    def work() -> bytes:
        try:
            Ledger.open(path).close()
        except WeighbridgeError as error:
            return error.code.encode()
        return b"nothing"

    assert in_a_child_with_file_limit(5000, work) == b"disk-error"
    assert names(path.parent) == []


@pytest.mark.usefixtures("unprivileged")
def test_a_folder_that_cannot_be_written_is_read_only(tmp_path: Path) -> None:
    os.seteuid(0) if os.getuid() == 0 else None
    folder = tmp_path / "closed"
    folder.mkdir()
    folder.chmod(0o555)
    os.seteuid(65534) if os.getuid() == 0 else None
    with pytest.raises(ReadOnly, match="give this user write access"):
        Ledger.open(folder / "ledger")
    assert names(folder) == []


def test_a_file_that_cannot_be_written_is_read_only(path: Path, request: pytest.FixtureRequest) -> None:
    Ledger.open(path).close()
    path.chmod(0o444)
    path.parent.chmod(0o777)
    request.getfixturevalue("unprivileged")
    with pytest.raises(ReadOnly, match="give this user write access"):
        Ledger.open(path)
    with pytest.raises(ReadOnly):
        Ledger.open(path, create=False)


def test_a_backup_of_an_open_ledger_restores_to_the_same(path: Path) -> None:
    backup, restored = path.parent / "backup", path.parent / "restored"
    with Ledger.open(path) as ledger:
        for number in range(4):
            write_batch(ledger, entries(40), number)
        before = everything(ledger)
        ledger.backup(backup)
        write_batch(ledger, entries(40), 4)
    backup.chmod(0o444)
    report = restore(backup, restored)
    assert report.sound
    assert report.counts["entry"] == 4 * PER_BATCH
    assert names(path.parent) == ["backup", path.name, "restored"]
    with Ledger.open(restored) as ledger:
        assert everything(ledger) == before
        write_batch(ledger, entries(40), 4)


def test_backup_and_restore_overwrite_nothing(ledger: Ledger) -> None:
    taken = ledger.path.parent / "taken"
    taken.write_bytes(b"mine")
    with pytest.raises(LedgerExists):
        ledger.backup(taken)
    ledger.backup(ledger.path.parent / "backup")
    with pytest.raises(LedgerExists):
        restore(ledger.path.parent / "backup", taken)
    with pytest.raises(LedgerMissing):
        restore(ledger.path.parent / "none", ledger.path.parent / "restored")
    with pytest.raises(ForeignLedger):
        restore(taken, ledger.path.parent / "restored")
    with pytest.raises(LedgerMissing):
        ledger.backup(ledger.path.parent / "nowhere" / "backup")
    assert taken.read_bytes() == b"mine"


def test_a_batch_is_refused_inside_a_broken_one_and_the_ledger_goes_on(ledger: Ledger) -> None:
    with ledger.batch(), ledger.batch():
        ledger.values.set("a", encode(1))
    assert ledger.values.get("a") == encode(1)
