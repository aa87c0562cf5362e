"""Handing records in at a node, as a player or as its operator: publish, wait for the answer, say what it is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

import nats
import nats.errors
from nats.aio.client import Client
from nats.js.errors import APIError
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.errors import Refused, Unavailable
from weighbridge.identity import Signer, decode_envelope, encode_envelope, envelope_from_json, sign_record

from weighbridge_services.subjects import Subjects
from weighbridge_services.wire.login import Login, refusal_of

ANSWER: Final = "Weighbridge-Answer"
PUBLISHED: Final = 5.0
"""Seconds for the broker to take a record."""


class NoAnswer(Unavailable):
    """The record is in the node's inbox, and nothing was heard of it in the time given."""

    code: ClassVar[str] = "no-answer"


class BadSubmission(Refused):
    """The file holds nothing that can be handed in; the message says where."""

    code: ClassVar[str] = "bad-submission"


class Place(NamedTuple):
    """Where to hand in: how to log in at the broker, and the subjects of the node for the game."""

    login: Login
    subjects: Subjects


def envelopes_in(path: Path) -> list[bytes]:
    """Return the envelopes of a file: one as DAG-CBOR, one as JSON, or one a line. Raises BadSubmission."""
    data = path.read_bytes()
    if data[:1] and data.lstrip()[:1] != b"{":
        return [_as_it_is(data, str(path))]
    try:
        return [_from_json(json.loads(data), str(path))]
    except ValueError:
        lines = [(n, line) for n, line in enumerate(data.splitlines(), 1) if line.strip()]
    if not lines:
        raise BadSubmission(f"{path} is empty")
    try:
        return [_from_json(json.loads(line), f"{path}, line {n}") for n, line in lines]
    except ValueError as error:
        raise BadSubmission(f"{path} holds neither JSON nor lines of JSON: {error}") from error


def signed_value(path: Path, signer: Signer, game: str, collection: str, rkey: str) -> bytes:
    """Return the envelope of a record whose value a file holds as JSON. Raises BadSubmission."""
    try:
        value: Any = codec.from_json(json.loads(path.read_bytes()))
        root = None if game == f"at://{signer.did}/{collection}/{rkey}" else game
        return encode_envelope(sign_record(signer, root, collection, rkey, value))
    except ValueError as error:
        raise BadSubmission(f"{path} holds no JSON: {error}") from error
    except Refused as refused:
        raise BadSubmission(f"{path}: {refused.message} ({refused.code})") from refused


def _from_json(value: object, where: str) -> bytes:
    try:
        return encode_envelope(envelope_from_json(value))
    except Refused as refused:
        raise BadSubmission(f"{where} is no envelope: {refused.message} ({refused.code})") from refused


def _as_it_is(data: bytes, where: str) -> bytes:
    try:
        decode_envelope(data)
    except Refused as refused:
        raise BadSubmission(f"{where} is no envelope: {refused.message} ({refused.code})") from refused
    return data


async def submit(place: Place, envelopes: Sequence[bytes], timeout: float) -> AsyncIterator[dict[str, Any]]:
    """Hand envelopes in, in order, and yield each one's answer. Raises BrokerUnavailable, BrokerRefused, NoAnswer."""
    client = await _connected(place.login)
    try:
        inboxes = [client.new_inbox() for _ in envelopes]
        waiting = [await client.subscribe(inbox) for inbox in inboxes]
        for data, inbox in zip(envelopes, inboxes, strict=True):
            await _publish(client, place.subjects.submit(str(Cid.of(data))), data, inbox)
        for subscription in waiting:
            yield await _answer(subscription, timeout)
    finally:
        await client.close()


async def _connected(login: Login) -> Client:
    try:
        return await nats.connect(
            login.url,
            allow_reconnect=False,
            inbox_prefix=login.inbox.encode(),
            error_cb=_ignore,
            **login.options(),
        )
    except (nats.errors.Error, OSError, TimeoutError) as error:
        raise refusal_of(login.url, error) from error


async def _publish(client: Client, subject: str, data: bytes, inbox: str) -> None:
    try:
        await client.jetstream().publish(subject, data, timeout=PUBLISHED, headers={ANSWER: inbox})
    except (nats.errors.Error, APIError, TimeoutError) as error:
        raise NoAnswer(
            f"the broker does not take the record on {subject} ({error or type(error).__name__}); are the operator"
            " and the game right, and the node's streams declared?"
        ) from error


async def _answer(subscription: Any, timeout: float) -> dict[str, Any]:
    deadline = asyncio.get_running_loop().time() + timeout
    said = "is the lister running?"
    while (left := deadline - asyncio.get_running_loop().time()) > 0:
        try:
            message = await subscription.next_msg(timeout=left)
            answer: Any = codec.decode(message.data)
        except (nats.errors.Error, TimeoutError):
            break
        if "unavailable" not in answer:
            return answer  # type: ignore[no-any-return]
        said = f"the lister says: {answer['says']}"
    raise NoAnswer(f"the record is in the node's inbox, and not listed in {timeout:.0f} s; {said}")


async def _ignore(error: Exception) -> None:
    """Let the calls raise it; nats-py would print it as well."""
