"""Why a record's dice are what they are: from its listed time to every face, told from its game's log alone.

The game is folded with its rule set looked over the shoulder: what the rule set draws for one record is
written down, die by die, with the blocks that the bytes came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from weighbridge.beacon import verify
from weighbridge.chain import QUICKNET, Chain, round_time
from weighbridge.codec import decode
from weighbridge.contract import Attachment, Context, Dice, Docket, Opened, RuleSet, Table
from weighbridge.dice import Draws, Stream
from weighbridge.errors import Refused
from weighbridge.fold import Attach, Fold, FoldPin, Resolve, Resolved
from weighbridge.fold.records import BEACON, SCENARIO, Pending
from weighbridge.log.entries import Listed

P = TypeVar("P", RuleSet, Attachment)


class RecordNotInLog(Refused):
    """The log lists no such record."""

    code = "record-not-in-log"


class DoesNotRoll(Refused):
    """The record awaits no dice, as its rule set has it."""

    code = "does-not-roll"


class PurposeDice(msgspec.Struct, frozen=True):
    """What was drawn for one purpose. `draws`: (sides, face) in order. `blocks`: those read (32 bytes).

    `randomness`: what the blocks were made of, which is the beacon's but for a secret roll (`sealed`).
    Without one, and without blocks, a scenario gave the faces.
    """

    purpose: str
    randomness: bytes | None
    sealed: bool
    blocks: tuple[bytes, ...]
    draws: tuple[tuple[int, int], ...]


class Reasoning(msgspec.Struct, frozen=True):
    """A record's dice, step by step; None where it has not come to that yet.

    `at`: the listed time (µs), `margin`: seconds, `due`: when the round was to be out (seconds), `beacon`:
    the at-uri of the beacon's record, `roll`: `timely`, `untimely` or `lister-timed`.
    """

    game: str
    uri: str
    cid: str
    seq: int
    at: int
    chain: Chain = QUICKNET
    margin: int = 0
    purposes: tuple[str, ...] = ()
    round: int | None = None
    due: int | None = None
    beacon: str | None = None
    signature: bytes | None = None
    randomness: bytes | None = None
    roll: str | None = None
    dice: tuple[PurposeDice, ...] = ()


def explain(
    entries: Iterable[Listed],
    ruleset: RuleSet,
    uri: str,
    *,
    attachments: Mapping[str, Attachment] | None = None,
    pin: str = "scenario",
    resolve: Resolve | None = None,
    attach: Attach | None = None,
    scenario: bool = False,
) -> Reasoning:
    """Fold a game's log (all of it, from the root on) and tell how the dice of a record came to be.

    `pin`, `resolve` and `attach` as for a `Fold`: with them, a game that moves to other rules is told by those.
    """
    watch = _Watch(uri)
    fold: Fold | None = None
    pending: Pending | None = None
    beacons: dict[int, list[tuple[str, bytes]]] = {}
    first: Listed | None = None
    for listed in entries:
        if fold is None:
            attached = {name: watch.over(each) for name, each in (attachments or {}).items()}
            fold = Fold(
                listed.entry.game, watch.over(ruleset), scenario=scenario, attachments=attached, pin=pin,
                resolve=watch.over_resolved(resolve), attach=watch.over_attached(attach),
            )  # fmt: skip
        fold.fold(listed)
        first = first or (listed if listed.entry.uri == uri else None)
        pending = next((each for each in fold.world.pendings.values() if each.uri == uri), pending)
        _note_beacon(listed, beacons)
    if fold is None or first is None:
        raise RecordNotInLog(f"the log does not list {uri}; check the uri")
    if pending is None:
        raise DoesNotRoll(
            f"{uri} awaits no dice: its rule set refused it, or it is of a kind that rolls none"
        )
    return _told(fold, first, pending, beacons, watch)


def _note_beacon(listed: Listed, beacons: dict[int, list[tuple[str, bytes]]]) -> None:
    uri = listed.entry.uri
    if uri is None or listed.record is None or uri.split("/")[3] not in (BEACON, SCENARIO):
        return
    value = decode(listed.record)
    if isinstance(value, dict):
        round, signature = value.get("round"), value.get("signature")
        if type(round) is int and type(signature) is bytes:
            beacons.setdefault(round, []).append((uri, signature))


def _told(
    fold: Fold,
    first: Listed,
    pending: Pending,
    beacons: Mapping[int, list[tuple[str, bytes]]],
    watch: _Watch,
) -> Reasoning:
    root = fold.world.first_root()
    told = Reasoning(
        game=fold.game,
        uri=pending.uri,
        cid=str(first.entry.record),
        seq=first.entry.seq,
        at=first.entry.at,
        purposes=pending.dice,
        round=pending.round,
        roll=watch.roll or pending.roll,
        dice=watch.purposes(),
    )
    if root is None:
        return told
    told = msgspec.structs.replace(told, chain=root.chain, margin=root.margin)
    if pending.round is None:
        return told
    told = msgspec.structs.replace(told, due=round_time(root.chain, pending.round))
    for uri, signature in beacons.get(pending.round, ()):
        try:
            randomness = verify(root.chain, pending.round, signature)
        except Refused:
            continue
        return msgspec.structs.replace(told, beacon=uri, signature=signature, randomness=randomness)
    return told


class _Watch:
    """What is seen over a rule set's and its attachments' shoulders while one record is applied."""

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self.roll: str | None = None
        self.context: Context | None = None
        self.drawn: dict[str, _Written] = {}

    def over(self, plugin: P) -> P:
        """Return the rule set or attachment as another of its own class, but for the contexts it is given."""
        hooks = {"apply": self._apply, "effect": self._pass_on, "handle": self._pass_on}
        watched = {name: make(getattr(plugin, name)) for name, make in hooks.items() if hasattr(plugin, name)}
        twin: P = object.__new__(type(f"Watched{type(plugin).__name__}", (type(plugin),), watched))
        vars(twin).update(vars(plugin))
        return twin

    def over_resolved(self, resolve: Resolve | None) -> Resolve | None:
        """Return what finds a game's next rule set as one that finds it watched."""
        if resolve is None:
            return None

        def watched(fold: FoldPin) -> Resolved:
            ruleset, pin, attachments = resolve(fold)
            attached = {name: self.over(each) for name, each in attachments.items()}
            return Resolved(self.over(ruleset), pin, attached)

        return watched

    def over_attached(self, attach: Attach | None) -> Attach | None:
        """Return what finds what is attached later as one that finds it watched."""
        return None if attach is None else lambda settings: self.over(attach(settings))

    def _apply(self, inner: Callable[..., None]) -> Callable[..., None]:
        def apply(_: object, table: Table, docket: Docket, ctx: Context) -> None:
            if docket.uri != self.uri:
                inner(table, docket, ctx)
                return
            self.begin(docket, ctx)
            inner(table, docket, _Context(ctx, self))

        return apply

    def _pass_on(self, inner: Callable[..., Any]) -> Callable[..., Any]:
        # Events of the record are settled after `apply`, in the same context.
        def hook(_: object, *args: Any) -> Any:
            *others, ctx = args
            watched = self.context is not None and ctx is self.context
            return inner(*others, _Context(ctx, self) if watched else ctx)

        return hook

    def begin(self, docket: Docket, context: Context) -> None:
        """Begin with a clean sheet: a void may have the record applied again."""
        self.context = context
        self.drawn = {}
        self.roll = docket.roll

    def purposes(self) -> tuple[PurposeDice, ...]:
        """Return what was drawn, by purpose in the order first asked for."""
        return tuple(written.told(purpose) for purpose, written in self.drawn.items())


class _Context:
    """A context that writes down the dice it gives."""

    def __init__(self, ctx: Context, watch: _Watch) -> None:
        self._ctx = ctx
        self._watch = watch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)

    def dice(self, purpose: str, opened: Opened | None = None) -> Dice:
        """Return the dice of a purpose, to be drawn with as ever."""
        dice = self._ctx.dice(purpose, opened)
        written = self._watch.drawn.get(purpose)
        if written is None or written.dice is not dice:
            written = self._watch.drawn[purpose] = _Written(dice, opened is not None)
        return written


class _Written(Draws):
    """Dice that write down each face."""

    def __init__(self, dice: Dice, sealed: bool) -> None:
        self.dice = dice
        self.sealed = sealed
        self.draws: list[tuple[int, int]] = []

    def die(self, sides: int) -> int:
        """Return the face that the dice give."""
        face = self.dice.die(sides)
        self.draws.append((sides, face))
        return face

    def told(self, purpose: str) -> PurposeDice:
        """Return what was drawn, and from which blocks."""
        if not isinstance(self.dice, Stream):
            return PurposeDice(purpose, None, self.sealed, (), tuple(self.draws))
        blocks = tuple(self.dice.block(c) for c in range(self.dice.blocks_read))
        return PurposeDice(purpose, self.dice.randomness, self.sealed, blocks, tuple(self.draws))
