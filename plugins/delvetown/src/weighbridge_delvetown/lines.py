"""By which line a move is judged at its listing (Asks, lines 1 to 4): refused, unwitnessed, or fit to count."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Docket, Frozen, Table

from weighbridge_delvetown.calendar import game_day, has_ration
from weighbridge_delvetown.days import text_of
from weighbridge_delvetown.game import is_open
from weighbridge_delvetown.names import move_id
from weighbridge_delvetown.options import Options
from weighbridge_delvetown.places import is_barred
from weighbridge_delvetown.traces import Cited, read_trace

Sheet = dict[str, Any]
Scene = dict[str, Any]


class Line(Frozen, frozen=True):
    """The line that applies: what the move becomes, the report's code and sentence, whether the ration is used."""

    status: str
    code: str
    says: str
    uses: bool = False


def no_standing(sheet: Sheet | None, who: str = "This account") -> Line | None:
    """Line 1: an account without a sheet, or with a retired one."""
    if sheet is None:
        return Line("refused", "no-sheet", f"{who} has no pinned sheet, so it makes no moves (§1).")
    if sheet["retired"]:
        return Line("refused", "retired", "This sheet has retired and makes no more moves (§5).")
    return None


def unwitnessed(table: Table, docket: Docket, scene: Scene | None) -> Line | None:
    """Line 2: no such prompt, the gate, the window, the invitation."""
    if scene is None:
        return _line_2("unwitnessed", "It belongs to no prompt of the GM's: its roll is unwitnessed (§2).")
    if not is_open(table):
        return _line_2("gate", "The game has not opened yet: too few players (§1).")
    first, last = scene["from"], scene["to"]
    if not first <= game_day(docket) <= last:
        return _line_2("outside-window", f"The prompt's window is {text_of(first)} to {text_of(last)} (§2).")
    if "invited" in scene and docket.author not in scene["invited"]:
        return _line_2("not-invited", "The prompt does not invite this sheet (§2).")
    return None


def _line_2(code: str, says: str) -> Line:
    return Line("unwitnessed", code, says)


def over_ration(table: Table, docket: Docket, kind: str) -> Line | None:
    """Line 3, first part: the day's ration of actions or between moves is used."""
    rules: Options = docket.rules
    if has_ration(table, docket.author, game_day(docket), kind, rules):
        return None
    limit = rules.per_action if kind == "action" else rules.per_between
    return Line("refused", "over-ration", f"The day's ration of {kind} moves, {limit}, is used (§2).")


def barred(table: Table, docket: Docket, scene: Scene) -> Line | None:
    """Line 3, second part: by root option, a place whose landlord has taken no stance."""
    rules: Options = docket.rules
    target = docket.value.get("target") or scene.get("target") or {}
    if rules.absent_landlord != "barred" or "place" not in target or not is_barred(table, target["place"]):
        return None
    return Line("refused", "barred", "The landlord has taken no stance: this place is barred (§7, §10).")


def torn(sheet: Sheet, action: str) -> Line | None:
    """Line 3, last part: level 3 harm on the action."""
    if sheet["harm"].get(action, 0) < 3:
        return None
    return Line("refused", "torn", f"Harm of level 3 on {action}: torn until somebody else mends it (§5).")


def untraced(docket: Docket, cited: Cited | None) -> Line | None:
    """Line 4: no trace, or one of a wrong form."""
    if "trace" not in docket.value:
        return Line("refused", "no-trace", "An action points to a trace, and this has none (§3).", uses=True)
    if cited is None:
        says = "The trace does not have the form that the action asks for (§3)."
        return Line("refused", "bad-form", says, uses=True)
    return None


def ask_line(
    table: Table, docket: Docket, sheet: Sheet | None, scene: Scene | None, cited: Cited | None
) -> Line | None:
    """Return the first line that refuses an ask or leaves it unwitnessed, or None."""
    line = no_standing(sheet) or unwitnessed(table, docket, scene)
    if line is not None or sheet is None or scene is None:
        return line
    return (
        over_ration(table, docket, "action")
        or barred(table, docket, scene)
        or torn(sheet, docket.value["action"])
        or untraced(docket, cited)
    )


def scene_of(table: Table, docket: Docket) -> Scene | None:
    """Return the prompt that a move names, or None."""
    prompt = move_id(docket.value.get("prompt"))
    found: Scene | None = table.get(f"scene/{prompt}") if prompt else None
    return found


def cited_by(docket: Docket) -> Cited | None:
    """Return the trace of an ask, if it has the form that the action asks for."""
    return read_trace(docket.value["action"], docket.value.get("trace"), docket.author)
