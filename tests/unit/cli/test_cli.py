from __future__ import annotations

import errno
import importlib.metadata
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from weighbridge.errors import Broken, Refused, Unavailable
from weighbridge.ledger import DiskFull, ReadOnly
from weighbridge_services import cli, commands
from weighbridge_services.failures import (
    IoFailed,
    NoSuchFile,
    NotAFile,
    NotPermitted,
    line_of,
    of_os_error,
)

FULL = "could not be written: the disk is full; free some space and run this again"
FIXED = "is on a read-only file system; name a folder that can be written"


def with_command(monkeypatch: pytest.MonkeyPatch, run: Callable[[Any], int]) -> None:
    """Let `weighbridge probe` run that function."""

    def register(subparsers: Any, asked: str | None = None) -> None:
        commands.parser_of(subparsers, "probe", "a command of the tests").set_defaults(run=run)

    monkeypatch.setattr(commands, "register_own", register)


def raising(error: BaseException) -> Callable[[Any], int]:
    def run(_: Any) -> int:
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        pytest.param(
            Refused("the file is wrong"), 2, "weighbridge: refused: the file is wrong", id="refused input"
        ),
        pytest.param(Unavailable("not yet"), 3, "weighbridge: unavailable: not yet", id="something passing"),
        pytest.param(Broken("no ledger"), 4, "weighbridge: broken: no ledger", id="our own state"),
        pytest.param(KeyboardInterrupt(), 130, "weighbridge: interrupted", id="Ctrl-C"),
        pytest.param(
            OSError(errno.ENOSPC, "No space left", "/x/ledger"),
            3,
            f"weighbridge: disk-full: /x/ledger {FULL}",
            id="a full disk",
        ),
        pytest.param(
            OSError(errno.EROFS, "Read-only", "/x/ledger"),
            4,
            f"weighbridge: read-only: /x/ledger {FIXED}",
            id="a read-only folder",
        ),
    ],
)
def test_what_fails_is_one_line_and_an_exit_code(
    error: BaseException,
    code: int,
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with_command(monkeypatch, raising(error))
    assert cli.main(["probe"]) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == line + "\n"


def test_what_nothing_expected_is_a_bug_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_command(monkeypatch, raising(ZeroDivisionError("by zero")))
    assert cli.main(["probe"]) == 4
    said = capsys.readouterr().err
    assert said.startswith("weighbridge: bug: ZeroDivisionError: by zero;")
    assert said.count("\n") == 1


def test_a_traceback_is_there_for_who_asks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_command(monkeypatch, raising(ZeroDivisionError("by zero")))
    assert cli.main(["--traceback", "probe"]) == 4
    assert "Traceback (most recent call last)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        pytest.param(errno.ENOENT, NoSuchFile, id="not there"),
        pytest.param(errno.EISDIR, NotAFile, id="a folder"),
        pytest.param(errno.ENOTDIR, NotAFile, id="a file on the way"),
        pytest.param(errno.EACCES, NotPermitted, id="its mode forbids it"),
        pytest.param(errno.ENOSPC, DiskFull, id="full disk"),
        pytest.param(errno.EDQUOT, DiskFull, id="full quota"),
        pytest.param(errno.EROFS, ReadOnly, id="read-only"),
        pytest.param(errno.EIO, IoFailed, id="anything else"),
    ],
)
def test_an_error_of_the_operating_system_has_a_code(number: int, kind: type[Exception]) -> None:
    assert type(of_os_error(OSError(number, "said", "some/file"))) is kind


def test_text_from_outside_cannot_steer_the_terminal_through_a_failure() -> None:
    assert line_of(Refused("a\x1b[2Jb\nc\u202ed")) == "weighbridge: refused: a\ufffd[2Jb c\ufffdd"


def test_no_command_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main([])
    assert stop.value.code == 2
    assert "COMMAND" in capsys.readouterr().err


def helps(parser: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = [path]
    for action in parser._actions:
        if isinstance(getattr(action, "choices", None), dict):
            for name, child in action.choices.items():
                found += helps(child, (*path, name))
    return found


@pytest.mark.parametrize("path", helps(cli.parser([])), ids=" ".join)
def test_every_command_explains_itself(path: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main([*path, "--help"])
    assert stop.value.code == 0
    assert "usage: weighbridge" in capsys.readouterr().out


def test_output_that_nobody_reads_any_more_is_no_failure() -> None:
    script = (
        "import sys; from weighbridge_services.cli import main; sys.exit(main(['plugin', 'list', '--json']))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert said == b""
    assert process.returncode == 141


class Point:
    """An entry point of a plugin, as importlib.metadata gives it."""

    dist = None

    def __init__(self, name: str, module: str, register: Any) -> None:
        self.name, self.module, self.value, self.register = name, module, f"{module}:register", register

    def load(self) -> Any:
        if isinstance(self.register, Exception):
            raise self.register
        return self.register


def with_points(monkeypatch: pytest.MonkeyPatch, *points: Point) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: list(points))


def register_hello(subparsers: Any) -> None:
    parser = commands.parser_of(subparsers, "hello", "says hello")
    parser.set_defaults(run=lambda _: print(json.dumps("hello")) or 0)


def test_a_plugin_adds_a_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with_points(monkeypatch, Point("hello", "weighbridge_hello", register_hello))
    assert cli.main(["hello"]) == 0
    assert json.loads(capsys.readouterr().out) == "hello"


def test_a_plugins_command_is_imported_only_when_it_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    with_points(monkeypatch, Point("hello", "weighbridge_hello", AssertionError("imported")))
    assert "hello" in cli.parser([]).format_help()


@pytest.mark.parametrize(
    "points",
    [
        pytest.param(
            [Point("hello", "one", register_hello), Point("hello", "two", register_hello)],
            id="by two plugins",
        ),
        pytest.param([Point("hello", "one", ImportError("no module"))], id="code that cannot be imported"),
    ],
)
def test_a_plugins_command_that_cannot_be_used_is_named(
    points: list[Point], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_points(monkeypatch, *points)
    assert cli.main([points[0].name]) == 4
    assert capsys.readouterr().err.startswith("weighbridge: command-broken: ")


def test_no_plugin_takes_a_command_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    with_points(monkeypatch, Point("plugin", "one", AssertionError("imported")))
    assert "the plugin one" not in cli.parser([]).format_help()


def test_a_full_disk_is_one_line() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    command = [sys.executable, "-m", "weighbridge_services", "plugin", "list", "--json"]
    with full.open("w") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr == f"weighbridge: disk-full: the output {FULL}\n"


@pytest.mark.parametrize(("closed", "code"), [("plugin list >&-", 0), ("plugin pin nosuch 2>&-", 2)])
def test_a_stream_closed_beforehand_changes_no_exit_code(closed: str, code: int) -> None:
    command = ["sh", "-c", f"{sys.executable} -m weighbridge_services {closed}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


def test_ctrl_c_while_the_command_is_still_being_imported_is_one_line() -> None:
    early = """
import runpy, sys
class Pressed:
    def find_spec(self, name, path=None, target=None):
        if name == "weighbridge_services.cli":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Pressed())
runpy.run_module("weighbridge_services", run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", early], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "weighbridge: interrupted\n")
