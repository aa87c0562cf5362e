"""The root record: the kernel's fields of it, the versions in force, and what makes one `bad-root`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from weighbridge.cid import BadCid, Cid
from weighbridge.contract import Problem
from weighbridge.dice import QUICKNET, Chain, chain_of
from weighbridge.identity import Policy, parse_policy
from weighbridge.identity.syntax import is_did

VOID_DAYS = 14
FLOODS = {"author": 64, "strangers": 256}


class FoldPin(msgspec.Struct, frozen=True):
    """Which rule set folds the game: name and pin, and the settings of what is attached, each with a `name`."""

    name: str | None = None
    pin: str | None = None
    attached: tuple[dict[str, Any], ...] = ()


class Root(msgspec.Struct, frozen=True):
    """The kernel's fields of a well-formed root, with defaults filled in."""

    gm: str
    chain: Chain = QUICKNET
    margin: int = 15
    lister: str | None = None
    policy: Policy | None = None
    witnesses: Policy | None = None
    fold: FoldPin = FoldPin()
    void_days: int = VOID_DAYS
    flood_author: int = FLOODS["author"]
    flood_strangers: int = FLOODS["strangers"]

    def operators(self) -> tuple[str, ...]:
        """Return the named operators other than the lister, sorted: whose receipts make a roll timely."""
        members = self.policy.members() if self.policy else ()
        return tuple(m for m in members if m != self.lister)

    def authority(self) -> tuple[Any, ...]:
        """Return what only the quorum in force may let change: GM, lister, policy and witnesses."""
        return (self.gm, self.lister, self.policy, self.witnesses)


def read_root(value: Mapping[str, Any], first: Root | None) -> tuple[Root | None, list[Problem]]:
    """Read the kernel's fields of a root. With problems, all of them, and no root.

    `first` is the game's first well-formed root, whose beacon holds for good.
    """
    problems: list[Problem] = []
    if not is_did(value.get("gm")):
        problems.append(Problem("$.gm", "the GM's DID is missing or is no DID"))
    beacon, found = chain_of(value.get("beacon"))
    chain, margin = beacon.chain, beacon.margin
    problems += found
    if first is not None and not found and (chain, margin) != (first.chain, first.margin):
        problems.append(Problem("$.beacon", "the beacon of the game's first well-formed root holds for good"))
    if "lister" in value and not is_did(value["lister"]):
        problems.append(Problem("$.lister", "no DID"))
    policies = {name: _policy(value, name, problems) for name in ("policy", "witnesses")}
    fold = _fold(value.get("fold"), problems)
    void_days = _number(value, "voidDays", VOID_DAYS, (0, 365), problems)
    floods = _floods(value.get("floods", {}), problems)
    if problems:
        return None, problems
    root = Root(
        value["gm"], chain, margin, value.get("lister"), policies["policy"], policies["witnesses"], fold,
        void_days, floods["author"], floods["strangers"],
    )  # fmt: skip
    return root, []


def _policy(value: Mapping[str, Any], name: str, problems: list[Problem]) -> Policy | None:
    if name not in value:
        return None
    policy, found = parse_policy(value[name], f"$.{name}")
    problems += found
    return policy


def _number(
    value: Mapping[str, Any],
    name: str,
    default: int,
    bounds: tuple[int, int],
    problems: list[Problem],
    path: str = "$",
) -> int:
    number = value.get(name, default)
    if type(number) is not int or not bounds[0] <= number <= bounds[1]:
        problems.append(Problem(f"{path}.{name}", f"an integer from {bounds[0]} to {bounds[1]}"))
        return default
    return number


def _floods(value: Any, problems: list[Problem]) -> dict[str, int]:
    if not isinstance(value, dict):
        problems.append(Problem("$.floods", "a map of author and strangers"))
        return dict(FLOODS)
    problems += [Problem(f"$.floods.{key}", "no such option") for key in sorted(value) if key not in FLOODS]
    return {key: _number(value, key, n, (1, 1_000_000), problems, "$.floods") for key, n in FLOODS.items()}


def _attached_pins(attached: list[dict[str, Any]]) -> list[Problem]:
    named: dict[str, str] = {}
    for settings in attached:
        pin, name = settings.get("pin"), settings["name"]
        if pin is None:
            continue
        if not isinstance(pin, str) or not _is_cid(pin):
            return [Problem("$.fold.with.pin", "the CID that an attachment has as its pin")]
        if named.setdefault(name, pin) != pin:
            return [Problem("$.fold.with.pin", "one for each name: two versions cannot be attached at once")]
    return []


def _is_cid(text: str) -> bool:
    try:
        Cid.parse(text)
    except BadCid:
        return False
    return True


def _fold(value: Any, problems: list[Problem]) -> FoldPin:
    if value is None:
        return FoldPin()
    if not isinstance(value, dict):
        problems.append(Problem("$.fold", "a map of name, pin and with"))
        return FoldPin()
    for key in sorted(value):
        if key not in ("name", "pin", "with"):
            problems.append(Problem(f"$.fold.{key}", "no such option"))
    for key in ("name", "pin"):
        if not isinstance(value.get(key, ""), str):
            problems.append(Problem(f"$.fold.{key}", "a text"))
    attached = value.get("with", [])
    attached = [attached] if isinstance(attached, dict) else attached
    if not isinstance(attached, list) or not all(
        isinstance(a, dict) and isinstance(a.get("name"), str) for a in attached
    ):
        problems.append(Problem("$.fold.with", "a map, or a list of maps, each with a name"))
        attached = []
    problems += _attached_pins(attached)
    if problems:
        return FoldPin()
    return FoldPin(value.get("name"), value.get("pin"), tuple(attached))
