"""The source that a game's table of the configuration names."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Final

from weighbridge.ports import Source

from weighbridge_services.ingest.setting import Setting

GROUP: Final = "weighbridge.sources"


def plugin_of(setting: Setting) -> str | None:
    """Return the name of the source's plugin; None where the table names no source."""
    settings = setting.game.source
    if "file" not in settings and "plugin" not in settings:
        return None
    return str(settings.get("plugin", "jsonl"))


def position_of(setting: Setting) -> str:
    """Return the name under which is kept how far the source was read: one that is set otherwise is read anew."""
    told = json.dumps(setting.game.source, sort_keys=True, default=str)
    return f"source/{plugin_of(setting)}-{sha256(told.encode()).hexdigest()[:16]}"


def open_source(setting: Setting) -> Source:
    """Open the source that the table names. Raises what the plugin says of its settings."""
    opened: Source = setting.node.plugins.load(GROUP, plugin_of(setting) or "jsonl")(
        {"game": setting.uri, **setting.game.source}, str(setting.node.folder)
    )
    return opened
