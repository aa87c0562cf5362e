"""Where the handed test vectors lie: beside the checkout, or where WEIGHBRIDGE_VECTORS says."""

from __future__ import annotations

import os
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
OWN = Path(__file__).resolve().parent / "vectors"


def handed_vectors() -> Path | None:
    """Return the folder of third-party vectors (with `ipld/` and `atproto/interop/`), or None where absent."""
    named = os.environ.get("WEIGHBRIDGE_VECTORS")
    folder = Path(named) if named else REPOSITORY.parent / "shared" / "vectors"
    return folder if folder.is_dir() else None
