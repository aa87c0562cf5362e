"""The guard of the tests: whoever connects or sends beyond loopback, or asks for a name, is refused and noted."""

from __future__ import annotations

import ipaddress
from typing import Any

reached: list[str] = []
"""Where the test that runs now tried to go."""

_CONNECTING = ("socket.connect", "socket.sendto", "socket.sendmsg")
_RESOLVING = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")


class BeyondLoopback(OSError):
    """A test tried to reach beyond loopback."""


def look(event: str, arguments: tuple[Any, ...]) -> None:
    """Look at an audit event of the interpreter (https://docs.python.org/3/library/audit_events.html)."""
    if not event.startswith("socket."):
        return
    if event in _CONNECTING:
        address = arguments[1]
        # Neither a path of a Unix socket nor the address of a socket that is connected already.
        host = address[0] if isinstance(address, tuple) and address else None
        allowed = host is None or is_loopback(host)
    elif event in _RESOLVING:
        host = arguments[0]
        allowed = host is None or is_loopback(host) or is_literal(host)
    else:
        return
    if not allowed:
        reached.append(f"{event} {host!r}")
        raise BeyondLoopback(f"tests stay on loopback: {event} {host!r}")


def is_loopback(host: object) -> bool:
    """Whether a host, by name or address, is this machine."""
    text = _text(host)
    if text in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(text.partition("%")[0]).is_loopback
    except ValueError:
        return False


def is_literal(host: object) -> bool:
    """Whether a host is an address, which nobody is asked for."""
    try:
        ipaddress.ip_address(_text(host).partition("%")[0])
    except ValueError:
        return False
    return True


def _text(host: object) -> str:
    return host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
