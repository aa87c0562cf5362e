"""What the repository tests read: its files, its distributions and what their modules import."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
PLUGINS = sorted(path.parent for path in (REPOSITORY / "plugins").glob("*/pyproject.toml"))
MEMBERS = [REPOSITORY / "shared", REPOSITORY / "services", *PLUGINS]
KERNEL = REPOSITORY / "shared" / "src" / "weighbridge"
SERVICES = REPOSITORY / "services" / "src" / "weighbridge_services"
TOOLS = "_tools"
"""How the import package of a plugin's own commands ends: it stands beside the rule set's, and no pin covers it."""
NOT_OURS = {".git", "__pycache__", "node_modules", "dist", "build"}


def named(path: Path) -> str:
    """Return a path as the repository speaks of it."""
    return path.relative_to(REPOSITORY).as_posix()


def files(folder: Path = REPOSITORY) -> Iterator[Path]:
    """Yield every file of the repository, without what was made or fetched."""
    for path in sorted(folder.iterdir()):
        if path.name in NOT_OURS or (path.name.startswith(".") and path.is_dir() and path.name != ".ci"):
            continue
        if path.is_dir():
            yield from files(path)
        elif path.is_file():
            yield path


def texts() -> Iterator[tuple[Path, str]]:
    """Yield every file of the repository that is text, with the text."""
    for path in files():
        data = path.read_bytes()
        if b"\0" not in data:
            try:
                yield path, data.decode()
            except UnicodeDecodeError:
                continue


def sources(member: Path) -> list[Path]:
    """Return the modules that a distribution releases."""
    return sorted((member / "src").rglob("*.py"))


def manifest(member: Path) -> dict[str, Any]:
    """Return a distribution's pyproject.toml."""
    return tomllib.loads((member / "pyproject.toml").read_text())


@cache
def parsed(path: Path) -> ast.Module:
    """Return a module's syntax tree."""
    return ast.parse(path.read_text(), filename=str(path))


def imports(path: Path) -> set[str]:
    """Return the dotted names that a module imports, anywhere in it (typing-only imports included)."""
    found: set[str] = set()
    package = package_of(path)
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package[: len(package) - node.level + 1]
                base = ".".join([*above, base]) if base else ".".join(above)
            found.add(base)
            found.update(f"{base}.{alias.name}" for alias in node.names)
    return found


def package_of(path: Path) -> list[str]:
    """Return the package a module stands in, as a list of names."""
    parts = path.parts[path.parts.index("src") + 1 : -1] if "src" in path.parts else ()
    return list(parts)


def top_level(names: set[str]) -> set[str]:
    """Return the first parts of dotted names that are not the standard library's."""
    return {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {"__future__"}
