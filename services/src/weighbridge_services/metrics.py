"""What a node counts, for Prometheus. Any service counts here; nothing is decided by it."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge

REGISTRY = CollectorRegistry()

LISTED = Counter("weighbridge_listed", "Entries listed or followed.", ["game"], registry=REGISTRY)
FOLDED = Counter("weighbridge_folded", "Entries folded.", ["game"], registry=REGISTRY)
RULE_FAULTS = Counter("weighbridge_rule_faults", "Failures of rule-set code.", ["game"], registry=REGISTRY)
REFUSED = Counter("weighbridge_refused", "Inputs refused, by code.", ["service", "code"], registry=REGISTRY)
LAG = Gauge(
    "weighbridge_lag_seconds", "How far a service is behind what it reads.", ["service"], registry=REGISTRY
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
