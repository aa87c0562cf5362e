"""Which plugins are installed, from the metadata of distributions alone: nothing is imported to find out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, EntryPoint, distributions
from typing import Final, NamedTuple

GROUPS: Final = (
    "weighbridge.rulesets",
    "weighbridge.audits",
    "weighbridge.sources",
    "weighbridge.tracers",
    "weighbridge.beacons",
)


class Found(NamedTuple):
    """An entry point as its distribution declares it."""

    group: str
    name: str
    distribution: str
    version: str
    point: EntryPoint


def find(groups: Iterable[str] = GROUPS) -> list[Found]:
    """Return every entry point of these groups, sorted by group, name and distribution."""
    wanted = frozenset(groups)
    found = [
        Found(point.group, point.name, name, distribution.version, point)
        for name, distribution in _distributions()
        for point in distribution.entry_points
        if point.group in wanted
    ]
    return sorted(found, key=lambda one: (one.group, one.name, one.distribution, one.point.value))


def _distributions() -> Iterator[tuple[str, Distribution]]:
    # As an import would: of two installations of one distribution, the first on the path is the one.
    seen = set[str]()
    for distribution in distributions():
        metadata = distribution.metadata
        name = metadata["Name"] if "Name" in metadata else ""  # noqa: SIM401 - 3.11 has no typed `get` here
        if not name:
            continue  # the remains of a broken installation
        normal = re.sub(r"[-_.]+", "-", name).lower()
        if normal not in seen:
            seen.add(normal)
            yield name, distribution
