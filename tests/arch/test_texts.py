"""What the repository's texts may say, how long its files and functions are, what its one page promises."""

from __future__ import annotations

import ast
import re
import statistics
from pathlib import Path

import pytest
from repository import MEMBERS, PLUGINS, REPOSITORY, files, named, parsed, sources, texts

LINES = 400
LONGER = {}
INVARIANTS = REPOSITORY / "shared" / "INVARIANTS.md"


def written_out(*parts: str) -> str:
    """Join what this file itself must not contain."""
    return "".join(parts)


MACHINE = re.compile(
    "|".join(
        written_out(r"(?<![\w.])/", folder, "/")
        for folder in ("work", "root", r"home/\w+", r"Users/\w+", r"opt/(?:wheels|pypi)")
    )
)
REGISTRY = re.compile(
    "|".join(
        [written_out("py", "pi\\.org"), written_out("python", "hosted"), written_out("registry\\.", "npm")]
    )
)


def test_no_file_names_a_path_of_some_machine() -> None:
    assert [f"{named(path)}: {hit.group()}" for path, text in texts() for hit in MACHINE.finditer(text)] == []


def test_no_file_names_a_package_registry() -> None:
    assert [named(path) for path, text in texts() if REGISTRY.search(text)] == []


@pytest.mark.parametrize("lock", sorted((REPOSITORY / "deploy").glob("*.lock")), ids=named)
def test_a_lock_holds_hashes_and_no_address(lock: Path) -> None:
    text = lock.read_text()
    assert "://" not in text
    assert "--index" not in text
    pinned = re.findall(r"^([a-z0-9][\w.-]*)==", text, re.MULTILINE)
    assert len(pinned) > 10
    blocks = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)
    assert [block.split("\n")[0] for block in blocks if "==" in block and "--hash=sha256:" not in block] == []


def test_no_file_is_longer_than_can_be_read_in_one_go() -> None:
    counts = {named(path): len(path.read_text().splitlines()) for path in files() if path.suffix == ".py"}
    assert {name: lines for name, lines in counts.items() if lines > LINES and name not in LONGER} == {}
    assert [name for name in LONGER if counts.get(name, 0) <= LINES] == []


def lengths(member: Path) -> list[tuple[int, str]]:
    found = []
    for path in sources(member):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                first = body[0].lineno if body else node.lineno
                found.append(
                    ((node.end_lineno or first) - first + 1, f"{named(path)}:{node.lineno} {node.name}")
                )
    return sorted(found)


@pytest.mark.parametrize("member", MEMBERS, ids=named)
def test_functions_are_short(member: Path) -> None:
    """Nine of ten have at most 30 lines of body, and half of them at most 10."""
    found = lengths(member)
    if len(found) < 10:
        pytest.skip("too few functions to speak of")
    assert statistics.median(length for length, _ in found) <= 10
    assert found[len(found) * 9 // 10][0] <= 30, found[-10:]


def promises() -> list[str]:
    return re.findall(r"^\d+\. .*?(?=^\d+\. |^#|\Z)", INVARIANTS.read_text(), re.MULTILINE | re.DOTALL)


def test_the_promises_are_a_dozen_at_most() -> None:
    assert 5 <= len(promises()) <= 12


def test_every_promise_names_a_test_that_exists() -> None:
    missing = []
    for promise in promises():
        guards = re.findall(r"`((?:tests|plugins)/[\w/.-]+\.py)::(\w+)(?:::(\w+))?`", promise)
        if not guards:
            missing.append(promise.splitlines()[0])
        for file, *names in guards:
            path = REPOSITORY / file
            text = path.read_text() if path.exists() else ""
            missing += [
                f"{file}::{n}"
                for n in names
                if n and not re.search(rf"^\s*((?:async )?def|class) {n}\b", text, re.MULTILINE)
            ]
    assert missing == []


def test_every_change_a_user_sees_has_its_line() -> None:
    assert re.search(r"^## ", (REPOSITORY / "CHANGELOG.md").read_text(), re.MULTILINE)


def test_the_readme_names_every_plugin() -> None:
    text = (REPOSITORY / "README.md").read_text()
    assert [plugin.name for plugin in PLUGINS if plugin.name not in text] == []
