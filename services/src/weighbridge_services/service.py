"""What every service is, and how the ones there are found."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from typing import Any, ClassVar, Protocol

from weighbridge.errors import Broken, Refused

import weighbridge_services
from weighbridge_services.clock import Clock
from weighbridge_services.node import Node
from weighbridge_services.wire import Bus


class NoService(Refused):
    """There is no service of that name."""

    code: ClassVar[str] = "no-service"


class ServiceStopped(Broken):
    """A service's process ended, again and again."""

    code: ClassVar[str] = "service-stopped"


class Service(Protocol):
    """A service: the module `app` of a subpackage has one as `Service`.

    `health()` returns numbers and words about it; `unhealthy`, where it is there and not empty, is a list of
    sentences that say why the service does not do its work. Numbers become metrics.
    """

    def __init__(self, node: Node, bus: Bus, clock: Clock) -> None: ...

    @property
    def name(self) -> str:
        """The subpackage's name, with dashes."""
        ...

    async def start(self) -> None:
        """Begin; the bus is connected. Raises a WeighbridgeError if that cannot be."""
        ...

    async def stop(self) -> None:
        """End: whatever was begun is finished or undone, and files are closed. The bus is connected still."""
        ...

    def health(self) -> dict[str, Any]:
        """Return how it is."""
        ...


def names() -> list[str]:
    """Return the names of all services, sorted."""
    found = [
        each.name.replace("_", "-")
        for each in pkgutil.iter_modules(weighbridge_services.__path__)
        if each.ispkg and importlib.util.find_spec(f"weighbridge_services.{each.name}.app") is not None
    ]
    return sorted(found)


def port_of(name: str, port: int) -> int:
    """Return the port of health and metrics of a service in a process of its own, by a node's `http.port`; 0: none.

    The node itself has that port, and each service the one of its place in the alphabet after it.
    """
    return port and port + 1 + names().index(name)


def named(name: str) -> type[Service]:
    """Return the class of a service. Raises NoService."""
    if name not in names():
        raise NoService(f"there is no service {name!r}; there are: {', '.join(names())}")
    module = importlib.import_module(f"weighbridge_services.{name.replace('-', '_')}.app")
    found: type[Service] = module.Service
    return found
