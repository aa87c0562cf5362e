from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "tests")]

from vectors_root import OWN  # noqa: E402


@pytest.fixture(scope="session")
def pds() -> Path:
    """What a PDS in fact wrote: frames live and replayed, repositories, proofs, documents."""
    return OWN / "atproto" / "own-pds"
