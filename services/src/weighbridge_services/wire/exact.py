"""Exact bytes: nothing is guessed about a payload, and nothing is added to it."""

from __future__ import annotations

from typing import Any


class ExactBytes:
    """The codec of every subscriber and publisher.

    FastStream's own reads JSON where no content type is given: b"7" would arrive as the number 7.
    """

    async def decode(self, msg: Any) -> bytes:
        """Return a message's body as it came."""
        body: bytes = msg.body
        return body

    async def encode(self, msg: Any, serializer: Any = None) -> tuple[bytes, str | None]:
        """Return the bytes as they are; a handler's empty answer is empty bytes."""
        return (b"" if msg is None else bytes(msg)), None
