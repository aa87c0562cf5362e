"""Acts and improvement rolls: what the record itself rolls."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from weighbridge.contract import Context, Docket, Table

from weighbridge_rulecards.board import Board, Reading
from weighbridge_rulecards.faults import subject_of
from weighbridge_rulecards.moments import Moment
from weighbridge_rulecards.names import MOST, MOVE, id_of
from weighbridge_rulecards.records import Record
from weighbridge_rulecards.rolling import Asked, faces_of, make, plain_counts
from weighbridge_rulecards.rules import Rules
from weighbridge_rulecards.system import GIVEN

Json = dict[str, Any]


def wait_for_act(table: Table, docket: Docket, rules: Rules) -> None:
    """Let an act stand as pending, and its call as used."""
    value = docket.value
    if "call" in value:
        key = f"call/{id_of(value['call'], MOVE)}"
        table[key] = {**table[key], "used": docket.uri}
    table[f"roll/{docket.id}"] = _asked(table, docket, rules).cell("pending")


def _asked(table: Table, docket: Docket, rules: Rules) -> Asked:
    """Return the roll of an act: what a call says, or the act itself."""
    value = docket.value
    says: Json = table[f"call/{id_of(value['call'], MOVE)}"] if "call" in value else value
    own = rules.system.checks[says["check"]].target
    return Asked(
        key=f"roll/{docket.id}",
        purpose="act",
        who=subject_of(docket),
        check=says["check"],
        step=1,
        stat=says.get("stat", ""),
        target=says.get("target") if own == GIVEN else own,
        edge=says.get("edge", ""),
        spend=value.get("spend", ""),
    )


def act(record: Record, ctx: Context, did: str) -> None:
    """Make the roll of an act; of an untimely one show the dice, no more."""
    asked = _asked(record.table, record.docket, record.rules)
    if record.docket.roll == "untimely":
        record.table[asked.key] = asked.cell("untimely", **_shown(record, asked))
        return
    moment = Moment(record)
    make(moment, replace(asked, most=record.stake.own("act")))
    moment.run()


def _shown(record: Record, asked: Asked) -> Json:
    if not record.docket.has_dice:
        return {}
    check = record.rules.system.checks[asked.check]
    board = Board(record.table, record.rules.system)
    stat = board.character(asked.who)["stats"].get(asked.stat, 0)
    counts = plain_counts(check, Reading(board, asked.who, stat=stat))
    return {"dice": faces_of(record.dice(asked.purpose), check, counts)}


def improve(record: Record, ctx: Context, did: str) -> None:
    """Roll to improve a marked stat: a die above it makes it 1 more, and the mark goes."""
    if record.stake.own("improve") == {}:
        record.stake.overtaken("this was not rolled then")
        return
    if not record.docket.has_dice:
        return
    stat = record.docket.value["stat"]
    character = record.board.character(did)
    face = record.dice("improve").die(record.rules.system.improve)
    if face > character["stats"].get(stat, 0):
        character["stats"][stat] = min(MOST, character["stats"].get(stat, 0) + 1)
    character["marked"].remove(stat)
    record.table[f"improve/{record.id}"] = {
        "for": did,
        "stat": stat,
        "die": face,
        "now": character["stats"][stat],
    }
