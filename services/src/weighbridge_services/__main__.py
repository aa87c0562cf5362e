"""The command `weighbridge`, also as `python -m weighbridge_services`: its first word, before anything is imported.

Until this is read Ctrl-C is Python's own to answer, in its way; from here on it is one line and exit code 130.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False  # as `typing` has it, which takes longer to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any, TypeAlias

    Handler: TypeAlias = Callable[[int, FrameType | None], Any]

INTERRUPTED = 130


def main() -> int:
    """Run the command; return its exit code."""
    # Where Ctrl-C is not Python's to hear, in a shell's background for one, it stays so.
    heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    code = _run(heard)
    if code == INTERRUPTED:
        # Python ends as by the signal, whatever the code, if the exception came through an `exec` of a text once.
        _flush()
        os._exit(INTERRUPTED)
    return code


def _run(heard: bool) -> int:
    try:
        # There is nothing yet to put in order, and an exception in the middle of an import may be lost, or be told
        # by whatever was being imported.
        _hear(heard, _end_at_once)
        from weighbridge_services.cli import main as run  # noqa: PLC0415

        _hear(heard, signal.default_int_handler)
        return run()
    except KeyboardInterrupt:
        print("weighbridge: interrupted", file=sys.stderr)
        return INTERRUPTED
    finally:
        # What is left is waiting for threads, which Python would break off with a traceback.
        _hear(heard, _end_at_once)


def _hear(heard: bool, handler: Handler) -> None:
    if heard:
        signal.signal(signal.SIGINT, handler)


def _end_at_once(*_: object) -> None:
    os.write(2, b"weighbridge: interrupted\n")
    os._exit(INTERRUPTED)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):  # a pipe that nobody reads, or no stream at all
            continue


if __name__ == "__main__":
    sys.exit(main())
