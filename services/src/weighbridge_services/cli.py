"""The command `weighbridge`: arguments in, one command called, what fails turned into one line and a code."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import sys
import traceback
from collections.abc import Sequence

from weighbridge.errors import WeighbridgeError

from weighbridge_services import commands
from weighbridge_services.failures import EXIT, INTERRUPTED, PIPE_CLOSED, line_of, of_bug, of_os_error

EPILOG = """exit codes: 0 done, and it holds; 1 it does not hold; 2 refused input; 3 unavailable, try again;
4 broken installation or state; 130 interrupted"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name; return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    trace = "--traceback" in arguments
    _let_any_text_out()
    try:
        parsed = parser(arguments).parse_args(arguments)
        code: int = parsed.run(parsed)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print("weighbridge: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _stop_writing()
        return PIPE_CLOSED
    except WeighbridgeError as error:
        return _fail(error, trace)
    except OSError as error:
        return _fail(of_os_error(error), trace)
    except Exception as error:
        return _fail(of_bug(error), trace)


def parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser with every command. Of plugins' commands only the one in `arguments` is imported."""
    root = argparse.ArgumentParser(
        prog="weighbridge",
        description="Recompute a game from its log, and compare.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    root.add_argument(
        "--version", action="version", version=f"weighbridge {importlib.metadata.version('weighbridge')}"
    )
    root.add_argument(
        "--traceback", action="store_true", help="on failure, print where in the code it came from"
    )
    subparsers = root.add_subparsers(metavar="COMMAND", required=True)
    asked = next((each for each in arguments if not each.startswith("-")), None)
    commands.register_own(subparsers, asked)
    commands.register_plugins(subparsers, asked)
    return root


def _fail(error: WeighbridgeError, trace: bool) -> int:
    if trace:
        traceback.print_exc()
    try:
        sys.stdout.flush()
    except OSError:
        _stop_writing()
    print(line_of(error), file=sys.stderr)
    return EXIT[error.fate]


def _let_any_text_out() -> None:
    # A stream that was closed before this began is none at all in Python.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _stop_writing() -> None:
    # What is still buffered would be written at exit and complain again.
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return
