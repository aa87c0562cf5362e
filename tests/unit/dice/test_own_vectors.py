from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "vectors" / "dice"
OWN = FOLDER / "own.json"


def made() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_dice_vectors", FOLDER / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def in_python(path: Path) -> str:
    command = [sys.executable, "-I", "-S", str(FOLDER / "check.py"), str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def in_javascript(path: Path) -> str:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    command = [node, str(FOLDER / "check.js"), str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip().capitalize()


CHECKERS = pytest.mark.parametrize("check", [in_python, in_javascript], ids=["Python", "JavaScript"])


def test_the_vectors_are_what_this_version_draws() -> None:
    assert OWN.read_text() == made().document()


@CHECKERS
def test_a_checker_without_our_code_agrees_with_every_vector(check: Callable[[Path], str]) -> None:
    assert check(OWN) == "True"


def first_face(case: dict[str, Any]) -> None:
    case["draws"][-1]["is"] = 999


def last_block(case: dict[str, Any]) -> None:
    case["blocks"][-1] = "00" * 32


def purpose(case: dict[str, Any]) -> None:
    case["purpose"] += "!"


def signature(case: dict[str, Any]) -> None:
    case["signature"] = case["signature"][:-2] + "00"


@CHECKERS
@pytest.mark.parametrize("change", [first_face, last_block, purpose, signature])
@pytest.mark.parametrize("place", [0, 5, -1])
def test_a_checker_sees_what_was_changed(
    check: Callable[[Path], str], change: Callable[[dict[str, Any]], None], place: int, tmp_path: Path
) -> None:
    document = json.loads(OWN.read_text())
    change(document["cases"][place])
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(document))

    assert check(path) == "False"


@pytest.mark.parametrize("name", ["check.py", "check.js"])
def test_a_checker_is_25_lines_of_code(name: str) -> None:
    lines = (FOLDER / name).read_text().splitlines()

    assert len([line for line in lines if line and not line.startswith(("#", "//", '"""'))]) <= 25
