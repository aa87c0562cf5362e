from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

RULES = """
from weighbridge.contract import RuleSet

class Rules(RuleSet):
    name = "{name}"
    version = "1"
    root = "x.y.root"
    collections = {{}}
    third_party = {third_party}

RULES = Rules()
"""

Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Lay a distribution out as an installer would, in a folder of its own on the path."""
    before = set(sys.modules)

    def installed(
        distribution: str,
        files: dict[str, str | bytes],
        points: dict[str, dict[str, str]],
        version: str = "1.0",
        folder: str | None = None,
    ) -> Path:
        site = tmp_path / (folder or distribution)
        for name, content in files.items():
            file = site / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        info = site / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        lines = [
            line
            for group, named in points.items()
            for line in (f"[{group}]", *(f"{name} = {value}" for name, value in named.items()))
        ]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
        monkeypatch.syspath_prepend(str(site))
        importlib.invalidate_caches()
        return site

    yield installed
    for name in set(sys.modules) - before:
        if name.startswith("toy_"):
            del sys.modules[name]


def rules(name: str, third_party: tuple[str, ...] = ()) -> str:
    return RULES.format(name=name, third_party=third_party)


@pytest.fixture
def toy(install: Install) -> Callable[..., Path]:
    """Install a rule set `name` in the package `toy_<name>`, by default of the distribution `toy-<name>`."""

    def installed(
        name: str,
        *,
        distribution: str | None = None,
        third_party: tuple[str, ...] = (),
        more: dict[str, str | bytes] | None = None,
        folder: str | None = None,
        text: str | None = None,
    ) -> Path:
        package = f"toy_{name}"
        files: dict[str, str | bytes] = {f"{package}/__init__.py": text or rules(name, third_party)}
        files |= {f"{package}/{path}": content for path, content in (more or {}).items()}
        points = {"weighbridge.rulesets": {name: f"{package}:RULES"}}
        return install(distribution or f"toy-{name}", files, points, folder=folder)

    return installed
