"""Settings of the sources, checked in full before anything is opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

import msgspec
from weighbridge.ports import BadBeaconSettings, settings_of

T = TypeVar("T", bound=msgspec.Struct)
Api = Literal["v1", "v2"]

PUBLIC = (
    "https://api.drand.sh",
    "https://drand.cloudflare.com",
    "https://api2.drand.sh",
    "https://api3.drand.sh",
)
"""Relays that drand documents; the second is another operator's, for the others have failed together
before."""


class Relay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One relay: its address, without a chain's hash, and which of drand's two HTTP interfaces it speaks."""

    url: str
    api: Api = "v1"

    def path(self, chain_hash: str, round: int | None) -> str:
        """Return the address of a round's beacon, or of the latest."""
        which = "latest" if round is None else str(round)
        if self.api == "v1":
            return f"{self.url}/{chain_hash}/public/{which}"
        return f"{self.url}/v2/chains/{chain_hash}/rounds/{which}"


class RelaySettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`seconds` an answer may take in all; `wait` seconds after a round is due before a relay is asked."""

    relays: list[str | Relay] = []
    seconds: float = 5.0
    wait: float = 1.0


class FileSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`path` of a file of beacons."""

    path: str


class LocalSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`seed` in hex, `genesis` in seconds since 1970 UTC, `period` in seconds."""

    seed: str
    genesis: int
    period: int = 3


def relay_settings(given: Mapping[str, Any]) -> tuple[tuple[Relay, ...], RelaySettings]:
    """Return the relays to ask, in order, and the other settings."""
    settings = convert(given, RelaySettings)
    if not 0.01 <= settings.seconds <= 60 or not 0 <= settings.wait <= 60:
        raise BadBeaconSettings("`seconds` is 0.01 to 60, and `wait` 0 to 60")
    named = settings.relays or list(PUBLIC)
    return tuple(_relay(each) for each in named), settings


def _relay(named: str | Relay) -> Relay:
    relay = Relay(named) if isinstance(named, str) else named
    try:
        parts = urlsplit(relay.url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        fine = False
    else:
        fine = fine and not (parts.query or parts.fragment or parts.username or parts.password)
    if not fine:
        raise BadBeaconSettings(
            f"{relay.url!r} is no relay: give http(s)://host, with a path if it needs one, and nothing more"
        )
    return Relay(relay.url.rstrip("/"), relay.api)


def convert(given: Mapping[str, Any], kind: type[T]) -> T:
    """Return settings as their type. Raises BadBeaconSettings with every problem and its path."""
    return settings_of(given, kind, "beacons.settings", BadBeaconSettings)
