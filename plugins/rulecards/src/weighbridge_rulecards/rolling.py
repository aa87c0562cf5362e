"""Rolls: spend, before-cards, dice, total, band, in this order; the chip and the maths that show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weighbridge.contract import Dice

from weighbridge_rulecards import effects
from weighbridge_rulecards.before import Changes, ask_before
from weighbridge_rulecards.board import Reading, moved
from weighbridge_rulecards.events import Happened, RollFacts, before_keys, roll_keys
from weighbridge_rulecards.formula_running import held
from weighbridge_rulecards.names import EDGES, MOST_DICE
from weighbridge_rulecards.stakes import Counts
from weighbridge_rulecards.system import GIVEN, Band, Check
from weighbridge_rulecards.words import MINUS

if TYPE_CHECKING:
    from weighbridge_rulecards.moments import Moment

Json = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """A roll that is to be made. `key` of its cell, `most` dice by group if a void has changed the past."""

    key: str
    purpose: str
    who: str
    check: str
    step: int
    stat: str = ""
    target: int | None = None
    edge: str = ""
    spend: str = ""
    card: str = ""
    most: Counts | None = None

    def cell(self, status: str, **fields: Any) -> Json:
        """Return the roll's cell."""
        cell: Json = {"for": self.who, "check": self.check, "status": status, **fields}
        if self.card:
            cell["card"] = self.card
        return cell if self.target is None else {**cell, "target": self.target}


def roll_by_card(moment: Moment, card: str, who: str, check: str, step: int) -> None:
    """Make the roll of a card, which draws from the record's round under its own purpose."""
    record = moment.record
    if not record.rolls_cards:
        return
    n, most = record.stake.by_card(card, who, record.next_roll())
    if most == {}:
        record.stake.overtaken(f"{card} would roll for {who} now, and did not then")
        return
    target = moment.board.system.checks[check].target
    key, purpose = f"roll/{record.id}/{n}", f"card:{card}:{n}"
    make(
        moment,
        Asked(
            key, purpose, who, check, step, target=None if target == GIVEN else target, card=card, most=most
        ),
    )


def make(moment: Moment, asked: Asked) -> None:
    """Make a roll: its cell, what its band does, and its event."""
    check = moment.board.system.checks[asked.check]
    paid = _spend(moment, asked)
    place = moment.record.place(asked.who)
    cards = [(card, asked.who) for card in moment.rules.index.under(before_keys("roll", asked.check, place))]
    changes = ask_before(moment, cards, asked.step, Changes())
    if changes.blocked:
        moment.record.table[asked.key] = asked.cell("blocked", chip=changes.chip, reason=changes.blocked)
        return
    if asked.most == {}:
        moment.record.stake.overtaken("it was not rolled then, and would be now")
        moment.record.table[asked.key] = asked.cell("blocked", chip=changes.chip, reason="overtaken")
        return
    rolled = len(changes.chip)
    _edges(moment, asked, changes, paid=paid)
    edge = next(iter(changes.edges)) if len(changes.edges) == 1 else ""
    faces = _draw(moment, asked, check, edge)
    _land(moment, asked, _Read(check, edge, faces, changes, rolled))


def _spend(moment: Moment, asked: Asked) -> bool:
    if not asked.spend:
        return False
    cell = moment.board.track(asked.who, asked.spend)
    if cell is None or cell["value"] < 1:
        name = moment.board.system.tracks[asked.spend].name
        moment.record.report("not-paid", f"There is no {name} left to spend; the roll goes on without it.")
        return False
    moment.track_changed(asked.who, asked.spend, "", moved(cell, to=cell["value"] - 1), asked.step)
    return True


def _edges(moment: Moment, asked: Asked, changes: Changes, *, paid: bool) -> None:
    """Count the edges of conditions, of what was spent and of the storyteller, each with its line."""
    system = moment.board.system
    for condition in system.conditions.values():
        if condition.edge and moment.board.level_of(asked.who, condition.id):
            changes.edges[condition.edge] = None
            changes.chip.append(f"{condition.name}: {condition.edge}")
    if paid:
        changes.edges[EDGES[0]] = None
        changes.chip.append(f"{system.tracks[asked.spend].name}: {EDGES[0]}")
    if asked.edge:
        changes.edges[asked.edge] = None
        changes.chip.append(f"Storyteller: {asked.edge}")


# --- dice --------------------------------------------------------------------------------------------------


def _draw(moment: Moment, asked: Asked, check: Check, edge: str) -> dict[str, list[int]]:
    reading = Reading(moment.board, asked.who, stat=_stat(moment, asked))
    counts: Counts = {}
    for place, group in enumerate(check.dice):
        n = max(0, min(MOST_DICE, group.n.run(reading)))
        counts[group.group] = _with_edge(n, check, edge) if place == 0 else n
    if asked.most is not None:
        least = {group: min(n, asked.most.get(group, 0)) for group, n in counts.items()}
        if least != counts:
            moment.record.stake.overtaken("it had fewer dice then than it would have now")
        counts = least
    return faces_of(moment.record.dice(asked.purpose), check, counts)


def faces_of(dice: Dice, check: Check, counts: Counts) -> dict[str, list[int]]:
    """Return the faces of a check's dice, group by group."""
    return {each.group: dice.roll(counts[each.group], each.sides) for each in check.dice}


def plain_counts(check: Check, reading: Reading) -> Counts:
    """Return the dice of a check's groups, with no edge."""
    return {each.group: max(0, min(MOST_DICE, each.n.run(reading))) for each in check.dice}


def _with_edge(n: int, check: Check, edge: str) -> int:
    if not edge:
        return n
    return max(0, min(MOST_DICE, n - 1 if check.read == "hits" and edge == EDGES[1] else n + 1))


def _stat(moment: Moment, asked: Asked) -> int:
    return int(moment.board.character(asked.who)["stats"].get(asked.stat, 0)) if asked.stat else 0


# --- reading them ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Read:
    """A roll's dice as drawn, the edge they were drawn with, and how many cards changed it."""

    check: Check
    edge: str
    faces: dict[str, list[int]]
    changes: Changes
    cards: int

    @property
    def base(self) -> int:
        """The kept die or the hits."""
        if self.check.read == "keep":
            first = self.faces[self.check.dice[0].group]
            return (min if self.edge == EDGES[1] else max)(first, default=0)
        return sum(face >= self.check.hit for face in self._all)

    @property
    def natural(self) -> int:
        """The kept or highest die."""
        return self.base if self.check.read == "keep" else max(self._all, default=0)

    @property
    def _all(self) -> list[int]:
        return [face for faces in self.faces.values() for face in faces]

    def groups(self) -> dict[str, dict[str, int]]:
        """What formulas read of each group."""
        return {
            group: {
                "high": max(faces, default=0),
                "low": min(faces, default=0),
                "sum": sum(faces),
                "ones": faces.count(1),
                "count": len(faces),
            }
            for group, faces in self.faces.items()
        }


def _land(moment: Moment, asked: Asked, read: _Read) -> None:
    """Read the dice, write the cell, do what the band does, and let the roll be known."""
    stat = _stat(moment, asked) if read.check.add else 0
    total = held(read.base + stat + read.changes.amount)
    facts = RollFacts(total, read.natural, asked.target or 0, asked.stat, read.groups())
    band = _band(read.check, Reading(moment.board, asked.who, roll=facts))
    cell = asked.cell("rolled", dice=read.faces, total=total, band=band.id, outcome=band.outcome)
    if read.check.read == "keep":
        cell["kept"] = read.base
    if read.edge:
        cell["edge"] = read.edge
    moment.record.table[asked.key] = {**cell, "chip": read.changes.chip, "maths": _maths(read, stat, total)}
    for effect in band.then:
        reading = Reading(moment.board, asked.who, roll=facts)
        effects.do(moment, effect, asked.who, asked.step, reading, stat=asked.stat)
    moment.happen(Happened(asked.who, asked.step, roll_keys(asked.check, band), roll=facts))


def _band(check: Check, reading: Reading) -> Band:
    return next(band for band in check.bands if band.test is None or band.test.run(reading))


def _maths(read: _Read, stat: int, total: int) -> str:
    text = str(read.base)
    if stat:
        text += f" + {stat}" if stat > 0 else f" {MINUS} {-stat}"
    if read.cards:
        text += f" + {read.cards} {'rule' if read.cards == 1 else 'rules'}"
    return f"{text} = {total if total >= 0 else f'{MINUS}{-total}'}"
