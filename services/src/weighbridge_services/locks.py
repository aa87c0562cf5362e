"""One process per service of a node: a lock that dies with the process that holds it."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import ClassVar

from weighbridge.errors import Broken


class AlreadyRunning(Broken):
    """A service of this node runs in another process."""

    code: ClassVar[str] = "already-running"


class Lock:
    """The right to run one service of a node."""

    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / "run" / f"{name}.lock"
        self._name = name
        self._handle = -1

    def take(self) -> None:
        """Take it. Raises AlreadyRunning."""
        self._path.parent.mkdir(mode=0o700, exist_ok=True)
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.pread(handle, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(handle)
            raise AlreadyRunning(
                f"{self._name} of {self._path.parent.parent} runs already, in process {holder}; stop that one first"
            ) from error
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
        self._handle = handle

    def release(self) -> None:
        """Let go of it; the empty file stays, so that nobody locks a file that is being deleted."""
        if self._handle >= 0:
            os.ftruncate(self._handle, 0)
            os.close(self._handle)
            self._handle = -1

    @property
    def holder(self) -> int | None:
        """The process that holds it now, or None."""
        try:
            handle = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            text = os.pread(handle, 32, 0).decode("ascii", "replace").strip()
            return int(text) if text.isdigit() else 0
        finally:
            os.close(handle)
        return None
