"""The part of YAML that compose.yaml is written in: block maps, flow sequences and maps, anchors, merge keys."""

from __future__ import annotations

import re
from typing import Any

KEY = re.compile(r"(?P<indent> *)(?P<key>[\w.-]+|<<):(?: +(?P<rest>.*))?")
TOKEN = re.compile(r'\s*(?:"(?P<quoted>[^"\\]*)"|(?P<mark>[\[\]{},])|(?P<plain>[^\[\]{},"]+))')


def load(text: str) -> dict[str, Any]:
    lines = [line.rstrip() for line in text.splitlines()]
    kept = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    found, rest = _block(kept, 0, {})
    if rest:
        raise ValueError(f"unexpected indentation: {rest[0]!r}")
    return found


def _block(lines: list[str], indent: int, anchors: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    found: dict[str, Any] = {}
    merged: dict[str, Any] = {}
    while lines:
        match = KEY.fullmatch(lines[0])
        if match is None:
            raise ValueError(f"not a key with a value: {lines[0]!r}")
        if len(match["indent"]) < indent:
            break
        if len(match["indent"]) > indent or match["key"] in found:
            raise ValueError(f"a stray line, or a key twice: {lines[0]!r}")
        lines = lines[1:]
        key, rest = match["key"], match["rest"] or ""
        anchor = re.fullmatch(r"&(\w+)", rest)
        if rest and not anchor:
            value: Any = anchors[rest[1:]] if rest.startswith("*") else _flow(rest)
        else:
            inner = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
            value, lines = _block(lines, inner, anchors) if inner > indent else (None, lines)
        if anchor:
            anchors[anchor[1]] = value
        if key == "<<":
            merged = value
        else:
            found[key] = value
    return {**merged, **found}, lines


def _flow(text: str) -> Any:
    value, rest = _item(text)
    if rest.strip():
        raise ValueError(f"left over: {rest!r}")
    return value


def _item(text: str) -> tuple[Any, str]:
    token = TOKEN.match(text)
    if token is None:
        raise ValueError(f"no value: {text!r}")
    rest = text[token.end() :]
    if token["quoted"] is not None:
        return token["quoted"], rest
    if token["plain"] is not None:
        return token["plain"].strip(), rest
    if token["mark"] == "[":
        return _several(rest)
    if token["mark"] == "{" and rest.strip() == "}":
        return {}, ""
    raise ValueError(f"not read here: {text!r}")


def _several(text: str) -> tuple[list[Any], str]:
    found: list[Any] = []
    while not text.lstrip().startswith("]"):
        value, text = _item(text)
        found.append(value)
        text = text.lstrip()
        text = text[1:] if text.startswith(",") else text
    return found, text.lstrip()[1:]
