"""Names to addresses, asked of the system in threads: a name whose own server does not answer holds one for long.

No look-up can be called back once it runs. So they have threads of their own, and of those the names under one domain
get a few: whoever answers slowly for a thousand names makes those slow, and nobody else's.
"""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Final
from weakref import WeakKeyDictionary

THREADS: Final = 32
PER_DOMAIN: Final = 4
"""Look-ups at a time of names under one domain (its last two labels)."""

_pool: Final = ThreadPoolExecutor(THREADS, thread_name_prefix="names")


def domain_of(host: str) -> str:
    """Return the last two labels of a name: what whoever owns one name can have any number of names under."""
    return ".".join(host.lower().rsplit(".", 2)[-2:])


async def system_resolve(host: str, port: int) -> list[str]:
    """Return the addresses that the system knows of a host. Raises OSError."""
    loop = asyncio.get_running_loop()
    return await _names.setdefault(loop, Names()).resolve(host, port)


class Names:
    """The look-ups of all that runs in one event loop."""

    def __init__(self) -> None:
        self._slots: dict[str, asyncio.Semaphore] = {}
        self._users: dict[str, int] = {}

    async def resolve(self, host: str, port: int) -> list[str]:
        """Return the addresses of a host. Raises OSError."""
        domain = domain_of(host)
        slots = self._slots.setdefault(domain, asyncio.Semaphore(PER_DOMAIN))
        self._users[domain] = self._users.get(domain, 0) + 1
        try:
            await slots.acquire()
        except BaseException:
            self._leave(domain)
            raise
        looking = asyncio.get_running_loop().run_in_executor(_pool, _look_up, host, port)
        # Who asked may have gone: the thread has not, and keeps its place until it comes back.
        looking.add_done_callback(lambda done: self._done(domain, slots, done))
        return await asyncio.shield(looking)

    def _done(self, domain: str, slots: asyncio.Semaphore, done: asyncio.Future[list[str]]) -> None:
        if not done.cancelled():
            done.exception()
        slots.release()
        self._leave(domain)

    def _leave(self, domain: str) -> None:
        self._users[domain] -= 1
        if not self._users[domain]:
            del self._users[domain], self._slots[domain]


_names: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, Names]] = WeakKeyDictionary()


def _look_up(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(each[4][0]) for each in found]
