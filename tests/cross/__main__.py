"""Fold every scenario at hand on this Python and on another, and compare what they write byte by byte.

    python tests/cross OTHER_PYTHON

The two differ in hash seed, time zone, locale and folder as well. What is compared: the exit code, the result
object, and each step's entry, delta and state root (`weighbridge foldtest --json --trace`).
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS))

from repository import PLUGINS, REPOSITORY, manifest  # noqa: E402
from vectors_root import handed_vectors  # noqa: E402

HERE = {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8"}
THERE = {"PYTHONHASHSEED": "4711", "TZ": "Pacific/Kiritimati", "LC_ALL": "C"}
CHILD = "--fold"


def scenarios() -> list[Path]:
    """Return the scenario files of the repository and those handed beside it, of the rule sets that are here."""
    folders = [REPOSITORY / "tests", *PLUGINS]
    handed = handed_vectors()
    if handed is not None:
        folders.append(handed.parent / "scenarios")
    paths = [path for folder in folders for path in sorted(folder.rglob("*.json"))]
    names = {
        name
        for plugin in PLUGINS
        for name in manifest(plugin)["project"].get("entry-points", {}).get("weighbridge.rulesets", {})
    }
    return [path for path in paths if ruleset_of(path) in names]


def ruleset_of(path: Path) -> str | None:
    """Return the rule set of a scenario file, None of any other JSON file."""
    try:
        found = json.loads(path.read_text())
    except ValueError:
        return None
    is_one = isinstance(found, dict) and {"ruleset", "root", "steps"} <= set(found)
    return found["ruleset"] if is_one else None


def fold_all(paths: list[str]) -> None:
    """Print for each scenario its exit code and the digests of its result and trace: what the child does."""
    from weighbridge_services.cli import main as command  # noqa: PLC0415  (only in the child)

    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            trace = Path(folder) / "trace"
            trace.write_bytes(b"")
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = command(["foldtest", path, "--json", "--trace", str(trace)])
            result = hashlib.sha256(out.getvalue().encode()).hexdigest()
            print(json.dumps([path, code, result, hashlib.sha256(trace.read_bytes()).hexdigest()]))


def folded(python: str, more: dict[str, str], paths: list[Path]) -> dict[str, list[object]]:
    """Return what one Python prints, by path."""
    command = [python, str(TESTS / "cross"), CHILD, *map(str, paths)]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            command, cwd=folder, env={**os.environ, **more}, capture_output=True, text=True, check=False
        )
    if done.returncode:
        print(done.stderr, file=sys.stderr)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {path: found for path, *found in lines}


def main() -> int:
    """Compare; the exit code is 1 where two runs differ or nothing was folded."""
    if sys.argv[1] == CHILD:
        fold_all(sys.argv[2:])
        return 0
    other = str(Path(sys.argv[1]).absolute())
    paths = scenarios()
    here, there = folded(sys.executable, HERE, paths), folded(other, THERE, paths)
    different = [path for path in map(str, paths) if path not in here or here[path] != there.get(path)]
    for path in different:
        print(f"differs: {path}: {here.get(path)} and {there.get(path)}")
    print(f"cross: {len(paths) - len(different)} passed, {len(different)} failed")
    return 1 if different or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
