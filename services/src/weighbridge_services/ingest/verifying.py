"""Signatures verified in a process of their own, where there are many of them: the interpreter does one at a time.

A helper reads claims from its standard input and writes a byte for each to its standard output; it ends when
its node does. It is started by the first large batch: a quiet node needs none.
"""

from __future__ import annotations

import asyncio
import struct
import sys
from collections.abc import Sequence
from typing import BinaryIO, Final, NamedTuple

import structlog
from weighbridge.identity import ed25519

FEW: Final = 8
"""Signatures that are not worth a trip to the helper."""
_HEAD: Final = struct.Struct(">32s64sI")
_COUNT: Final = struct.Struct(">I")

log = structlog.get_logger()


class Claim(NamedTuple):
    """A signature (64 bytes) of a message, said to be of a public key (32 bytes)."""

    public: bytes
    message: bytes
    signature: bytes


class Verifier:
    """Says of claims whether they hold, in order."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._stopped = False

    async def verify(self, claims: Sequence[Claim]) -> list[bool]:
        """Return whether each claim holds."""
        if len(claims) > FEW and not self._stopped:
            async with self._turn:
                try:
                    return await self._ask(claims)
                except (OSError, asyncio.IncompleteReadError) as error:
                    log.warning("signatures are verified without a helper", reason=str(error))
                    await self._end()
        return [holds(each) for each in claims]

    async def stop(self) -> None:
        """Let the helper end."""
        self._stopped = True
        async with self._turn:
            await self._end()

    async def _ask(self, claims: Sequence[Claim]) -> list[bool]:
        process = self._process if self._process is not None else await self._start()
        if process.stdin is None or process.stdout is None:
            raise BrokenPipeError("the helper has no pipes")
        process.stdin.write(packed(claims))
        await process.stdin.drain()
        return [each == 1 for each in await process.stdout.readexactly(len(claims))]

    async def _start(self) -> asyncio.subprocess.Process:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "weighbridge_services.ingest.verifying",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is the node's to hear
        )  # fmt: skip
        return self._process

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            if process.stdin is not None:
                process.stdin.close()
            await process.wait()


def holds(claim: Claim) -> bool:
    """Whether a claim holds."""
    return ed25519.verify(claim.public, claim.message, claim.signature)


def packed(claims: Sequence[Claim]) -> bytes:
    """Return claims as the helper reads them."""
    parts = [_COUNT.pack(len(claims))]
    for each in claims:
        parts += [_HEAD.pack(each.public, each.signature, len(each.message)), each.message]
    return b"".join(parts)


def serve(source: BinaryIO, target: BinaryIO) -> None:
    """Verify claims until the input ends."""
    while len(count := source.read(_COUNT.size)) == _COUNT.size:
        answers = bytearray()
        for _ in range(_COUNT.unpack(count)[0]):
            public, signature, length = _HEAD.unpack(source.read(_HEAD.size))
            answers.append(holds(Claim(public, source.read(length), signature)))
        target.write(answers)
        target.flush()


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
