"""An audit's process: `python -m weighbridge_services.audit_host.child NAME`.

It has two pipes and a plugin, no node folder, no keys and no broker: it reads folded entries from standard
input and writes what the audit finds to standard output. What the audit prints goes to standard error.
"""

from __future__ import annotations

import os
import sys
from typing import Any, BinaryIO

from weighbridge import codec
from weighbridge.contract import Audit
from weighbridge.errors import WeighbridgeError
from weighbridge.plugins import GROUPS, Plugins

from weighbridge_services.audit_host.decide import ask, frame, frame_length
from weighbridge_services.audit_host.errors import AuditBroken

GROUP = GROUPS[1]
BROKEN = 4


def load(name: str) -> Audit:
    """Return a fresh audit by its name. Raises PluginUnknown, PluginBroken, AuditBroken."""
    found: Any = Plugins({GROUP: [name]}).load(GROUP, name)
    audit: Any = found() if isinstance(found, type) else found
    if not callable(getattr(audit, "observe", None)):
        raise AuditBroken(f"{name} of {GROUP} has no method `observe`", name=name)
    made: Audit = audit
    return made


def work(audit: Audit, source: BinaryIO, sink: BinaryIO) -> None:
    """Answer every entry that comes, until no more come."""
    while len(head := source.read(4)) == 4:
        sent: Any = codec.decode_own(source.read(frame_length(head)))
        sink.write(frame(ask(audit, sent)))
        sink.flush()


def main(name: str) -> int:
    """Run the audit of that name."""
    # The pipe is kept apart from what the audit, or a library of its, may print.
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        audit = load(name)
    except WeighbridgeError as error:
        print(f"weighbridge audit {name}: {error}", file=sys.stderr)
        return BROKEN
    work(audit, sys.stdin.buffer, sink)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
