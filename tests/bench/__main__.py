"""Run every `bench_*.py` beside this file, each in a process of its own, and print one table.

    python tests/bench [--smoke] [--json] [NAME ...]

A benchmark is a module with `rows() -> list[(name, value, unit, note)]`. `--smoke` only shows that they all
run (they read `WEIGHBRIDGE_BENCH_SMOKE` and do little); figures of a smoke run mean nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SECONDS = {"smoke": 60, "full": 1800}

CHILD = """
import importlib.util, json, sys
sys.path.insert(0, {folder!r})
spec = importlib.util.spec_from_file_location("bench", {path!r})
module = importlib.util.module_from_spec(spec)
sys.modules["bench"] = module
spec.loader.exec_module(module)
print("ROWS " + json.dumps([list(row) for row in module.rows()]))
"""

Row = tuple[str, float, str, str]


def run(path: Path, smoke: bool) -> tuple[list[Row], str]:
    """Return the rows of one benchmark, or what went wrong with it."""
    environment = dict(os.environ, WEIGHBRIDGE_BENCH_SMOKE="1" if smoke else "")
    code = CHILD.format(folder=str(HERE), path=str(path))
    seconds = SECONDS["smoke" if smoke else "full"]
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return [], f"not done after {seconds} s"
    for line in done.stdout.splitlines():
        if line.startswith("ROWS "):
            return [(str(n), float(v), str(u), str(note)) for n, v, u, note in json.loads(line[5:])], ""
    return [], (done.stderr.strip().splitlines() or ["it printed no rows"])[-1]


def shown(value: float) -> str:
    """Return a figure with three significant digits, thousands apart."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def table(results: list[tuple[str, list[Row], str]]) -> str:
    """Return all rows as one text table."""
    lines = [("benchmark", "what", "value", "unit", "note")]
    for area, rows, problem in results:
        lines += [(area, name, shown(value), unit, note) for name, value, unit, note in rows]
        if problem:
            lines.append((area, "FAILED", "", "", problem))
    widths = [max(len(line[i]) for line in lines) for i in range(4)]
    made = []
    for area, name, value, unit, note in lines:
        cells = (
            area.ljust(widths[0]),
            name.ljust(widths[1]),
            value.rjust(widths[2]),
            unit.ljust(widths[3]),
            note,
        )
        made.append("  ".join(cells).rstrip())
    return "\n".join(made)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python tests/bench", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="only show that every benchmark runs")
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    parser.add_argument("names", nargs="*", help="areas (codec, fold, ...); all by default")
    asked = parser.parse_args()
    paths = sorted(HERE.glob("bench_*.py"))
    if asked.names:
        paths = [path for path in paths if path.stem.removeprefix("bench_") in asked.names]
    results = []
    for path in paths:
        area = path.stem.removeprefix("bench_")
        print(f"{area} …", file=sys.stderr)
        results.append((area, *run(path, asked.smoke)))
    if asked.json:
        print(json.dumps({area: {"rows": rows, "problem": problem} for area, rows, problem in results}))
    else:
        machine = f"{os.cpu_count()} cores, {platform.machine()}"
        print(f"{platform.python_implementation()} {platform.python_version()}, {machine}")
        print(table(results))
    bad = sum(bool(problem) for _, _, problem in results)
    print(f"benchmarks: {len(results) - bad} passed, {bad} failed", file=sys.stderr)
    return 1 if bad or not results else 0


if __name__ == "__main__":
    sys.exit(main())
