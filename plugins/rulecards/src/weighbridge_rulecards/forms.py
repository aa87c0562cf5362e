"""Every trigger and every effect, as the forms of one system's sentences."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from weighbridge_rulecards import slots as s
from weighbridge_rulecards.grammar import Form, form
from weighbridge_rulecards.slots import Slot
from weighbridge_rulecards.system import System


class Forms:
    """The forms of a system: `after` and `before` of triggers, `effects` of after-cards, of roll and damage cards."""

    def __init__(self, system: System) -> None:
        self.system = system
        own = {each: system.tracks[each] for each in system.own_tracks}
        owned = {each: system.tracks[each] for each in system.owned_tracks if each in system.tracks}
        places, people = system.places, system.people
        changed = [each.name for each in (*own.values(), *system.conditions.values(), *system.pools.values())]
        self._slots: dict[str, Slot] = {
            "a_check": s.named("check", system.checks, "check", article=True),
            "check": s.named("check", system.checks, "check"),
            "band": _band(system),
            "outcome": s.outcomes(),
            "outcome_alone": s.outcomes(alone=True),
            "place": s.named("place", places, "place"),
            "place_kind": s.kind("kind", system.kinds("places")),
            "person": s.named("person", people, "person"),
            "person_kind": s.kind("kind", system.kinds("people")),
            "many": s.named("track", {k: v for k, v in own.items() if v.plural}, "track"),
            "one": s.named("track", {k: v for k, v in own.items() if not v.plural}, "track"),
            "many_of": s.named("track", {k: v for k, v in owned.items() if v.plural}, "track"),
            "one_of": s.named("track", {k: v for k, v in owned.items() if not v.plural}, "track"),
            "track": s.named("track", own, "track, condition or pool", also=changed),
            "track_of": s.named("track", owned, "track"),
            "of": s.named("of", {k: v for k, v in system.items.items() if v.tracks}, "item"),
            "item": s.named("item", system.items, "item"),
            "foe": s.named("foe", system.foes, "foe"),
            "clock": _clock(system),
            "pool": s.named("pool", system.pools, "track, condition or pool", also=changed),
            "condition": s.named("condition", system.conditions, "track, condition or pool", also=changed),
            "at": s.whole("at", alone=True),
            "min": s.whole("min", least=1, alone=True),
            "level": s.whole("level", least=1),
            "size": s.whole("size", least=1),
            "turns": s.turns(),
            "change": s.amount("amount", change=True),
            "value": s.amount("amount", change=False),
            "less": s.less("amount"),
            "text": s.text("text"),
        }

    def _form(self, words: str, **constants: object) -> Form:
        return form(words, self._slots, **constants)

    # --- triggers ------------------------------------------------------------------------------------------

    @cached_property
    def after(self) -> list[Form]:
        """What `When …` may say, story cards aside; `Each turn` stands without `When`."""
        if self.system.attached:
            return [self._form(each.name, on="event", event=each.id) for each in self.system.events.values()]
        return [*self._rolls(), *self._tracks(), *self._happenings(), *self._doings()]

    def _rolls(self) -> list[Form]:
        form = self._form
        return [
            form("a roll lands", on="roll"),
            form("{a_check} lands", on="roll"),
            form("a roll lands on {band}", on="roll"),
            form("{a_check} lands on {band}", on="roll"),
            form("a roll {outcome_alone}", on="roll"),
            form("{a_check} {outcome}", on="roll"),
        ]

    def _tracks(self) -> list[Form]:
        found: list[Form] = []
        for one, many in (("{one}", "{many}"), ("the {of}'s {one_of}", "the {of}'s {many_of}")):
            for cross, singular, plural in _CROSSINGS:
                found.append(self._form(f"{one} {singular}", on="track", cross=cross))
                found.append(self._form(f"{many} {plural}", on="track", cross=cross))
        return found

    def _happenings(self) -> list[Form]:
        form = self._form
        return [
            form("the {clock} clock fills", on="clock"),
            form("a clock fills", on="clock"),
            form("a fight starts", on="fight", is_="start"),
            form("a fight ends", on="fight", is_="end"),
            form("a quest step is done", on="quest", is_="step"),
            form("a quest is finished", on="quest", is_="finish"),
        ]

    def _doings(self) -> list[Form]:
        form = self._form
        return [
            form("they rest", on="rest"),
            form("they gain a level", on="level"),
            form("they enter {place_kind}", on="place"),
            form("they enter {place}", on="place"),
            form("they first meet {person_kind}", on="meet"),
            form("they first meet {person}", on="meet"),
            form("they gain an item", on="item", is_="gain"),
            form("they lose an item", on="item", is_="lose"),
            form("they gain {item}", on="item", is_="gain"),
            form("they lose {item}", on="item", is_="lose"),
            form("they deal damage", on="damage", dir="dealt"),
            form("they take damage", on="damage", dir="taken"),
            form("they deal damage of at least {min}", on="damage", dir="dealt"),
            form("they take damage of at least {min}", on="damage", dir="taken"),
            form("they defeat a foe", on="defeat"),
            form("they defeat {foe}", on="defeat"),
        ]

    @cached_property
    def before(self) -> list[Form]:
        """What `Before …` may say."""
        found = [self._form(words, on="roll") for words in ("any roll", "any {check}")]
        found += [self._form(f"{words} in {{place}}", on="roll") for words in ("any roll", "any {check}")]
        for least in ("", " of at least {min}"):
            for place in ("", " in {place}"):
                for direction in ("taken", "dealt"):
                    words = f"damage{least} is {direction}{place}"
                    found.append(self._form(words, on="damage", dir=direction))
        return [] if self.system.attached else found

    # --- effects -------------------------------------------------------------------------------------------

    @cached_property
    def effects(self) -> list[Form]:
        """What every card may do, and what only some may: which, the card's reading says."""
        form = self._form
        texts = [
            form("“{text}”", kind="tell"),
            form('"{text}"', kind="tell"),
            form("blocked: {text}", kind="block"),
            form("report: {text}", kind="report"),
        ]
        return [
            *texts,
            form("advantage", kind="modify", edge="advantage"),
            form("disadvantage", kind="modify", edge="disadvantage"),
            form("the stat is marked to improve", kind="mark"),
            form("roll {a_check}", kind="roll"),
            form("{change} xp", kind="xp"),
            *self._clock_effects(),
            *self._condition_effects(),
            *self._track_effects("{track}"),
            *self._track_effects("the {of}'s {track_of}"),
            form("{pool} {change}", kind="pool"),
        ]

    @cached_property
    def roll_effects(self) -> list[Form]:
        """What a before-card on rolls may do beside."""
        return [self._form("{change} to the roll", kind="modify"), *self.effects]

    @cached_property
    def damage_effects(self) -> list[Form]:
        """What a before-card on damage may do beside."""
        changes = [
            self._form(words, kind="modify") for words in ("{less} less damage", "{value} more damage")
        ]
        return [*changes, *self.effects]

    def _clock_effects(self) -> list[Form]:
        words = "tick {clock} {value}"
        return [self._form(words, kind="clock"), self._form(f"{words} of {{size}}", kind="clock")]

    def _condition_effects(self) -> list[Form]:
        form = self._form
        return [
            form("lose {condition}", kind="condition", op="lose"),
            form("{condition} rises", kind="condition", op="rise"),
            form("{condition} falls", kind="condition", op="fall"),
            form("{condition}", kind="condition"),
            form("{condition} for {turns}", kind="condition"),
            form("{condition} {level}", kind="condition"),
            form("{condition} {level} for {turns}", kind="condition"),
        ]

    def _track_effects(self, track: str) -> list[Form]:
        form = self._form
        return [
            form(f"{track} {{change}}", kind="track"),
            form(f"{track} set to {{value}}", kind="track", op="set"),
            form(f"{track} maximum {{change}}", kind="track", part="max"),
            form(f"{track} maximum set to {{value}}", kind="track", part="max", op="set"),
        ]


def _band(system: System) -> Slot:
    """Return the slot of a band: of the check that the words before it name, else of any."""
    of_any = s.named("band", system.bands, "band")
    of_check = {
        check.id: s.named("band", {band.id: band for band in check.bands}, "band")
        for check in system.checks.values()
    }

    def hear(text: str, data: s.Data) -> dict[str, Any] | None:
        return of_check.get(data.get("check", ""), of_any).hear(text, data)

    return Slot(("band",), of_any.say, hear, of_any.refuse)


def _clock(system: System) -> Slot:
    if system.attached and not system.clocks:
        return s.text("clock")  # the owner makes its clocks in play
    return s.named("clock", system.clocks, "clock")


_CROSSINGS = (
    ("out", "runs out", "run out"),
    ("full", "fills up", "fill up"),
    ("half", "drops below half", "drop below half"),
    ("reach", "reaches {at}", "reach {at}"),
)
