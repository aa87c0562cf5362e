"""The guarded client: what is asked, and everything that is not. All of it on loopback, or refused before."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from repo_making import ALICE
from weighbridge.ports import Refused, Unavailable
from weighbridge_atproto import guarded
from weighbridge_atproto.documents import document_address, read_document
from weighbridge_atproto.guarded import (
    AddressRefused,
    AnswerStatus,
    AnswerTooLarge,
    Guarded,
    HostLimit,
    HostUnavailable,
    check_address,
    check_url,
)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[str]:
    """A server on loopback; its address."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def asked(handler: Handler, path: str = "/", most: int = 1000, **settings: Any) -> bytes:
    """Ask a server on loopback."""

    async def work() -> bytes:
        async with serving(handler) as url:
            client = Guarded(loopback=True, **settings)
            try:
                return await client.get(url + path, most)
            finally:
                await client.close()

    return asyncio.run(work())


def asked_out(url: str, *addresses: str, loopback: bool = False) -> None:
    """Ask a host that resolves to these addresses, each time to the next one."""
    left = list(addresses)

    async def resolve(_host: str, _port: int) -> list[str]:
        return [left.pop(0) if len(left) > 1 else left[0]] if left else []

    async def work() -> None:
        client = Guarded(loopback=loopback, resolve=resolve)
        try:
            await client.get(url)
        finally:
            await client.close()

    asyncio.run(work())


async def plain(_: web.Request) -> web.Response:
    return web.Response(body=b"hello")


ADDRESSES = {
    "loopback": "127.0.0.1", "loopback-elsewhere": "127.9.9.9", "this-host": "0.0.0.0", "ten": "10.1.2.3",
    "one-seven-two": "172.16.0.1", "one-nine-two": "192.168.1.1", "metadata": "169.254.169.254",
    "carrier": "100.64.0.1", "multicast": "224.0.0.1", "broadcast": "255.255.255.255", "benchmark": "198.18.0.1",
    "documentation": "192.0.2.1", "loopback-6": "::1", "any-6": "::", "local-6": "fe80::1", "scoped": "fe80::1%eth0",
    "private-6": "fd00:ec2::254", "mapped": "::ffff:127.0.0.1", "mapped-metadata": "::ffff:169.254.169.254",
    "mapped-public": "::ffff:8.8.8.8", "nat64": "64:ff9b::a9fe:a9fe", "6to4": "2002:7f00:1::1", "teredo": "2001::1",
    "multicast-6": "ff02::1", "documentation-6": "2001:db8::1", "no-address": "localhost",
}  # fmt: skip


@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES)
def test_an_address_that_is_not_public_is_not_connected_to(address: str):
    with pytest.raises(AddressRefused) as refused:
        check_address(address)
    assert refused.value.code == "address-refused"
    with pytest.raises(AddressRefused):
        asked_out("https://pds.delve.town/", address)


def test_public_addresses_are_let_pass_and_loopback_in_development_only():
    for address in ("8.8.8.8", "2606:4700::1111"):
        check_address(address)
    check_address("127.0.0.1", loopback=True)
    check_address("::1", loopback=True)
    for address in ("10.0.0.1", "169.254.169.254", "::ffff:127.0.0.1"):
        with pytest.raises(AddressRefused):
            check_address(address, loopback=True)


URLS = {
    "http": "http://pds.delve.town/", "ftp": "ftp://pds.delve.town/", "file": "file:///etc/passwd",
    "another-port": "https://pds.delve.town:8443/", "user": "https://a:b@pds.delve.town/", "decimal": "https://2130706433/",
    "hex": "https://0x7f000001/", "octal": "https://0177.0.0.1/", "short": "https://127.1/", "ipv4": "https://8.8.8.8/",
    "ipv6": "https://[2606:4700::1111]/", "mapped": "https://[::ffff:127.0.0.1]/", "localhost": "https://localhost/",
    "one-label": "https://intranet/", "local": "https://printer.local/", "internal": "https://metadata.google.internal/",
    "onion": "https://abc.onion/", "test": "https://alice.test/", "no-host": "https:///x", "port": "https://a.b:x/",
    "bracket": "https://[::1/", "dot": "https://localhost./",
}  # fmt: skip


@pytest.mark.parametrize("url", URLS.values(), ids=URLS)
def test_what_is_no_public_host_over_https_is_not_asked(url: str):
    with pytest.raises(AddressRefused):
        check_url(url)
    with pytest.raises(AddressRefused):
        asked_out(url, "8.8.8.8")


def test_a_name_that_turns_private_at_the_second_look_is_refused_then():
    """The address that is checked is the one connected to: there is no second look in between."""
    looks: list[str] = []

    async def resolve(host: str, _port: int) -> list[str]:
        looks.append(host)
        return ["192.0.2.1"] if len(looks) > 1 else ["127.0.0.1", "8.8.8.8"]

    async def work() -> None:
        client = Guarded(resolve=resolve)
        try:
            for _ in range(2):
                with pytest.raises(AddressRefused):
                    await client.get("https://rebinding.delve.town/")
        finally:
            await client.close()

    asyncio.run(work())
    assert looks == ["rebinding.delve.town"] * 2


@pytest.mark.parametrize(
    "to",
    [
        "http://10.0.0.1/", "http://169.254.169.254/latest/meta-data/", "https://[::ffff:10.0.0.1]/", "http://a.delve.town/",
        "https://2852039166/", "file:///etc/passwd", "gopher://127.0.0.1/",
    ],
)  # fmt: skip
def test_a_redirect_is_checked_like_what_was_asked(to: str):
    async def away(_: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": to})

    with pytest.raises(AddressRefused):
        asked(away)


def test_redirects_are_followed_a_few_times():
    async def on(request: web.Request) -> web.Response:
        left = int(request.path[1:])
        return (
            web.Response(body=b"there")
            if not left
            else web.Response(status=307, headers={"Location": f"/{left - 1}"})
        )

    assert asked(on, "/3") == b"there"
    with pytest.raises(AddressRefused, match="more than 3 redirects"):
        asked(on, "/4")


def test_an_answer_has_a_largest_size_whatever_it_says():
    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while True:
                await response.write(bytes(10_000))
        except (ConnectionError, asyncio.CancelledError):
            return response

    with pytest.raises(AnswerTooLarge) as refused:
        asked(endless, most=100_000)
    assert refused.value.code == "answer-too-large"
    assert asked(plain, most=5) == b"hello"


def test_a_host_that_says_nothing_is_left_after_a_time():
    async def silent(_: web.Request) -> web.Response:
        await asyncio.sleep(60)
        return web.Response()

    with pytest.raises(HostUnavailable) as unavailable:
        asked(silent, seconds=0.2)
    assert unavailable.value.code == "host-unavailable"


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (404, AnswerStatus, "answer-status"),
        (400, AnswerStatus, "answer-status"),
        (304, AnswerStatus, "answer-status"),
        (503, HostUnavailable, "host-unavailable"), (429, HostUnavailable, "host-unavailable"),
    ],
)  # fmt: skip
def test_a_status_is_the_hosts_no_or_its_not_now(status: int, kind: type[Exception], code: str):
    async def says(_: web.Request) -> web.Response:
        return web.Response(status=status)

    with pytest.raises(kind) as caught:
        asked(says)
    assert isinstance(caught.value, Refused | Unavailable)
    assert (caught.value.code, caught.value.detail["status"]) == (code, status)


def test_a_host_is_not_asked_more_often_than_is_kind(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(guarded, "PER_MINUTE", 2)

    async def on(_: web.Request) -> web.Response:
        return web.Response(status=307, headers={"Location": "/again"})

    with pytest.raises(HostLimit) as limited:
        asked(on)
    assert limited.value.code == "host-limit"


def test_a_host_is_the_same_however_its_name_is_written(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(guarded, "PER_MINUTE", 2)

    async def work() -> list[str]:
        client = Guarded(resolve=nowhere)
        codes: list[str] = []
        for url in ("https://pds.delve.town/", "https://PDS.delve.town/", "https://pds.delve.town:443/"):
            with pytest.raises(Unavailable) as unavailable:
                await client.get(url)
            codes.append(unavailable.value.code)
        await client.close()
        return codes

    assert asyncio.run(work()) == ["host-unavailable", "host-unavailable", "host-limit"]


def test_hosts_that_were_asked_long_ago_are_forgotten(monkeypatch: pytest.MonkeyPatch):
    now = [1000.0]

    async def work() -> list[str]:
        client = Guarded(resolve=nowhere)
        monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now[0])
        for host in ("a", "b", "c"):
            client._count(host)
            now[0] += 61.0
        return list(client._asked)

    assert asyncio.run(work()) == ["c"]


async def nowhere(_host: str, _port: int) -> list[str]:
    return []


def test_a_host_without_an_address_is_unavailable():
    with pytest.raises(HostUnavailable):
        asked_out("https://nowhere.delve.town/")


def test_a_stream_is_connected_to_under_the_same_rules():
    async def work(url: str, **settings: Any) -> None:
        client = Guarded(**settings)
        (await client.connect(url)).close()

    async def resolve(_host: str, _port: int) -> list[str]:
        return ["169.254.169.254"]

    for url in (
        "ws://pds.delve.town/",
        "wss://127.0.0.1/",
        "https://pds.delve.town/",
        "wss://pds.delve.town/",
    ):
        with pytest.raises(AddressRefused):
            asyncio.run(work(url, resolve=resolve))

    async def there() -> None:
        async with serving(plain) as url:
            await work(url.replace("http", "ws"), loopback=True)
        with pytest.raises(HostUnavailable):
            await work(url.replace("http", "ws"), loopback=True)

    asyncio.run(there())


@pytest.mark.parametrize(
    ("did", "host"),
    [
        ("did:web:127.0.0.1", None), ("did:web:localhost%3A80", None), ("did:web:metadata.google.internal", None),
        (ALICE, "http://169.254.169.254"), (ALICE, "https://[::ffff:127.0.0.1]"), (ALICE, "https://2130706433"),
        (ALICE, "https://10.0.0.1"), (ALICE, "http://localhost:2583"),
    ],
)  # fmt: skip
def test_neither_a_did_nor_a_document_leads_inside(did: str, host: str | None):
    from atproto_helping import document  # noqa: PLC0415

    def led() -> str:
        if host is None:
            return document_address(did, "https://plc.delve.town")
        import json  # noqa: PLC0415

        service = [{"id": "#atproto_pds", "serviceEndpoint": host}]
        return read_document(did, json.dumps(document(did, service=service)).encode()).host

    with pytest.raises(Refused) as refused:
        check_url(led())
    assert refused.value.code in ("address-refused", "did-method")
