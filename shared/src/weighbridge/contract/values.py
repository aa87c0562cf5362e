"""What records, cells and a rule set's own types are made of."""

from __future__ import annotations

from typing import Any

import msgspec

from weighbridge.cid import Cid

CONTRACT_VERSION = 1
"""Part of every pin: two nodes whose contracts differ do not fold as if they were one."""

Value = None | bool | int | str | bytes | Cid | list[Any] | dict[str, Any]
"""What a record or a cell may hold. Integers stay within 64 bits; there are no floats."""


class Frozen(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A frozen value with named fields: for a rule set's own types, so that it need not import msgspec."""
