"""AT Protocol JSON: links as `{"$link": …}`, bytes as `{"$bytes": …}`."""

from __future__ import annotations

import base64
from typing import Any

from weighbridge.cid import Cid
from weighbridge.codec.errors import WrongShape
from weighbridge.scenario.mentions import Json


def to_json(value: Any) -> Json:
    """Return a value as JSON."""
    if isinstance(value, Cid):
        return {"$link": str(value)}
    if isinstance(value, bytes):
        return {"$bytes": base64.b64encode(value).decode().rstrip("=")}
    if isinstance(value, dict):
        return {key: to_json(each) for key, each in value.items()}
    return [to_json(each) for each in value] if isinstance(value, list | tuple) else value


def from_json(value: Json) -> Any:
    """Return the value that JSON stands for."""
    if isinstance(value, list):
        return [from_json(each) for each in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"$link"}:
        return Cid.parse(value["$link"])
    if value.keys() == {"$bytes"}:
        try:
            text = value["$bytes"].rstrip("=")
            return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
        except (AttributeError, ValueError) as error:
            raise WrongShape(f"$bytes is no base64: {error}") from error
    return {key: from_json(each) for key, each in value.items()}
