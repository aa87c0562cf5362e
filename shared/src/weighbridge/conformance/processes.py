"""The same games in other processes: another hash seed, time zone, locale, directory, and another Python.

    python -m weighbridge.conformance.processes MODULE:NAME FIRST STOP

prints what each generated game came to, one line for each seed.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from weighbridge.conformance.folding import summary
from weighbridge.conformance.games import generated
from weighbridge.contract import RuleSet
from weighbridge.errors import Broken

OTHER_PYTHON = "WEIGHBRIDGE_OTHER_PYTHON"
"""The environment variable that names another Python (with Weighbridge's dependencies) to compare with."""

SURROUNDINGS: tuple[Mapping[str, str], ...] = (
    {"PYTHONHASHSEED": "0", "TZ": "UTC", "LANG": "C", "LC_ALL": "C"},
    {"PYTHONHASHSEED": "4242", "TZ": "Pacific/Chatham", "LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8"},
)
"""Two environments that no honest rule set can tell apart."""


class RuleSetNowhere(Broken):
    """A rule set is no module's attribute, so that no other process can import it."""

    code: ClassVar[str] = "rule-set-nowhere"


def transcripts(where: str, first: int, stop: int, surroundings: Mapping[str, str], python: str = "") -> str:
    """Return what another process prints for the seeds from `first` to before `stop`.

    `where` is `MODULE:NAME` of the rule set. The process starts in an empty directory of its own.
    """
    command = [python or sys.executable, "-m", __name__, where, str(first), str(stop)]
    environment = {**os.environ, **surroundings, "PYTHONPATH": os.pathsep.join(_source_folders())}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            command, env=environment, cwd=folder, capture_output=True, text=True, check=False, timeout=600
        )
    if done.returncode:
        return f"{done.stdout}{done.stderr}"
    return done.stdout


def everywhere(where: str, first: int, stop: int) -> dict[str, str]:
    """Return what each process printed, by a name for it."""
    found = {
        f"PYTHONHASHSEED={each['PYTHONHASHSEED']} TZ={each['TZ']}": transcripts(where, first, stop, each)
        for each in SURROUNDINGS
    }
    other = os.environ.get(OTHER_PYTHON, "")
    if other:
        found[other] = transcripts(where, first, stop, SURROUNDINGS[0], other)
    return found


def place_of(ruleset: RuleSet) -> str:
    """Return `MODULE:NAME` of a rule set: where its class stands, or the package above."""
    module = type(ruleset).__module__
    while module:
        for name, value in vars(sys.modules[module]).items():
            if value is ruleset:
                return f"{module}:{name}"
        module = module.rpartition(".")[0]
    raise RuleSetNowhere(
        f"{type(ruleset).__qualname__} has no instance at the top of its module or package: other processes "
        "could not import it"
    )


def _source_folders() -> list[str]:
    """The folders beside the interpreter's own, from which this process imports."""
    own = (sys.prefix, sys.base_prefix, sys.exec_prefix)
    paths = [str(Path(entry).resolve()) for entry in sys.path if entry]
    return [path for path in paths if not path.startswith(own) and Path(path).is_dir()]


def main(arguments: list[str]) -> None:
    """Print one line for each seed."""
    where, first, stop = arguments
    module, _, name = where.partition(":")
    ruleset: RuleSet = getattr(importlib.import_module(module), name)
    for seed in range(int(first), int(stop)):
        print(seed, summary(generated(ruleset, seed)))


if __name__ == "__main__":
    main(sys.argv[1:])
