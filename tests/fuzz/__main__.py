"""Fuzz what reads bytes of strangers, for a stated time.

    python tests/fuzz SECONDS [--seed TEXT] [--only TARGET] [--keep FOLDER]
    python tests/fuzz --replay TARGET FILE

An input follows from seed, target and number. Anything but a refusal or a value that holds what it must is a failure,
and so is what costs more calls or memory than its size allows. What fails is kept as a file, and said how to run again.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from fuzz_running import Outcome, bounded, fuzz, run
from fuzz_targets import targets


def main() -> int:
    parser = argparse.ArgumentParser(prog="python tests/fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("seconds", type=float, nargs="?", default=60.0)
    parser.add_argument("--seed", default="1", help="another seed, other inputs; `now`: one of the clock")
    parser.add_argument("--only", help="one target")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"), help="where failing inputs go")
    parser.add_argument("--replay", nargs=2, metavar=("TARGET", "FILE"), help="run one file again")
    given = parser.parse_args()
    bounded()
    known = {each.name: each for each in targets()}
    if given.replay:
        name, path = given.replay
        print(run(known[name], Path(path).read_bytes(), memory=True))
        return 0
    seed = str(time.time_ns()) if given.seed == "now" else given.seed
    chosen = [each for each in known.values() if given.only in (None, each.name)]
    return told(fuzz(chosen, seed, given.seconds, given.keep), seed)


def told(outcomes: dict[str, Outcome], seed: str) -> int:
    print(f"seed {seed}")
    print(f"{'target':14} {'inputs':>9} {'accepted':>9} {'codes':>6} {'calls':>6}   most frequent")
    for name, each in outcomes.items():
        often = ", ".join(f"{code} {count}" for code, count in each.refused.most_common(4))
        print(
            f"{name:14} {each.tried:9,} {each.accepted:9,} {len(each.refused):6} {each.most_calls:6.0%}   {often}"
        )
    failures = [line for each in outcomes.values() for line in each.failures]
    for line in failures[:20]:
        print(line, file=sys.stderr)
    print(f"{sum(each.tried for each in outcomes.values()):,} inputs, {len(failures)} failures")
    return 1 if failures or not all(each.tried for each in outcomes.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
