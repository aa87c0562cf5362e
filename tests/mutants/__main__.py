"""Plant each mistake of `catalogue/*.toml` in a copy of the tree and require its test to go red.

    python tests/mutants [--list] [--json] [NAME ...]

A mistake has a `name`, the `file` it is made in, the exact text `old` (once in the file) and `new`, `why` it
would matter, and the `test` (a pytest node) that must catch it. The run fails where a mistake survives, where
its text no longer matches, and where its test is red without it. Nothing is written in the checkout.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
COPIED = ("shared", "services", "plugins", "tests", "pyproject.toml")
SECONDS = 180
WORKERS = 2
RED = 1  # pytest's "tests ran and some failed"; a mistake that only breaks the import proves nothing


@dataclass(frozen=True)
class Mutant:
    """One planted mistake."""

    name: str
    file: str
    old: str
    new: str
    why: str
    test: str


def catalogue() -> list[Mutant]:
    """Return every mistake of the catalogue, in the order of its files."""
    found = []
    for path in sorted((HERE / "catalogue").glob("*.toml")):
        for fields in tomllib.loads(path.read_text())["mutant"]:
            found.append(Mutant(**fields))
    return found


def copy_tree(to: Path) -> Path:
    """Copy what tests need into a folder and return it."""
    skipped = shutil.ignore_patterns("__pycache__", ".hypothesis", ".pytest_cache", "*.egg-info")
    for name in COPIED:
        source = REPOSITORY / name
        if source.is_dir():
            shutil.copytree(source, to / name, ignore=skipped)
        else:
            shutil.copy(source, to / name)
    return to


def environment(tree: Path) -> dict[str, str]:
    """Return the environment in which the copy's packages are the ones imported."""
    roots = [tree / "shared" / "src", tree / "services" / "src", *sorted((tree / "plugins").glob("*/src"))]
    made = dict(os.environ, PYTHONPATH=os.pathsep.join(map(str, roots)), PYTHONDONTWRITEBYTECODE="1")
    made["CI"] = "true"  # hypothesis then draws the same examples each time: caught once is caught always
    beside = REPOSITORY.parent / "shared" / "vectors"
    if beside.is_dir():
        made.setdefault("WEIGHBRIDGE_VECTORS", str(beside))
    return made


def run(tree: Path, tests: list[str]) -> tuple[int, str]:
    """Run tests in a copy; return pytest's exit code and the end of what it said."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-p",
        "no:cacheprovider",
        "--no-header",
        "--tb=line",
        *tests,
    ]
    try:
        done = subprocess.run(
            command,
            cwd=tree,
            env=environment(tree),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return -1, f"not done after {SECONDS} s"
    return done.returncode, "\n".join((done.stdout + done.stderr).strip().splitlines()[-4:])


def plant(tree: Path, mutant: Mutant) -> tuple[bool, str]:
    """Return whether a mistake was caught, and what to say of it."""
    path = tree / mutant.file
    original = path.read_text() if path.exists() else ""
    matches = original.count(mutant.old)
    if matches != 1:
        return False, f"its text stands {matches} times in {mutant.file}, not once"
    path.write_text(original.replace(mutant.old, mutant.new))
    try:
        code, said = run(tree, [mutant.test])
    finally:
        path.write_text(original)
    if code == RED:
        return True, "caught"
    return False, f"SURVIVED {mutant.test}" if code == 0 else f"pytest ended with {code}: {said}"


def green_without(tree: Path, mutants: list[Mutant]) -> dict[str, str]:
    """Return the tests that are red with no mistake planted, with what they said."""
    tests = sorted({mutant.test for mutant in mutants})
    if run(tree, tests)[0] == 0:
        return {}
    red = {test: run(tree, [test]) for test in tests}
    return {test: said for test, (code, said) in red.items() if code != 0}


def check(mutants: list[Mutant], folder: Path) -> list[tuple[Mutant, bool, str]]:
    """Plant every mistake, each worker in a copy of its own."""
    trees: Queue[Path] = Queue()
    for number in range(WORKERS):
        tree = folder / f"tree{number}"
        tree.mkdir()
        trees.put(copy_tree(tree))

    def one(mutant: Mutant) -> tuple[Mutant, bool, str]:
        tree = trees.get()
        try:
            return (mutant, *plant(tree, mutant))
        finally:
            trees.put(tree)

    red = green_without(folder / "tree0", mutants)
    left = [mutant for mutant in mutants if mutant.test not in red]
    refused = [(m, False, f"its test is red without it: {red[m.test]}") for m in mutants if m.test in red]
    with ThreadPoolExecutor(WORKERS) as pool:
        return refused + list(pool.map(one, left))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python tests/mutants", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--list", action="store_true", help="only list the catalogue")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")
    parser.add_argument("names", nargs="*", help="mistakes; all by default")
    asked = parser.parse_args()
    mutants = [mutant for mutant in catalogue() if not asked.names or mutant.name in asked.names]
    if asked.list:
        for mutant in mutants:
            print(f"{mutant.name:40} {mutant.why}")
        return 0
    with tempfile.TemporaryDirectory(prefix="weighbridge-mutants-") as folder:
        outcome = check(mutants, Path(folder))
    caught = sum(held for _, held, _ in outcome)
    if asked.json:
        print(json.dumps([{"name": m.name, "caught": held, "says": says} for m, held, says in outcome]))
    else:
        for mutant, held, says in outcome:
            print(f"{'ok  ' if held else 'FAIL'} {mutant.name:40} {says}")
        print(f"mutants: {caught} passed, {len(outcome) - caught} failed")
    return 0 if outcome and caught == len(outcome) else 1


if __name__ == "__main__":
    sys.exit(main())
