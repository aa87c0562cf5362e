"""Beacons from drand's HTTP relays: asked one after the other, none of them trusted, no round asked for
early."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import aiohttp
from weighbridge.ports import Beacon, BeaconNotYet, BeaconUnavailable, Chain, Clock, round_time

from weighbridge_drand.answers import MAX_ANSWER, NOT_YET, Fault, not_before, read
from weighbridge_drand.recorded import Kept
from weighbridge_drand.settings import Relay, relay_settings

HEADERS = {"Accept": "application/json", "Accept-Encoding": "identity"}


class RelayBeacons:
    """A source over several relays.

    `faults` counts by (relay, word) what relays answered instead of a beacon: `not-yet`, `redirect`,
    `status`, `too-long`, `no-beacon`, `other-round`, `other-randomness`, `other-scheme`, `slow`,
    `unreachable`, or the code by which a signature was refused.
    """

    name = "drand"

    def __init__(
        self,
        relays: Sequence[Relay],
        clock: Clock,
        folder: str | None = None,
        seconds: float = 5.0,
        wait: float = 1.0,
    ) -> None:
        self.faults: Counter[tuple[str, str]] = Counter()
        self._relays = tuple(relays)
        self._failed_in_a_row = dict.fromkeys(self._relays, 0)
        self._clock = clock
        self._folder = folder
        self._limit = aiohttp.ClientTimeout(total=seconds)
        self._wait = wait
        self._kept: dict[Chain, Kept] = {}
        self._asking: dict[tuple[Chain, int], asyncio.Task[Beacon]] = {}
        self._session: aiohttp.ClientSession | None = None

    async def fetch(self, chain: Chain, round: int) -> Beacon:
        """Return a round's beacon, from what was kept or from the first relay that has it.

        Whoever asks for a round while it is being asked for gets what comes of that.
        """
        if chain not in self._kept:
            self._kept[chain] = Kept(self._folder, chain)
        kept = self._kept[chain]
        beacon = kept.get(round)
        if beacon is not None:
            return beacon
        not_before(chain, round, self._clock, self._wait)
        asking = self._asking.get((chain, round))
        if asking is None:
            asking = asyncio.ensure_future(self._ask_all(chain, round, kept))
            self._asking[chain, round] = asking
            asking.add_done_callback(partial(self._asked, (chain, round)))
        # One who stops waiting does not stop it for the others.
        return await asyncio.shield(asking)

    def _asked(self, what: tuple[Chain, int], asking: asyncio.Task[Beacon]) -> None:
        del self._asking[what]
        if not asking.cancelled():
            asking.exception()  # looked at, for if nobody waits any more

    async def _ask_all(self, chain: Chain, round: int, kept: Kept) -> Beacon:
        faults: dict[str, Fault] = {}
        for relay in sorted(self._relays, key=lambda each: self._failed_in_a_row[each]):
            answer = await self._ask(relay, chain, round)
            if isinstance(answer, Beacon):
                kept.put(answer)
                return answer
            faults[relay.url] = answer
        raise _nothing(chain, round, faults)

    async def latest(self, chain: Chain) -> Beacon:
        """Return the newest beacon that any relay has: all are asked at once, for one may be behind."""
        answers = await asyncio.gather(*(self._ask(relay, chain, None) for relay in self._relays))
        beacons = [answer for answer in answers if isinstance(answer, Beacon)]
        if beacons:
            return max(beacons, key=lambda beacon: beacon.round)
        faults = zip(self._relays, answers, strict=True)
        raise BeaconUnavailable(
            "no relay has a latest beacon",
            relays={relay.url: fault.word for relay, fault in faults if isinstance(fault, Fault)},
        )

    async def close(self) -> None:
        """Close the connections; what is being asked for is given up."""
        asking = list(self._asking.values())
        for each in asking:
            each.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _ask(self, relay: Relay, chain: Chain, round: int | None) -> Beacon | Fault:
        try:
            status, body = await self._get(relay.path(chain.hash, round))
            answer = read(chain, round, status, body)
        except TimeoutError:
            answer = Fault("slow", f"no whole answer within {self._limit.total} s")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            answer = Fault("unreachable", f"{type(error).__name__}: {error}")
        if isinstance(answer, Fault):
            self.faults[relay.url, answer.word] += 1
            self._failed_in_a_row[relay] += 1
        else:
            self._failed_in_a_row[relay] = 0
        return answer

    async def _get(self, url: str) -> tuple[int, bytes]:
        """Return the status and the body, the latter to one byte beyond what is allowed."""
        if self._session is None:
            # A compressed body would be read to its end before its size is known.
            self._session = aiohttp.ClientSession(
                cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False, timeout=self._limit
            )
        async with self._session.get(url, headers=HEADERS, allow_redirects=False) as response:
            body = b""
            while response.status == 200 and len(body) <= MAX_ANSWER:
                chunk = await response.content.read(MAX_ANSWER + 1 - len(body))
                if not chunk:
                    break
                body += chunk
            return response.status, body


def _nothing(chain: Chain, round: int, faults: Mapping[str, Fault]) -> BeaconNotYet | BeaconUnavailable:
    due = round_time(chain, round)
    words = {url: fault.word for url, fault in faults.items()}
    if all(word == NOT_YET for word in words.values()):
        return BeaconNotYet(
            f"no relay has round {round} yet, due at {due}", round=round, due=due, relays=words
        )
    said = "; ".join(f"{url}: {fault.says}" for url, fault in faults.items())
    return BeaconUnavailable(f"no relay gave round {round} ({said})", round=round, due=due, relays=words)


def open_relays(settings: Mapping[str, Any], clock: Clock, folder: str | None = None) -> RelayBeacons:
    """Open the relays named in the settings, or drand's public ones; what was fetched is kept in `folder`."""
    relays, rest = relay_settings(settings)
    return RelayBeacons(relays, clock, folder, rest.seconds, rest.wait)
