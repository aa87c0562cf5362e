"""Fold every scenario at hand on this Python and on another, and compare what they write byte by byte.

    python tests/cross OTHER_PYTHON

The two differ in hash seed, time zone, locale and folder as well. What is compared: the exit code, the result
object, and each step's entry, delta and state root (`weighbridge foldtest --json --trace`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS))

from repository import PLUGINS, REPOSITORY  # noqa: E402
from vectors_root import handed_vectors  # noqa: E402

HERE = {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8"}
THERE = {"PYTHONHASHSEED": "4711", "TZ": "Pacific/Kiritimati", "LC_ALL": "C"}


def scenarios() -> list[Path]:
    """Return every scenario file of the repository, and those handed beside it."""
    folders = [REPOSITORY / "tests", *(plugin / "tests" for plugin in PLUGINS)]
    handed = handed_vectors()
    if handed is not None:
        folders.append(handed.parent / "scenarios")
    paths = [path for folder in folders for path in sorted(folder.rglob("*.json"))]
    return [path for path in paths if is_scenario(path)]


def is_scenario(path: Path) -> bool:
    """Whether a JSON file has the keys of a scenario."""
    try:
        found = json.loads(path.read_text())
    except ValueError:
        return False
    return isinstance(found, dict) and {"ruleset", "root", "steps"} <= set(found)


def folded(python: str, more: dict[str, str], scenario: Path, folder: Path) -> tuple[int, bytes, bytes]:
    """Return the exit code, the result and the trace of a scenario folded by one Python."""
    trace = folder / "trace"
    trace.unlink(missing_ok=True)
    command = [
        python,
        "-m",
        "weighbridge_services",
        "foldtest",
        str(scenario),
        "--json",
        "--trace",
        str(trace),
    ]
    done = subprocess.run(command, cwd=folder, env={**os.environ, **more}, capture_output=True, check=False)
    return done.returncode, done.stdout, trace.read_bytes() if trace.exists() else b""


def main() -> int:
    """Compare; the exit code is 1 where two runs differ or nothing could be folded at all."""
    other = str(Path(sys.argv[1]).absolute())
    paths, different, folds = scenarios(), [], 0
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        for path in paths:
            here = folded(sys.executable, HERE, path, Path(one))
            there = folded(other, THERE, path, Path(two))
            folds += bool(here[2])
            if here != there:
                different.append(path)
                print(f"differs: {path.name}: exit codes {here[0]} and {there[0]}")
    print(f"{len(paths)} scenarios, {folds} folded to the end")
    print(f"cross: {len(paths) - len(different)} passed, {len(different)} failed")
    return 1 if different or not folds else 0


if __name__ == "__main__":
    sys.exit(main())
