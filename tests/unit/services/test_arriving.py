"""The short way of a message from the connection to the pull request that asked for it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg
from weighbridge_services.wire.arriving import Shortcut, headers_in, sequences

SHORT = "$JS.ACK.STREAM.CONSUMER.2.812.77.1700000000000000000.5"
LONG = "$JS.ACK.hub.ACCOUNT.STREAM.CONSUMER.2.812.77.1700000000000000000.5.token"


class Subscribed:
    """A subscription, as far as its number goes."""

    _id = 7


@pytest.mark.parametrize("reply", [SHORT, LONG], ids=["of-the-own-domain", "of-another-domain"])
def test_sequences_are_those_that_the_library_finds(reply: str) -> None:
    message = Msg(_client=None, reply=reply)  # type: ignore[arg-type]
    found = message.metadata.sequence
    assert sequences(message) == (found.stream, found.consumer) == (812, 77)


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(
            b"NATS/1.0\r\nWeighbridge-Answer: _INBOX.a.b:c\r\nNats-Batch-Id: x\r\n\r\n", id="headers"
        ),
        pytest.param(b"NATS/1.0\r\nEmpty:\r\nOther:  spaced \r\n\r\n", id="empty-and-spaced"),
        pytest.param(b"NATS/1.0 408 Request Timeout\r\n\r\n", id="status"),
        pytest.param(b"NATS/1.0 404\r\n\r\n", id="bare-status"),
        pytest.param(
            b"NATS/1.0 409 Exceeded MaxRequestBatch of 5\r\nNats-Pending-Messages: 3\r\n\r\n",
            id="status-and-headers",
        ),
    ],
)
def test_headers_are_those_that_the_library_finds(head: bytes) -> None:
    theirs = asyncio.run(Client()._process_headers(head))
    ours = {name: value for name, value in headers_in(head).items() if value or name != "Description"}
    assert ours == {name: value for name, value in (theirs or {}).items() if value or name != "Description"}


def test_what_was_asked_for_is_handed_over_and_the_rest_goes_its_way() -> None:
    client, got, others = Client(), list[Msg](), list[int]()

    async def process(sid: int, *rest: Any) -> None:
        others.append(sid)

    client._process_msg = process  # type: ignore[method-assign]
    shortcut = Shortcut.of(client)
    assert shortcut is not None
    shortcut.lead(Subscribed(), got.append)  # type: ignore[arg-type]
    asyncio.run(client._process_msg(7, b"log", SHORT.encode(), b"entry", b""))
    asyncio.run(client._process_msg(8, b"other", b"", b"else", b""))
    shortcut.end(Subscribed())  # type: ignore[arg-type]
    asyncio.run(client._process_msg(7, b"log", b"", b"late", b""))
    assert [(each.subject, each.data, each.headers) for each in got] == [("log", b"entry", None)]
    assert others == [8, 7]


def test_what_nobody_asked_for_is_let_go_where_an_answer_to_it_would_be_an_order_to_the_broker() -> None:
    client, others = Client(), list[int]()

    async def process(sid: int, *rest: Any) -> None:
        others.append(sid)

    client._process_msg = process  # type: ignore[method-assign]
    assert Shortcut.of(client) is not None
    for reply in (SHORT, LONG, "wb.a.b.log", "_INBOX.a.b"):
        asyncio.run(client._process_msg(7, b"rpc", reply.encode(), b"", b""))
    assert others == [7]


def test_a_client_that_is_built_otherwise_keeps_its_own_way() -> None:
    assert Shortcut.of(object()) is None  # type: ignore[arg-type]


def test_the_client_that_is_installed_has_the_place() -> None:
    assert Shortcut.of(Client()) is not None
