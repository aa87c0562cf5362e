"""The one way out: requests to hosts that anybody may have named, from inside an operator's network.

https to a host with a name; the address that is connected to is public, checked where the connection is made,
after every redirect again; an answer has a largest size and a time; a host is not asked more often than it is
kind. For development `loopback` lets this machine's own addresses be asked, over http too.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import socket
import ssl
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import SplitResult, urljoin, urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from weighbridge.ports import Refused, Unavailable
from weighbridge.repos import is_handle

from weighbridge_atproto.names import system_resolve

MAX_ANSWER: Final = 1_000_000
SECONDS: Final = 20.0
REDIRECTS: Final = 3
MAX_REASON: Final = 4_096
"""Bytes that are read of an answer that something went wrong."""
PER_HOST: Final = 4
"""Connections to one host at a time."""
PER_MINUTE: Final = 1_200
"""Requests to one host within a minute."""
_RESERVED: Final = frozenset(
    ("local", "localhost", "internal", "onion", "example", "invalid", "test", "arpa", "alt")
)
_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")

Resolve = Callable[[str, int], Awaitable[list[str]]]


class AddressRefused(Refused):
    """A host, or an address it resolves to, that is not asked: not https, no name, not public."""

    code = "address-refused"


class AnswerTooLarge(Refused):
    """An answer of more bytes than are read."""

    code = "answer-too-large"


class AnswerStatus(Refused):
    """A host answered that it has not what was asked for; `detail["status"]`."""

    code = "answer-status"


class HostUnavailable(Unavailable):
    """A host did not answer, or that it fails, or not in time."""

    code = "host-unavailable"


class HostLimit(Unavailable):
    """A host has been asked as often within a minute as is kind."""

    code = "host-limit"


def check_address(text: str, loopback: bool = False) -> None:
    """Check an address that is about to be connected to. Raises AddressRefused.

    What an address of the newer kind wraps of the older (mapped, 6to4, NAT64, Teredo) is not looked through: no
    public host is reached only so.
    """
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError as error:
        raise AddressRefused(f"{text!r} is no address") from error
    if loopback and address.is_loopback:
        return
    wraps = isinstance(address, ipaddress.IPv6Address) and (
        address.ipv4_mapped is not None
        or address.sixtofour is not None
        or address.teredo is not None
        or address in _NAT64
    )
    if wraps or not address.is_global or address.is_multicast or address.is_reserved:
        raise AddressRefused(f"{text} is no public address", address=text)


def check_url(url: str, loopback: bool = False, schemes: tuple[str, str] = ("https", "http")) -> SplitResult:
    """Return the parts of an address that may be asked. Raises AddressRefused.

    `schemes`: the one that may be, and the one that on loopback may be as well.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise AddressRefused(f"{url!r:.200} is no address: {error}") from error
    if loopback and parts.scheme in schemes and _is_loopback(host):
        return parts
    if parts.scheme != schemes[0] or port not in (None, 443) or parts.username is not None:
        raise AddressRefused(f"only {schemes[0]} on its own port is asked, not {url!r:.200}", url=url)
    if not is_handle(host) or host.rpartition(".")[2].lower() in _RESERVED:
        raise AddressRefused(f"{host!r:.200} is no name of a public host", host=host)
    return parts


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Guarded:
    """The client. `loopback`: for development only. `resolve`: how names become addresses."""

    def __init__(
        self, *, loopback: bool = False, resolve: Resolve = system_resolve, seconds: float = SECONDS
    ) -> None:
        self.loopback = loopback
        self._resolve = resolve
        self._timeout = aiohttp.ClientTimeout(total=seconds)
        self._session: aiohttp.ClientSession | None = None
        self._asked: dict[str, deque[float]] = {}
        self._counted_since = 0.0

    async def get(self, url: str, most: int = MAX_ANSWER, headers: Mapping[str, str] | None = None) -> bytes:
        """Return the body of an answer.

        Raises AddressRefused, AnswerTooLarge, AnswerStatus, HostUnavailable and HostLimit.
        """
        async with self._opened("GET", url, headers or {}) as response:
            return await _body(response, most)

    async def post(self, url: str, data: bytes, headers: Mapping[str, str], most: int = MAX_ANSWER) -> bytes:
        """Return the body of the answer to what was sent. Raises as `get`."""
        async with self._opened("POST", url, headers, data) as response:
            return await _body(response, most)

    async def pieces(self, url: str, most: int) -> AsyncIterator[bytes]:
        """Yield the body of an answer piece by piece. Raises as `get`."""
        async with self._opened("GET", url, {}) as response:
            total = 0
            async for piece in response.content.iter_chunked(65_536):
                total += len(piece)
                if total > most:
                    raise AnswerTooLarge(f"{url!r:.200} answers more than {most} bytes")
                yield piece

    async def connect(self, url: str) -> socket.socket:
        """Return a socket connected to the checked address of a `wss://` (or, on loopback, `ws://`) host."""
        parts = check_url(url, self.loopback, ("wss", "ws"))
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "wss" else 80)
        try:
            async with asyncio.timeout(self._timeout.total):
                addresses = await self._addresses(host, port)
        except TimeoutError as error:
            raise HostUnavailable(f"no address of {host} was found in time", host=host) from error
        for text in addresses:
            family = socket.AF_INET6 if ":" in text else socket.AF_INET
            sock = socket.socket(family, socket.SOCK_STREAM)
            sock.setblocking(False)
            try:
                async with asyncio.timeout(self._timeout.total):
                    await asyncio.get_running_loop().sock_connect(sock, (text, port))
                return sock
            except OSError:
                sock.close()
            except BaseException:
                sock.close()
                raise
        raise HostUnavailable(f"{host} cannot be reached", host=host)

    async def close(self) -> None:
        """Close all connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    # --- on the way ----------------------------------------------------------------------------------------

    async def _addresses(self, host: str, port: int) -> list[str]:
        try:
            found = await self._resolve(host, port)
        except OSError as error:
            raise HostUnavailable(f"{host} has no address: {error}", host=host) from error
        for text in found:
            # One that is not public makes the host suspect, whichever would be connected to.
            check_address(text, self.loopback)
        if not found:
            raise HostUnavailable(f"{host} has no address", host=host)
        return found

    @asynccontextmanager
    async def _opened(
        self, method: str, url: str, headers: Mapping[str, str], data: bytes | None = None
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        try:
            async with asyncio.timeout(self._timeout.total):
                response = await self._follow(method, url, headers, data)
                try:
                    await _check_status(response, url)
                    yield response
                finally:
                    response.release()
        except TimeoutError as error:
            raise HostUnavailable(f"{url!r:.200} does not answer within {self._timeout.total} s") from error
        except (aiohttp.ClientError, ssl.SSLError, OSError) as error:
            raise HostUnavailable(f"{url!r:.200}: {type(error).__name__}: {error}") from error

    async def _follow(
        self, method: str, url: str, headers: Mapping[str, str], data: bytes | None
    ) -> aiohttp.ClientResponse:
        for _ in range(REDIRECTS + 1):
            parts = check_url(url, self.loopback)
            self._count(f"{parts.hostname}:{parts.port or 443}")
            response = await self._sessions().request(
                method, url, headers=headers, data=data, allow_redirects=False
            )
            if response.status not in (301, 302, 303, 307, 308) or method != "GET":
                return response
            response.release()
            url = urljoin(url, response.headers.get("Location", ""))
        raise AddressRefused(f"{url!r:.200} comes after more than {REDIRECTS} redirects")

    def _count(self, host: str) -> None:
        now = asyncio.get_running_loop().time()
        if now >= self._counted_since + 60:
            # Anybody has as many hosts as they like, each asked once.
            for each in [each for each, times in self._asked.items() if times[-1] < now - 60]:
                del self._asked[each]
            self._counted_since = now
        asked = self._asked.setdefault(host, deque())
        while asked and asked[0] < now - 60:
            asked.popleft()
        if len(asked) >= PER_MINUTE:
            raise HostLimit(f"{host} was asked {PER_MINUTE} times within a minute", host=host)
        asked.append(now)

    def _sessions(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(
                limit_per_host=PER_HOST, resolver=_Resolver(self._addresses), use_dns_cache=False,
                socket_factory=self._socket, happy_eyeballs_delay=None,
            )  # fmt: skip
            self._session = aiohttp.ClientSession(
                connector=connector, timeout=self._timeout, auto_decompress=False, trust_env=False,
                headers={"Accept-Encoding": "identity", "User-Agent": "weighbridge"},
                cookie_jar=aiohttp.DummyCookieJar(),
            )  # fmt: skip
        return self._session

    def _socket(self, info: Any) -> socket.socket:
        """Make the socket of a connection: here, last of all, stands the address it will go to."""
        family, kind, protocol, _, address = info
        check_address(str(address[0]), self.loopback)
        return socket.socket(family, kind, protocol)


class _Resolver(AbstractResolver):
    """Names to checked addresses, for aiohttp."""

    def __init__(self, addresses: Resolve) -> None:
        self._addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host, host=text, port=port, proto=0, flags=socket.AI_NUMERICHOST,
                family=socket.AF_INET6 if ":" in text else socket.AF_INET,
            )
            for text in await self._addresses(host, port)
        ]  # fmt: skip

    async def close(self) -> None:
        return


async def _check_status(response: aiohttp.ClientResponse, url: str) -> None:
    if response.status < 300:
        return
    failed = response.status >= 500 or response.status == 429
    says = f"{url!r:.200} answers {response.status}{_reason(await response.content.read(MAX_REASON))}"
    raise (HostUnavailable if failed else AnswerStatus)(says, status=response.status)


def _reason(body: bytes) -> str:
    """Return what an XRPC host says went wrong, as far as it does."""
    try:
        said: Any = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(said, dict):
        return ""
    parts = [said[name][:200] for name in ("error", "message") if isinstance(said.get(name), str)]
    return f": {': '.join(parts)}" if parts else ""


async def _body(response: aiohttp.ClientResponse, most: int) -> bytes:
    parts: list[bytes] = []
    total = 0
    async for piece in response.content.iter_chunked(65_536):
        total += len(piece)
        if total > most:
            raise AnswerTooLarge(f"{response.url.host} answers more than {most} bytes")
        parts.append(piece)
    return b"".join(parts)
