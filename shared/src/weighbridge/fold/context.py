"""What a rule set may say and ask while one of its hooks runs: `weighbridge.contract.Context`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from weighbridge.cid import Cid
from weighbridge.codec import cid_of
from weighbridge.contract import Dice, Docket, Event, Opened, Question
from weighbridge.dice import Given, Stream, sealed_randomness
from weighbridge.fold import sealing
from weighbridge.fold.breach import RuleBreach
from weighbridge.fold.records import CODES, Mark, Pending, place_of
from weighbridge.fold.world import World

MAX_EVENTS = 1_000
"""Events within one hook, attachments' included."""


class HookContext:
    """The context of one call of one hook."""

    def __init__(
        self, world: World, hook: str, at: int, day: int, docket: Docket | None, pending: Pending | None
    ) -> None:
        self._world = world
        self._hook = hook
        self._docket = docket
        self._pending = pending
        self._dice: dict[str, Dice] = {}
        self._events: list[Event] = []
        self._step = 1
        self.at = at
        self.day = day

    @property
    def game(self) -> str:
        """The at-uri of the game's root."""
        return self._world.game

    @property
    def uri(self) -> str:
        """The at-uri of the record being judged; of the game's root at a day's end or a due time."""
        return self._world.game if self._docket is None else self._docket.uri

    # --- dice ----------------------------------------------------------------------------------------------

    def dice(self, purpose: str, opened: Opened | None = None) -> Dice:
        """Return the dice of this record for a purpose it named in its needs."""
        pending, docket = self._pending, self._docket
        if pending is None or docket is None or not names(pending.dice, purpose):
            raise RuleBreach(f"{self._hook} draws dice for {purpose!a}, which the record's needs do not name")
        if purpose not in self._dice:
            self._dice[purpose] = self._draw(purpose, pending, docket, opened)
        return self._dice[purpose]

    def _draw(self, purpose: str, pending: Pending, docket: Docket, opened: Opened | None) -> Dice:
        if self._world.dice is not None:
            return self._world.dice
        if pending.values is not None:
            given = self._dice.setdefault("", Given(pending.values))
            return given
        if pending.beacon is None:
            raise RuleBreach(f"{self._hook} draws dice for {purpose!a}, whose beacon is not in the log")
        randomness = sealed_randomness(pending.beacon, opened) if opened else pending.beacon
        return Stream(randomness, self.game, docket.uri, docket.cid, purpose)

    # --- seals ---------------------------------------------------------------------------------------------

    def seal(
        self, slot: Sequence[str], opens_from: int | None = None, opens_until: int | None = None
    ) -> bool:
        """Take this record's `seal` as its author's commitment for a slot."""
        return sealing.commit(self._world, self._need_docket(), slot, opens_from, opens_until)

    def unseal(self, opens: str, salt: str, value: Any) -> Opened | None:
        """Open the seal of the record `opens` by this record."""
        return sealing.reveal(self._world, self._need_docket(), self.at, opens, salt, value)

    def opened(self, uri: str) -> Opened | None:
        """Return what the sealed record `uri` was opened to, if it was."""
        return sealing.opened(self._world, uri)

    def _need_docket(self) -> Docket:
        if self._docket is None:
            raise RuleBreach(f"{self._hook} is not about one record")
        return self._docket

    # --- reports -------------------------------------------------------------------------------------------

    def report(self, code: str, about: str, sentence: str) -> None:
        """Report `code` on the record `about`."""
        self._check_code(code)
        self._world.report(code, about, sentence)

    def withdraw(self, code: str, about: str) -> None:
        """Take a report back, if it stands."""
        self._check_code(code)
        self._world.withdraw(code, about)

    def _check_code(self, code: str) -> None:
        world = self._world
        declared = (world.ruleset.codes, *(each.codes for each in world.attachments.values()))
        if code not in CODES and not any(code in codes for codes in declared):
            raise RuleBreach(
                f"{self._hook} reports {code!a}, which the rule set does not declare among its codes"
            )

    # --- questions -----------------------------------------------------------------------------------------

    def ask(
        self,
        kind: str,
        about: str,
        words: str,
        options: Sequence[str] = (),
        default: str | None = None,
        due: int | None = None,
        to: str = "gm",
    ) -> str:
        """Open a question and return its id: a digest of game, subject, kind and options."""
        place_of(about)
        identity = cid_of(["weighbridge/question/v1", self.game, about, kind, list(options)])
        number = str(identity)[-26:]
        key = f"_/question/{number}"
        if key not in self._world.cells:
            question = Question(number, kind, about, words, tuple(options), to, self._world.seq, default, due)
            self._world.cells.set(key, {k: v for k, v in _fields(question).items() if v is not None})
            index = f"_/asked/{place_of(about)}"
            self._world.cells.set(index, {**self._world.cells.value(index, {}), number: kind})
        return number

    def question(self, kind: str, about: str) -> Question | None:
        """Return the oldest open question of that kind about a record, if any."""
        found = self._open(kind, about)
        return min(found, key=lambda q: (q.asked, q.id)) if found else None

    def close(self, kind: str, about: str) -> bool:
        """Close the open questions of that kind about a record; whether there were any."""
        cells, index = self._world.cells, f"_/asked/{place_of(about)}"
        asked = cells.value(index, {})
        found = [number for number in sorted(asked) if asked[number] == kind]
        for number in found:
            cells.drop(f"_/question/{number}")
            del asked[number]
        if asked:
            cells.set(index, asked)
        else:
            cells.drop(index)
        return bool(found)

    def _open(self, kind: str, about: str) -> list[Question]:
        cells = self._world.cells
        asked = cells.value(f"_/asked/{place_of(about)}", {})
        read = (
            cells.read(f"_/question/{number}", Question) for number in sorted(asked) if asked[number] == kind
        )
        return [question for question in read if question is not None]

    # --- marks and events ----------------------------------------------------------------------------------

    def emit(self, event: Event) -> None:
        """Hand an event to the attachments."""
        if event.name not in event_names(self._world.ruleset.vocabulary()):
            raise RuleBreach(f"{self._hook} emits {event.name!a}, which is not in the rule set's vocabulary")
        self._events.append(Event(event.name, event.about, event.fields, self._step))

    def uphold(self, uri: str) -> None:
        """Uphold a record that was refused."""
        self._want(uri, Mark(uri, upheld=True))

    def replace(self, uri: str) -> None:
        """Void an earlier record of the same author that this one replaces."""
        docket = self._need_docket()
        earlier = self._world.first_docket(uri, docket.seq)
        if earlier is None or earlier.author != docket.author:
            raise RuleBreach(f"{self._hook} replaces a record that is not an earlier one of the same author")
        if not self._world.is_void(uri):
            self._want(uri, Mark(uri, void=docket.uri))

    def _want(self, uri: str, mark: Mark) -> None:
        if self._world.live:
            self._world.wanted[uri] = mark

    def settle_events(self) -> None:
        """Carry the events to the attachments and their effects back, until nothing more is raised."""
        carried = 0
        while self._events:
            event = self._events.pop(0)
            carried += 1
            if carried > MAX_EVENTS:
                raise RuleBreach(f"more than {MAX_EVENTS} events in {self._hook}")
            self._step = event.step + 1
            for settings, record in attached(self._world):
                attachment = self._world.attachments[settings["name"]]
                for effect in attachment.handle(self._world.table, event, settings, record, self):
                    self._world.ruleset.effect(self._world.table, effect, self)


def names(purposes: Sequence[str], purpose: str) -> bool:
    """Whether a record's needs name a purpose: itself, or all that begin as it does (`card:*`)."""
    return purpose in purposes or any(
        each.endswith(":*") and purpose.startswith(each[:-1]) for each in purposes
    )


def event_names(vocabulary: Mapping[str, Any]) -> list[str]:
    """Return the names of a vocabulary's events: a list of {id, …}, or a map by name."""
    events = vocabulary.get("events", ())
    return list(events) if isinstance(events, Mapping) else [each["id"] for each in events]


def attached(world: World) -> list[tuple[Mapping[str, Any], Any]]:
    """Return the settings of what is attached to the game now, each with what it has prepared for them.

    Prepared once for a root in force: a rewind reads its root anew, and so prepares anew.
    What a root attaches for the first time hears nothing of its own entry: the next transcript begins behind that.
    """
    held = world.root_at(world.seq)
    if held is None:
        return []
    if world.prepared is None or world.prepared[0] is not held[0]:
        vocabulary = world.ruleset.vocabulary() if held[0].fold.attached else {}
        world.prepared = (
            held[0],
            [
                (s, world.attachments[s["name"]].prepare(s, vocabulary, attached_record(world, s)))
                for s in held[0].fold.attached
                if s["name"] in world.attachments
            ],
        )
    return world.prepared[1]


def attached_record(world: World, settings: Mapping[str, Any]) -> Any:
    """Return the record that an attachment's settings name by CID, if it is in the log."""
    named = settings.get("cards")
    place = world.cells.value(f"_/attached/{named}") if isinstance(named, str | Cid) else None
    return None if place is None else world.value_of(world.history.listed(place))


def _fields(question: Question) -> dict[str, Any]:
    return {name: getattr(question, name) for name in question.__struct_fields__}


def call(
    world: World,
    hook: str,
    about: str,
    moment: tuple[int, int],
    run: Callable[[HookContext], Any],
    docket: Docket | None = None,
    pending: Pending | None = None,
    default: Any = None,
) -> Any:
    """Run one hook in a context of its own, with the events it emits, as one step that a fault undoes whole.

    `moment` is the time (µs) and the game day that the hook sees.
    """
    context = HookContext(world, hook, moment[0], moment[1], docket, pending)

    def whole() -> Any:
        answer = run(context)
        context.settle_events()
        return answer

    return world.guard(hook, about, whole, default)
