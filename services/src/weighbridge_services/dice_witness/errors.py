"""What can go wrong between a round that is awaited and its beacon in the stream."""

from __future__ import annotations

from typing import ClassVar

from weighbridge.errors import Unavailable


class NoBeaconsConfigured(Unavailable):
    """The configuration names no source of beacons."""

    code: ClassVar[str] = "no-beacons-configured"


class NoBeacon(Unavailable):
    """No source has that beacon now; the message says what each of them said."""

    code: ClassVar[str] = "no-beacon"


class NoChainYet(Unavailable):
    """The log holds no well-formed root, so that nothing says which chain the game rolls on."""

    code: ClassVar[str] = "no-chain-yet"
