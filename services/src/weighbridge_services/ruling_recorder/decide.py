"""What stands in the GM's queue, and whether a ruling has the form of an answer to it.

Pure. Nothing is decided here: a ruling that the desk does not take may be handed in elsewhere, and what one does
the fold says. The desk spares the GM a ruling that would do nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.contract import Question, RuleSet
from weighbridge.errors import Refused
from weighbridge.fold.records import KERNEL_COLLECTIONS, collection_of
from weighbridge.identity import Envelope, encode_envelope, open_envelope
from weighbridge.identity.envelope_errors import OtherGame
from weighbridge.log.entries import Listed, make_entry

from weighbridge_services.following import Rules, docket_of, rules_after
from weighbridge_services.ruling_recorder.errors import (
    AlreadyAnswered,
    NoRulesYet,
    NoRuling,
    NoSuchAnswer,
    NoSuchQuestion,
    NotAddressed,
    NotThatAnswer,
    QuestionClosed,
)

State = Literal["open", "answered", "closed"]


class Item(msgspec.Struct, frozen=True, omit_defaults=True):
    """A question in the queue. `state`: open; answered, by a ruling on its way; closed, by the table.

    `ruling`: the CID (of the envelope) and `by` the at-uri of the ruling that the desk took; `listed`: its entry.
    """

    id: str
    kind: str
    about: str
    words: str
    to: str
    asked: int
    options: tuple[str, ...] = ()
    default: str | None = None
    due: int | None = None
    state: State = "open"
    ruling: str | None = None
    by: str | None = None
    listed: int | None = None

    def question(self) -> Question:
        """Return the question as a rule set sees it."""
        return Question(
            self.id,
            self.kind,
            self.about,
            self.words,
            self.options,
            self.to,
            self.asked,
            self.default,
            self.due,
        )


class Asked(msgspec.Struct, frozen=True, omit_defaults=True):
    """`rpc.rule`: a signed ruling (an envelope's bytes), and, where it answers a question, which one and how."""

    envelope: bytes
    question: str | None = None
    answer: str | None = None
    why: str | None = None


class Taken(msgspec.Struct, frozen=True):
    """A ruling that is taken: its envelope, the CID of its bytes, and the question as it stands then."""

    envelope: Envelope
    cid: Cid
    item: Item | None


# --- the queue ---------------------------------------------------------------------------------------------


def item_in(data: bytes, game: str) -> Item | None:
    """Return the question that a message holds, or None where it holds none of this game."""
    try:
        value: Any = codec.decode(data)
        if not isinstance(value, dict) or value.get("game") != game:
            return None
        known = {name: value[name] for name in Item.__struct_fields__[:9] if value.get(name) is not None}
        return msgspec.convert(known, Item)
    except (Refused, msgspec.ValidationError):
        return None


def merged(items: Mapping[str, Item], open_now: Iterable[Item], size: int) -> dict[str, Item]:
    """Return the queue as the table has it after `size` entries.

    A question that the table does not hold is closed; one that it holds is open, unless a ruling of ours is not
    folded yet. A question that is asked anew has the id of before: it opens again.
    """
    found = dict(items)
    standing = {each.id: each for each in open_now}
    for id, item in items.items():
        if id not in standing and item.state != "closed" and item.asked < size:
            found[id] = msgspec.structs.replace(item, state="closed")
    for id, item in standing.items():
        before = items.get(id)
        if before is None or before.state == "closed" or _took_nothing(before, size):
            found[id] = item
    return found


def _took_nothing(item: Item, size: int) -> bool:
    """Whether the ruling that the desk took was folded, and the question still stands."""
    return item.state == "answered" and item.listed is not None and item.listed < size


def see(
    ruleset: RuleSet, rules: Rules, items: Mapping[str, Item], entries: Iterable[Listed]
) -> tuple[Rules, dict[str, Item]]:
    """Return the rules in force and the queue after some more entries of the log."""
    found = dict(items)
    awaited = {item.by: id for id, item in items.items() if item.by is not None and item.listed is None}
    for listed in entries:
        entry = listed.entry
        if entry.uri == entry.game and listed.record is not None:
            rules = rules_after(rules, ruleset, codec.decode_own(listed.record))
        if entry.uri in awaited:
            id = awaited[entry.uri]
            found[id] = msgspec.structs.replace(found[id], listed=entry.seq)
    return rules, found


def queue(items: Iterable[Item], states: Iterable[State]) -> list[Item]:
    """Return the questions in some states: what falls due first, then the oldest."""
    wanted = frozenset(states)
    found = [each for each in items if each.state in wanted]
    return sorted(found, key=lambda each: (each.due is None, each.due or 0, each.asked, each.id))


# --- rulings -----------------------------------------------------------------------------------------------


def take(ruleset: RuleSet, rules: Rules, items: Mapping[str, Item], game: str, asked: Asked) -> Taken:
    """Take a ruling, or raise why it is none: Refused, with a code. The same one again is taken again."""
    envelope = open_envelope(asked.envelope)
    if envelope.game != game:
        raise OtherGame(f"{envelope.uri} is of the game {envelope.game}, and this desk is of {game}")
    if rules.root is None:
        raise NoRulesYet(f"the log of {game} has no root yet that names a GM")
    cid = Cid.of(encode_envelope(envelope))
    if asked.question is None:
        return Taken(_checked_ruling(ruleset, rules, envelope), cid, None)
    item = items.get(asked.question)
    if item is None:
        raise NoSuchQuestion(f"no question of {game} has the id {asked.question}; see `weighbridge desk`")
    if item.ruling == str(cid):
        return Taken(envelope, cid, item)
    _check_open(item)
    _check_signer(rules, item, envelope)
    _check_answer(ruleset, item, envelope, asked)
    answered = msgspec.structs.replace(item, state="answered", ruling=str(cid), by=envelope.uri, listed=None)
    return Taken(envelope, cid, answered)


def _check_open(item: Item) -> None:
    if item.state == "answered":
        says = (
            "submit another ruling to replace it"
            if item.listed is not None
            else "it is on its way into the log"
        )
        raise AlreadyAnswered(f"{item.by} answers {item.id} already; {says}", ruling=item.ruling)
    if item.state == "closed":
        raise QuestionClosed(f"the table holds {item.id} no more: it was answered, or its default applied")


def _check_signer(rules: Rules, item: Item, envelope: Envelope) -> None:
    # Who holds a role that a rule set defines, the fold knows: what is put to one is left to it.
    wanted = rules.root.gm if item.to == "gm" and rules.root is not None else item.to
    if wanted.startswith("did:") and envelope.author != wanted:
        raise NotAddressed(f"{item.id} is put to {wanted}, and {envelope.uri} is signed by {envelope.author}")


def _check_answer(ruleset: RuleSet, item: Item, envelope: Envelope, asked: Asked) -> None:
    answer = asked.answer or ""
    made = _made(ruleset, item, answer, asked.why)
    if made is None:
        among = f": one of {', '.join(item.options)}" if item.options else ""
        raise NoSuchAnswer(f"{answer!r} is no answer to {item.id}{among}", options=list(item.options))
    collection, value = made
    if (envelope.collection, envelope.value) != (collection, {**value, "game": envelope.game}):
        raise NotThatAnswer(
            f"{envelope.uri} is not the record that answers {item.id} with {answer!r}; `weighbridge rule` makes it"
        )


def _made(ruleset: RuleSet, item: Item, answer: str, why: str | None) -> tuple[str, dict[str, Any]] | None:
    try:
        return ruleset.answer(item.question(), answer, why)
    except Exception:  # a rule set that fails on an answer knows no record for it
        return None


def _checked_ruling(ruleset: RuleSet, rules: Rules, envelope: Envelope) -> Envelope:
    """Return a ruling that answers no question (a strike, a release), if it has the form of one. Raises Refused."""
    if rules.root is not None and envelope.author != rules.root.gm:
        raise NotAddressed(
            f"rulings are the GM's, {rules.root.gm}; {envelope.uri} is signed by {envelope.author}"
        )
    if not _rules_on_something(ruleset, rules, envelope):
        raise NoRuling(
            f"{envelope.uri} rules on nothing, or does not fit its type; hand it in if it is another move"
        )
    return envelope


def _rules_on_something(ruleset: RuleSet, rules: Rules, envelope: Envelope) -> bool:
    if envelope.collection in KERNEL_COLLECTIONS or collection_of(envelope.uri) not in ruleset.collections:
        return False
    listed = make_entry(
        None,
        game=envelope.game,
        at=0,
        op="create",
        uri=envelope.uri,
        author=envelope.author,
        record=envelope.record,
    )
    docket = docket_of(rules, ruleset, listed, envelope.value)
    try:
        return (
            docket is not None
            and not ruleset.shape(docket.collection, docket.value).problems
            and ruleset.ruling(docket, rules.options) is not None
        )
    except Exception:  # a rule set that fails on a record does not know it as a ruling
        return False
