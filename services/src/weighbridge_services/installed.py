"""The plugins that are installed here, by the names that roots and scenarios use."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from typing import Any

from weighbridge.contract import Attachment, RuleSet


def ruleset_named(name: str) -> RuleSet:
    (point,) = importlib.metadata.entry_points(group="weighbridge.rulesets", name=name)
    return point.load()


def attachments_for(root: Any) -> Mapping[str, Attachment]:
    return {}
