"""What holds for every test here: none reaches beyond loopback, and Ctrl-C reaches what tests start."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.append(str(Path(__file__).resolve().parent / "tests"))

import loopback_only

# How long an example takes is the machine's business; all else stays as it is, in CI as Hypothesis has it for CI.
settings.register_profile(
    "weighbridge", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("weighbridge")


def pytest_configure() -> None:
    """Guard the process, and hear Ctrl-C also where the suite runs in the background of a shell."""
    sys.addaudithook(loopback_only.look)
    # There it is started with SIGINT ignored, which every process that a test starts would inherit.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Leave thousands of tests out of every later garbage collection."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Generator[None, object, object]:
    """Fail a test that tried to reach beyond loopback, whatever its code made of the refusal."""
    found = yield
    reached, loopback_only.reached[:] = list(loopback_only.reached), []
    if reached:
        pytest.fail(f"the test reached beyond loopback: {', '.join(reached)}", pytrace=False)
    return found
