"""The guard that keeps tests on loopback holds, for whatever way out."""

from __future__ import annotations

import asyncio
import socket
import urllib.request
from collections.abc import Callable

import loopback_only
import pytest

OUTSIDE = "192.0.2.1"  # RFC 5737: nobody's


def connect() -> None:
    socket.create_connection((OUTSIDE, 9), 1)


def connect_by_name() -> None:
    socket.create_connection(("relay.example", 9), 1)


def fetch() -> None:
    urllib.request.urlopen(f"http://{OUTSIDE}/", timeout=1)


def connect_in_an_event_loop() -> None:
    asyncio.run(asyncio.wait_for(asyncio.open_connection(OUTSIDE, 9), 1))


def resolve_in_an_event_loop() -> None:
    asyncio.run(asyncio.wait_for(asyncio.open_connection("relay.example", 9), 1))


def send() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"x", (OUTSIDE, 9))


@pytest.mark.parametrize(
    "reach",
    [connect, connect_by_name, fetch, connect_in_an_event_loop, resolve_in_an_event_loop, send],
    ids=lambda reach: reach.__name__,
)
def test_whoever_reaches_beyond_loopback_is_refused_and_noted(reach: Callable[[], None]) -> None:
    with pytest.raises(OSError, match="tests stay on loopback"):
        reach()
    assert len(loopback_only.reached) == 1
    loopback_only.reached.clear()  # else this very test failed


def test_what_stays_on_this_machine_is_let_be() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(("localhost", server.getsockname()[1]), 1).close()
    here, there = socket.socketpair()
    here.close()
    there.close()
    assert loopback_only.reached == []


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost", b"localhost", ""])
def test_loopback_is_told_by_name_and_address(host: object) -> None:
    assert loopback_only.is_loopback(host)


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "10.0.0.1", "192.0.2.1", "::", "2001:db8::1", "example.org", "localhost.example"]
)
def test_everything_else_is_beyond_it(host: object) -> None:
    assert not loopback_only.is_loopback(host)
