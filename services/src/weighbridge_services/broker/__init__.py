"""The broker that a node brings along: a nats-server in its folder, with rights that follow the subjects."""

from __future__ import annotations

from weighbridge_services.broker.errors import BrokerBroken, NoBrokerBinary, PortTaken
from weighbridge_services.broker.folder import url_of
from weighbridge_services.broker.server import Server

__all__ = ["BrokerBroken", "NoBrokerBinary", "PortTaken", "Server", "url_of"]
