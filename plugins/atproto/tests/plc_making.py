"""Histories of did:plc made for tests, signed by whoever is said to and taken at any time, and a directory of them."""

from __future__ import annotations

import asyncio
import base64
import json
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from aiohttp import web
from repo_making import Key
from weighbridge.repos import Cid, codec

HOUR = 3_600_000_000
BEGIN = 1_700_000_000_000_000


def signed(operation: dict[str, Any], by: Key, *, high: bool = False) -> dict[str, Any]:
    """An operation with its signature."""
    signature = by.sign(codec.encode(operation), high=high)
    return {**operation, "sig": base64.urlsafe_b64encode(signature).decode().rstrip("=")}


def time_text(at: int) -> str:
    """A time (µs) as a directory writes it."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Plc:
    """A did:plc and its history: `rotation`, the mightiest first, and the key of its repository."""

    def __init__(self, rotation: list[Key], key: Key, *, by: Key | None = None, at: int = BEGIN) -> None:
        self.entries: list[dict[str, Any]] = []
        first = signed(self.operation(rotation, key, None), by or rotation[0])
        digest = base64.b32encode(sha256(codec.encode(first)).digest()).decode().lower()
        self.did = f"did:plc:{digest[:24]}"
        self.add(first, at)

    def operation(self, rotation: list[Key], key: Key, prev: str | None) -> dict[str, Any]:
        return {
            "type": "plc_operation", "rotationKeys": [each.public.did_key for each in rotation],
            "verificationMethods": {"atproto": key.public.did_key}, "alsoKnownAs": ["at://alice.delve.town"],
            "services": {"atproto_pds": {"type": "AtprotoPersonalDataServer", "endpoint": "https://pds.test"}},
            "prev": prev,
        }  # fmt: skip

    def add(self, operation: dict[str, Any], at: int) -> str:
        """Take an operation; return its CID."""
        cid = str(Cid.of(codec.encode(operation)))
        entry = {"did": self.did, "operation": operation, "cid": cid, "nullified": False}
        self.entries.append({**entry, "createdAt": time_text(at)})
        return cid

    def change(
        self, key: Key, by: Key, at: int, *, rotation: list[Key], after: int = -1, high: bool = False
    ) -> str:
        """Take another key, after some operation; what came later than that is undone."""
        operation = self.operation(rotation, key, self.entries[after]["cid"])
        undone = [] if after == -1 else self.entries[after + 1 :]
        cid = self.add(signed(operation, by, high=high), at)
        for each in undone:
            each["nullified"] = True
        return cid

    def end(self, by: Key, at: int) -> str:
        """Take the end of the DID."""
        return self.add(signed({"type": "plc_tombstone", "prev": self.entries[-1]["cid"]}, by), at)

    @property
    def data(self) -> bytes:
        """What a directory answers."""
        return json.dumps(self.entries).encode()


class Directory:
    """A directory of histories and documents, which can be dark, and change its mind between two askings."""

    def __init__(self) -> None:
        self.url = ""
        self.answers: dict[str, list[bytes]] = {}
        """By path; the last one is given again and again."""
        self.status = 200
        self.asked: list[str] = []
        self.held = asyncio.Event()
        self.held.set()

    def has(self, *histories: Plc) -> None:
        for plc in histories:
            self.answers[f"/{plc.did}/log/audit"] = [plc.data]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path)
        await self.held.wait()
        answers = self.answers.get(request.path, [])
        if self.status != 200 or not answers:
            return web.Response(status=404 if self.status == 200 else self.status)
        return web.Response(body=answers.pop(0) if len(answers) > 1 else answers[0])

    async def hang_up(self) -> None:
        """Nothing is connected for good."""
