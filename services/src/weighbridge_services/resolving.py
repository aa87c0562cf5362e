"""From what a root's `fold` names to the plugins that are installed here, each held against its pin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weighbridge.cid import BadCid, Cid
from weighbridge.contract import Attachment
from weighbridge.fold import FoldPin, Resolved, attached_pins
from weighbridge.plugins import PinMismatch, Plugins


def fold_in(root: Any) -> FoldPin:
    """Return what a root's `fold` says, as far as it says anything: the fold itself reports a bad root."""
    found = root.get("fold") if isinstance(root, dict) else None
    fold = found if isinstance(found, dict) else {}
    attached = fold.get("with", [])
    several = attached if isinstance(attached, list) else [attached]
    named = tuple(e for e in several if isinstance(e, dict) and isinstance(e.get("name"), str))
    return FoldPin(_text(fold.get("name")), _text(fold.get("pin")), named)


def root_of(fold: FoldPin) -> dict[str, Any]:
    """Return a root with that `fold`, and nothing else."""
    said = {"name": fold.name, "pin": fold.pin, "with": list(fold.attached)}
    return {"fold": {name: value for name, value in said.items() if value}}


def resolved(plugins: Plugins, fold: FoldPin) -> Resolved:
    """Return what a `fold` that names a rule set names. Raises what `weighbridge.plugins` raises."""
    name = fold.name or ""
    attachments = attachments_of(plugins, fold)
    pins = {each: plugins.pin(each) for each in attachments}
    ruleset = plugins.resolve(name, _cid(fold.pin, name), pins)
    return Resolved(ruleset, str(plugins.pin(name, pins)), attachments)


def attachments_of(plugins: Plugins, fold: FoldPin) -> Mapping[str, Attachment]:
    """Return what a `fold` attaches, by name, each with the pin that is named for it. Raises as `resolved`."""
    return {name: plugins.attachment(name, _cid(pin, name)) for name, pin in attached_pins(fold).items()}


def asked_pins(plugins: Plugins, fold: FoldPin) -> dict[str, Cid]:
    """Return the pins that a `fold` asks for of what it attaches: the one it names, or the one here."""
    return {name: _cid(pin, name) or plugins.pin(name) for name, pin in attached_pins(fold).items()}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _cid(text: object, name: str) -> Cid | None:
    try:
        return None if not isinstance(text, str) else Cid.parse(text)
    except BadCid as error:
        says = f"the root names {name} with a pin that is no CID: {text!r}"
        raise PinMismatch(says, name=name, wanted=text) from error
