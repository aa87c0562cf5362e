"""Every size limit of Weighbridge, in one table. Sizes are in bytes, counts in items."""

from __future__ import annotations

from typing import Final

# --- Values and records ------------------------------------------------------------------------------------

MAX_RECORD: Final = 262_144
"""A record's DAG-CBOR."""

MAX_NESTING: Final = 32
"""How deep lists and maps may nest: a list of 32 lists in each other is the deepest value there is."""

MIN_INTEGER: Final = -(2**64)
"""The lowest integer of DAG-CBOR: major type 1 with a 64-bit argument."""

MAX_INTEGER: Final = 2**64 - 1
"""The highest integer of DAG-CBOR: major type 0 with a 64-bit argument."""
