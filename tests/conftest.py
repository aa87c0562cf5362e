from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "toys"), str(HERE / "unit" / "fold")]

from vectors_root import OWN, handed_vectors  # noqa: E402


@pytest.fixture(scope="session")
def vectors() -> Path:
    """The third-party vectors, which are not part of the repository; without them a test skips, in CI it fails."""
    folder = handed_vectors()
    if folder is None:
        reason = (
            "the third-party vectors are not beside this checkout (set WEIGHBRIDGE_VECTORS to their folder)"
        )
        if os.environ.get("WEIGHBRIDGE_REQUIRE_VECTORS"):
            pytest.fail(reason)
        pytest.skip(reason)
    return folder


@pytest.fixture(scope="session")
def own_vectors() -> Path:
    """The vectors that are part of the repository."""
    return OWN
