"""Exact bytes through FastStream, with its in-memory broker: wiring only, for that one acknowledges nothing."""

from __future__ import annotations

import asyncio

import pytest
from faststream import AckPolicy
from faststream.nats import NatsBroker, TestNatsBroker
from weighbridge_services.wire import ExactBytes

PAYLOADS = [b"7", b"null", b'{"a":1}', b"", b"\xff\x00", b"\xa1aa\x01", b"true", b'"text"']


def received(broker: NatsBroker, payload: bytes) -> object:
    got: list[object] = []

    @broker.subscriber("x")
    async def handle(body: bytes) -> None:
        got.append(body)

    async def run() -> None:
        async with TestNatsBroker(broker) as tested:
            await tested.publish(payload, "x")

    asyncio.run(run())
    return got[0]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_payload_reaches_the_handler_as_it_is(payload: bytes) -> None:
    got = received(NatsBroker(codec=ExactBytes(), ack_policy=AckPolicy.MANUAL, logger=None), payload)
    assert (type(got), got) == (bytes, payload)


@pytest.mark.parametrize("answer", [b"7", b"", None])
def test_an_answer_reaches_the_asker_as_it_is(answer: bytes | None) -> None:
    broker = NatsBroker(codec=ExactBytes(), ack_policy=AckPolicy.MANUAL, logger=None)

    @broker.subscriber("x")
    async def handle(body: bytes) -> bytes | None:
        return answer

    async def run() -> bytes:
        async with TestNatsBroker(broker) as tested:
            return (await tested.request(b"?", "x")).body

    assert asyncio.run(run()) == (answer or b"")
