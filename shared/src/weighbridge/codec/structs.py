"""What a msgspec.Struct type says about its encoding: its tag, its keys, and the defaults it leaves out."""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

from weighbridge.codec import errors
from weighbridge.codec.values import Value

NEVER: Final = object()
"""The `omitted` of a field that is always written."""


class Field(NamedTuple):
    """One field: the attribute, the map key, and the value it is left out for (or `NEVER`)."""

    attribute: str
    key: str
    omitted: Value


class Layout(NamedTuple):
    """A struct type: the map entries that stand for its tag (none or one), and its fields."""

    tag: dict[str, str | int]
    fields: tuple[Field, ...]


def layout_of(kind: type[msgspec.Struct]) -> Layout:
    """Return a struct type's layout. Only a type with `omit_defaults` leaves a default out."""
    config = kind.__struct_config__
    if config.array_like:
        raise errors.Unencodable(f"{kind.__name__} is array_like: a record is a map")
    tag = {} if config.tag_field is None or config.tag is None else {config.tag_field: config.tag}
    fields = msgspec.structs.fields(kind)
    return Layout(tag, tuple(Field(f.name, f.encode_name, _omitted(f, config.omit_defaults)) for f in fields))


def _omitted(field: msgspec.structs.FieldInfo, omit_defaults: bool) -> Value:
    # A field that is UNSET is absent whatever its default says.
    if not omit_defaults or field.default is msgspec.UNSET:
        return NEVER
    if field.default is not msgspec.NODEFAULT:
        return field.default
    # Only these factories make the same value each time.
    return field.default_factory() if field.default_factory in (list, dict, tuple) else NEVER
