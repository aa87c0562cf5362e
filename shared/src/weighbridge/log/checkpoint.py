"""Checkpoints: the three lines that are signed. C2SP tlog-checkpoint, without extension lines."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

import msgspec

from weighbridge.limits import MAX_ORIGIN
from weighbridge.log.errors import CheckpointRefused, OriginRefused
from weighbridge.log.merkle import EMPTY_ROOT, HASH_SIZE

_ORIGIN: Final = re.compile(r"[\x21-\x7e]+")
_SIZE: Final = re.compile(r"0|[1-9][0-9]{0,18}")
_ROOT_LENGTH: Final = 44
_MAX_SIZE: Final = (1 << 63) - 1


class Checkpoint(msgspec.Struct, frozen=True):
    """The root of a log's first `size` leaves; `origin` says which log. Checked whenever it is made or read.

    Origins are printable ASCII without spaces, which is narrower than C2SP's and holds for every log here.
    """

    origin: str
    size: int
    root: bytes

    def __post_init__(self) -> None:
        if (
            type(self.origin) is not str
            or not _ORIGIN.fullmatch(self.origin)
            or len(self.origin) > MAX_ORIGIN
        ):
            raise CheckpointRefused(
                f"an origin is 1 to {MAX_ORIGIN} printable ASCII characters without spaces", field="origin"
            )
        if type(self.size) is not int or not 0 <= self.size <= _MAX_SIZE:
            raise CheckpointRefused(
                f"a size is an integer from 0 to 2^63 - 1, not {self.size!r}", field="size"
            )
        if type(self.root) is not bytes or len(self.root) != HASH_SIZE:
            raise CheckpointRefused(f"a root is {HASH_SIZE} bytes", field="root")
        if self.size == 0 and self.root != EMPTY_ROOT:
            raise CheckpointRefused("the root of no leaves is SHA-256 of nothing", field="root")

    def text(self) -> str:
        """Return the three lines, each ended by a line feed: the text of a signed note."""
        root = base64.b64encode(self.root).decode("ascii")
        return f"{self.origin}\n{self.size}\n{root}\n"

    @classmethod
    def parse(cls, text: str, origin: str | None = None) -> Checkpoint:
        """Return the checkpoint of this text, and of no other (`CheckpointRefused`).

        With `origin`, refuses that of another log (`OriginRefused`).
        """
        lines = text.split("\n") if type(text) is str else []
        if len(lines) != 4 or lines[3]:
            raise CheckpointRefused("a checkpoint is three lines, each ended by a line feed", field="$")
        if not _SIZE.fullmatch(lines[1]):
            raise CheckpointRefused("the size is decimal digits without leading zeros", field="size")
        checkpoint = cls(lines[0], int(lines[1]), _decoded(lines[2]))
        if checkpoint.text() != text:
            raise CheckpointRefused("the root is not in the one base64 form it has", field="root")
        if origin is not None and checkpoint.origin != origin:
            raise OriginRefused(f"a checkpoint of {checkpoint.origin}, and one of {origin} was asked for")
        return checkpoint


def _decoded(line: str) -> bytes:
    if len(line) != _ROOT_LENGTH or not line.isascii():
        raise CheckpointRefused(f"the root is {_ROOT_LENGTH} characters of base64", field="root")
    try:
        return base64.b64decode(line, validate=True)
    except binascii.Error as error:
        raise CheckpointRefused(f"the root is no base64: {error}", field="root") from error
