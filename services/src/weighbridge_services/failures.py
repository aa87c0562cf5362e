"""What a failure looks like on the command line: one line that says what and what to do, and an exit code."""

from __future__ import annotations

import errno

from weighbridge.errors import Broken, Refused, Unavailable, WeighbridgeError
from weighbridge.ledger.errors import DiskFull, ReadOnly

EXIT = {"refused": 2, "unavailable": 3, "broken": 4}
"""Exit codes by fate. 0: done, and what was to hold holds; 1: it does not; 130: interrupted."""
INTERRUPTED = 130
PIPE_CLOSED = 141


class NoSuchFile(Refused):
    """A file or folder that was named is not there."""

    code = "no-such-file"


class NotAFile(Refused):
    """A folder stands where a file was expected, or the other way round."""

    code = "not-a-file"


class NotPermitted(Refused):
    """The file may not be read or written by this user."""

    code = "not-permitted"


class IoFailed(Unavailable):
    """The operating system refused an operation for a reason of its own."""

    code = "io-failed"


class Bug(Broken):
    """An error that no code of ours names."""

    code = "bug"


_KNOWN: dict[int, tuple[type[WeighbridgeError], str]] = {
    errno.ENOENT: (NoSuchFile, "is not there; check the path"),
    errno.EISDIR: (NotAFile, "is a folder; name a file in it"),
    errno.ENOTDIR: (NotAFile, "has a file where a folder should be; check the path"),
    errno.EACCES: (NotPermitted, "may not be read or written by this user; change its mode or its owner"),
    errno.EPERM: (NotPermitted, "may not be read or written by this user; change its mode or its owner"),
    errno.ENOSPC: (DiskFull, "could not be written: the disk is full; free some space and run this again"),
    errno.EDQUOT: (
        DiskFull,
        "could not be written: the quota is used up; free some space and run this again",
    ),
    errno.EROFS: (ReadOnly, "is on a read-only file system; name a folder that can be written"),
}


def of_os_error(error: OSError) -> WeighbridgeError:
    """Return the coded form of what the operating system said."""
    what = str(error.filename) if error.filename is not None else "the output"
    kind, advice = _KNOWN.get(error.errno or 0, (IoFailed, f"failed: {error.strerror or error}; try again"))
    return kind(f"{what} {advice}", errno=error.errno)


def of_bug(error: Exception) -> WeighbridgeError:
    """Return the coded form of an exception that nothing expected."""
    return Bug(
        f"{type(error).__name__}: {error}; please report it with what `weighbridge --traceback …` prints"
    )


def line_of(error: WeighbridgeError) -> str:
    """Return the one line for standard error. What comes from outside cannot move the cursor or add lines."""
    text = "".join(
        c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(error.message.split())
    )
    return f"weighbridge: {error.code}: {text}"
