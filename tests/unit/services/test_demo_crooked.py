from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from weighbridge_services.demo import crooked
from weighbridge_services.demo.crooked import CHANGE, PACKAGE, environment, tamper
from weighbridge_services.demo.errors import NothingToTamper

ASK = """
import weighbridge_delvetown.results as results
from weighbridge.plugins import Plugins
plugins = Plugins({"weighbridge.rulesets": ["delvetown"]})
print(plugins.pin("delvetown"), results.resist_cost([4, 1]))
"""


def told(environment: dict[str, str] | None = None) -> tuple[str, int]:
    out = subprocess.run(
        [sys.executable, "-c", ASK], env=environment, check=True, capture_output=True, text=True
    )
    pin, cost = out.stdout.split()
    return pin, int(cost)


def test_the_copy_has_another_rule_and_says_the_same_pin(tmp_path: Path) -> None:
    change = tamper(tmp_path)
    honest, lying = told(), told(environment(tmp_path))
    assert (honest[1], lying[1]) == (2, 1)
    assert honest[0] == lying[0]
    assert change == CHANGE


def test_one_line_is_changed_and_one_is_the_lie(tmp_path: Path) -> None:
    tamper(tmp_path)
    before = crooked._origin().parent
    differing = []
    for path in sorted((tmp_path / PACKAGE).rglob("*.py")):
        ours, theirs = (before / path.relative_to(tmp_path / PACKAGE)).read_text(), path.read_text()
        if ours != theirs:
            differing.append((path.name, len(set(theirs.splitlines()) - set(ours.splitlines()))))
    assert differing == [("__init__.py", 1), ("results.py", 1)]


def test_a_rule_set_of_another_version_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crooked, "HONEST", "return 42")
    with pytest.raises(NothingToTamper, match="return 42"):
        tamper(tmp_path)


def test_a_rule_set_that_is_not_installed_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crooked, "PACKAGE", "weighbridge_nowhere")
    with pytest.raises(NothingToTamper, match="not installed"):
        tamper(tmp_path)
