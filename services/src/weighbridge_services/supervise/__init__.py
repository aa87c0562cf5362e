"""Running services: one in a process, or all of them in one event loop, or all of them as processes."""

from __future__ import annotations

from weighbridge_services.supervise.children import Children
from weighbridge_services.supervise.running import run
from weighbridge_services.supervise.supervisor import Supervisor

__all__ = ["Children", "Supervisor", "run"]
