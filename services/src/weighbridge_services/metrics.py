"""What a node counts, for Prometheus. Any service counts here; nothing is decided by it."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge

REGISTRY = CollectorRegistry()

FOLDED = Counter("weighbridge_folded", "Entries folded.", ["game"], registry=REGISTRY)
RULE_FAULTS = Counter("weighbridge_rule_faults", "Failures of rule-set code.", ["game"], registry=REGISTRY)
REFUSED = Gauge(
    "weighbridge_refused", "Inputs refused since the start, by code.", ["service", "code"], registry=REGISTRY
)
ENTRIES = Gauge(
    "weighbridge_entries",
    "Entries of a game that a service has taken.",
    ["service", "game"],
    registry=REGISTRY,
)
BEHIND = Gauge(
    "weighbridge_behind",
    "Entries by which a service is behind what it reads.",
    ["service"],
    registry=REGISTRY,
)
BROKER_RESTARTS = Gauge("weighbridge_broker_restarts", "Restarts of the embedded broker.", registry=REGISTRY)
RECONNECTS = Gauge("weighbridge_reconnects", "Reconnections to the broker.", ["service"], registry=REGISTRY)
CRASHES = Gauge("weighbridge_crashes", "Processes of a service that died.", ["service"], registry=REGISTRY)
HEALTH = Gauge("weighbridge_health", "1: the service does its work.", ["service"], registry=REGISTRY)
NUMBERS = Gauge(
    "weighbridge_service",
    "What a service says of itself, by name of the number.",
    ["service", "name"],
    registry=REGISTRY,
)
