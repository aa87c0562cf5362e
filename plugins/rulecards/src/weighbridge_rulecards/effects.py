"""What each effect does to the board, and what it raises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weighbridge_rulecards.board import Reading, moved
from weighbridge_rulecards.events import Happened
from weighbridge_rulecards.names import FIRST_SIZE, MOST
from weighbridge_rulecards.rolling import roll_by_card
from weighbridge_rulecards.system import Effect

if TYPE_CHECKING:
    from weighbridge_rulecards.moments import Moment


@dataclass(slots=True)
class Doing:
    """An effect being done: for whom, at which step what it raises is answered, and by which card, if by one."""

    moment: Moment
    effect: Effect
    who: str
    step: int
    amount: int
    card: str
    stat: str


def do(
    moment: Moment, effect: Effect, who: str, step: int, reading: Reading, *, card: str = "", stat: str = ""
) -> None:
    """Do one effect. `step`: that of the cards which answer what it raises."""
    amount = effect.amount.run(reading) if effect.amount is not None else 0
    _DO[effect.kind](Doing(moment, effect, who, step, amount, card, stat))


def _track(doing: Doing) -> None:
    effect, board = doing.effect, doing.moment.board
    track, of = effect.get("track"), effect.get("of")
    cell = board.track(doing.who, track, of)
    if cell is None:
        return
    part = "max" if effect.get("part") else "value"
    wanted = doing.amount if effect.get("op") else cell[part] + doing.amount
    change = moved(cell, maximum=wanted) if part == "max" else moved(cell, to=wanted)
    doing.moment.track_changed(doing.who, track, of, change, doing.step)


def _condition(doing: Doing) -> None:
    effect, board = doing.effect, doing.moment.board
    name, op = effect.get("condition"), effect.get("op")
    conditions: dict[str, dict[str, Any]] = board.character(doing.who)["conditions"]
    level = board.level_of(doing.who, name)
    if not op:
        conditions[name] = {"level": max(level, effect.get("level", 1))}
        if effect.get("turns"):
            conditions[name]["turns"] = effect.get("turns")
        doing.moment.record.anew[doing.who, name] = None
    elif op == "rise":
        conditions[name] = {
            **conditions.get(name, {}),
            "level": min(level + 1, board.system.conditions[name].levels),
        }
    elif op == "fall" and level > 1:
        conditions[name]["level"] = level - 1
    else:
        conditions.pop(name, None)


def _clock(doing: Doing) -> None:
    effect, board = doing.effect, doing.moment.board
    name = effect.get("clock")
    if doing.amount <= 0:
        return
    cell = board.cell(f"clock/{name}")
    if cell is None:
        cell = {"size": effect.get("size", FIRST_SIZE), "filled": 0}
        board.put(f"clock/{name}", cell)
    if cell["filled"] == cell["size"]:
        return
    cell["filled"] = min(cell["size"], cell["filled"] + doing.amount)
    if cell["filled"] == cell["size"]:
        doing.moment.happen(Happened(doing.who, doing.step, (("clock", name), ("clock", ""))))


def _xp(doing: Doing) -> None:
    character, levels = doing.moment.board.character(doing.who), doing.moment.board.system.levels
    character["xp"] = max(0, min(MOST, character["xp"] + doing.amount))
    while character["level"] < len(levels) and character["xp"] >= levels[character["level"]]:
        character["level"] += 1
        doing.moment.happen(Happened(doing.who, doing.step, (("level",),)))


def _pool(doing: Doing) -> None:
    board, name = doing.moment.board, doing.effect.get("pool")
    value = max(0, min(board.system.pools[name].max, board.pool(name) + doing.amount))
    board.put(f"pool/{name}", {"value": value})


def _mark(doing: Doing) -> None:
    marked: list[str] = doing.moment.board.character(doing.who)["marked"]
    if doing.stat and doing.stat not in marked:
        marked.append(doing.stat)


def _roll(doing: Doing) -> None:
    roll_by_card(doing.moment, doing.card, doing.who, doing.effect.get("check"), doing.step)


_DO: dict[str, Callable[[Doing], None]] = {
    "track": _track,
    "condition": _condition,
    "clock": _clock,
    "xp": _xp,
    "pool": _pool,
    "mark": _mark,
    "roll": _roll,
}
