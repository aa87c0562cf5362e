"""Running inputs against a target within bounds of work and memory; what goes past them is a failure, never a wait."""

from __future__ import annotations

import resource
import signal
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Final

from fuzz_targets import Target
from weighbridge.errors import Refused

CALLS: Final = (5_000, 15)
"""Calls of functions, Python's and C's, that one input may cost: so many, and so many for each of its bytes."""
MEMORY: Final = (8_000_000, 64)
"""Bytes that one input may have allocated at once, likewise."""
MEASURED: Final = 16
"""Of so many inputs one has its memory measured, which is slow; all run within `ADDRESS_SPACE` more than at first."""
ADDRESS_SPACE: Final = 2 << 30
HANGS: Final = 60
"""Seconds after which a call that makes no calls counts as one that never returns."""
SLICE: Final = 64


class TooMuch(BaseException):
    """An input cost more than it may. No Exception: nothing on the way is to catch it."""


@dataclass
class Outcome:
    """What became of the inputs of one target."""

    tried: int = 0
    accepted: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    most_calls: float = 0.0
    """Of any input, the calls it cost as a share of its bound."""
    failures: list[str] = field(default_factory=list)


def run(target: Target, data: bytes, *, memory: bool) -> tuple[str | None, float]:
    """Return the code with which an input is refused (None: it was accepted), and the share of calls it cost.

    Raises whatever else comes of it, and TooMuch.
    """
    with (
        counted(CALLS[0] + CALLS[1] * len(data)) as calls,
        measured(MEMORY[0] + MEMORY[1] * len(data), memory),
    ):
        try:
            target.run(data)
            code = None
        except Refused as refusal:
            code = refusal.code
    return code, calls[0] / (CALLS[0] + CALLS[1] * len(data))


@contextmanager
def counted(most: int) -> Generator[list[int]]:
    """Count calls; raise TooMuch at the one that is too many."""
    calls = [0]

    def profile(_frame: FrameType, event: str, _argument: Any) -> None:
        if event in ("call", "c_call"):
            calls[0] += 1
            if calls[0] > most:
                sys.setprofile(None)
                raise TooMuch(f"more than {most} calls")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield calls
    finally:
        sys.setprofile(before)


@contextmanager
def measured(most: int, really: bool) -> Generator[None]:
    if not really:
        yield
        return
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    if peak > most:
        raise TooMuch(f"{peak} bytes of memory, and at most {most} are allowed")


def bounded() -> None:
    """Have memory without bound, and calls without end, end the input that asks for them. For a process of its own."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ADDRESS_SPACE, resource.RLIM_INFINITY))

    def hangs(_number: int, _frame: FrameType | None) -> None:
        raise TooMuch(f"not done after {HANGS} s")

    signal.signal(signal.SIGALRM, hangs)


def fuzz(targets: list[Target], seed: str, seconds: float, folder: Path) -> dict[str, Outcome]:
    """Run inputs against all targets in turn, each for the same time, and keep what fails in a folder."""
    outcomes = {target.name: Outcome() for target in targets}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for target in targets:
            slice_ends = time.monotonic() + min(1.0, seconds / (4 * len(targets)))
            while time.monotonic() < slice_ends:
                for _ in range(SLICE):
                    one(target, seed, outcomes[target.name], folder)
    return outcomes


def one(target: Target, seed: str, outcome: Outcome, folder: Path) -> None:
    """Run the next input of a target."""
    number = outcome.tried
    data = target.input(seed, number)
    outcome.tried += 1
    signal.alarm(HANGS)
    try:
        code, share = run(target, data, memory=number % MEASURED == 0)
    except (Exception, TooMuch) as failure:
        outcome.failures.append(kept(target, seed, number, data, failure, folder))
        return
    finally:
        signal.alarm(0)
    outcome.most_calls = max(outcome.most_calls, share)
    if code is None:
        outcome.accepted += 1
    else:
        outcome.refused[code] += 1


def kept(target: Target, seed: str, number: int, data: bytes, failure: BaseException, folder: Path) -> str:
    """Keep an input that failed, and return how it is run again."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{target.name}-{seed}-{number}.bin"
    path.write_bytes(data)
    says = f"{type(failure).__name__}: {str(failure)[:200]}"
    what = f"{target.name}, seed {seed}, input {number}: {says}"
    return f"{what}\n  again: python tests/fuzz --replay {target.name} {path}"
