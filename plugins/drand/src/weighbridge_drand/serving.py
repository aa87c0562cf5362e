"""A local chain over the HTTP paths of a drand relay, both versions, so that drand's own clients can read it.

`reply` is the whole behaviour, without a clock; `ChainApp` is the ASGI application around it. As drand's
relay does, the next round's request is held until it is due, and one for a later round is answered 425.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import msgspec
from weighbridge.ports import MAX_ROUND, SECOND, Clock, LocalChain, randomness_of, round_at, round_time

IMMUTABLE = "public, max-age=604800, immutable"
FRESH = "no-cache"
TEXT = "text/plain; charset=utf-8"
JSON = "application/json"

_V1 = re.compile(r"(?:/(?P<hash>[0-9a-f]{64}))?/(?P<what>info|health|public/(?P<round>latest|[0-9]{1,20}))")
_V2 = re.compile(
    r"/v2/(?:chains/(?P<hash>[0-9a-f]{64})|beacons/(?P<id>[^/]+))"
    r"/(?P<what>info|health|rounds/(?P<round>latest|next|[0-9]{1,20}))"
)


class Reply(msgspec.Struct, frozen=True):
    """An answer, or, where `held` is a time (seconds), the wish to be asked again then."""

    status: int
    body: bytes
    kind: str = JSON
    cache: str = FRESH
    held: int | None = None


def reply(local: LocalChain, path: str, now: int) -> Reply:
    """Return what a relay of this chain answers to GET `path` at a time (µs)."""
    lists = {
        "/chains": [local.chain.hash],
        "/v2/chains": [local.chain.hash],
        "/v2/beacons": [local.beacon_id],
    }
    if path in lists:
        return _json(lists[path])
    asked = _V1.fullmatch(path) or _V2.fullmatch(path)
    if asked is None:
        return Reply(404, b"no such path", TEXT)
    named = asked.groupdict()
    if named["hash"] not in (None, local.chain.hash) or named.get("id") not in (None, local.beacon_id):
        return Reply(404, b'{"error":"round or chain not found"}')
    v2 = path.startswith("/v2/")
    if named["what"] == "info":
        return _json(_info_v2(local) if v2 else _info_v1(local))
    if named["what"] == "health":
        current = round_at(local.chain, now)
        return _json({"current": current, "expected": current})
    return _beacon(local, str(named["round"]), now, v2)


def _beacon(local: LocalChain, asked: str, now: int, v2: bool) -> Reply:
    current = round_at(local.chain, now)
    numbered = asked.isdigit() and int(asked) != 0
    round = int(asked) if numbered else current + (asked == "next")
    if round > MAX_ROUND:
        return Reply(400, b"no such round", TEXT)
    if round > current + 1:
        return Reply(425, b"Requested future beacon", TEXT)
    if round > current or round == 0:
        return Reply(425, b"Requested future beacon", TEXT, held=round_time(local.chain, max(round, 1)))
    signature = local.sign(round)
    answer: dict[str, Any] = {"round": round}
    if not v2:
        answer["randomness"] = randomness_of(signature).hex()
    answer["signature"] = signature.hex()
    return _json(answer, IMMUTABLE if numbered else FRESH)


def _info_v1(local: LocalChain) -> dict[str, Any]:
    chain = local.chain
    return {
        "public_key": chain.public_key.hex(),
        "period": chain.period,
        "genesis_time": chain.genesis,
        "hash": chain.hash,
        "groupHash": local.group_hash.hex(),
        "schemeID": chain.scheme,
        "metadata": {"beaconID": local.beacon_id},
    }


def _info_v2(local: LocalChain) -> dict[str, Any]:
    chain = local.chain
    return {
        "public_key": chain.public_key.hex(),
        "period": chain.period,
        "genesis_time": chain.genesis,
        "genesis_seed": local.group_hash.hex(),
        "chain_hash": chain.hash,
        "scheme": chain.scheme,
        "beacon_id": local.beacon_id,
    }


def _json(value: object, cache: str = FRESH) -> Reply:
    return Reply(200, json.dumps(value, separators=(",", ":")).encode(), JSON, cache)


Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class ChainApp:
    """The ASGI application that serves a local chain."""

    def __init__(self, local: LocalChain, clock: Clock) -> None:
        self._local = local
        self._clock = clock

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request, or the server's lifespan."""
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
        elif scope["type"] == "http":
            await _send(await self._reply(scope["method"], scope["path"]), send)

    async def _reply(self, method: str, path: str) -> Reply:
        if method != "GET":
            return Reply(405, b"only GET", TEXT)
        answer = reply(self._local, path, self._clock())
        while answer.held is not None:
            left = answer.held * SECOND - self._clock()
            if left > self._local.chain.period * SECOND:
                break
            await asyncio.sleep(max(left, 1000) / SECOND)
            answer = reply(self._local, path, self._clock())
        return answer


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        event = await receive()
        await send({"type": f"{event['type']}.complete"})
        if event["type"] == "lifespan.shutdown":
            return


async def _send(answer: Reply, send: Send) -> None:
    headers = {"content-type": answer.kind, "cache-control": answer.cache, "access-control-allow-origin": "*"}
    encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
    encoded.append((b"content-length", str(len(answer.body)).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": encoded})
    await send({"type": "http.response.body", "body": answer.body})
