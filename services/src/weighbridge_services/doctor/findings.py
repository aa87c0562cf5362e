"""What a look at one thing came to."""

from __future__ import annotations

from typing import Final, NamedTuple

OK: Final = "ok"
WARN: Final = "warn"
BAD: Final = "bad"


class Finding(NamedTuple):
    """One thing looked at: what, how bad (ok, warn, bad), and a sentence."""

    check: str
    level: str
    says: str
