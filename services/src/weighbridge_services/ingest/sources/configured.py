"""The source that a game's table of the configuration names."""

from __future__ import annotations

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


def open_source(setting: Setting) -> Source | None:
    """Open the source; None where the table names none. Raises what the plugin says of its settings."""
    plugin = plugin_of(setting)
    if plugin is None:
        return None
    opened: Source = setting.node.plugins.load(GROUP, plugin)(
        {"game": setting.uri, **setting.game.source}, str(setting.node.folder)
    )
    return opened
