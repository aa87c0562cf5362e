"""What stands in the GM's queue, and what has the form of a ruling."""

from __future__ import annotations

from typing import Any

import coin
import msgspec
import pytest
from weighbridge.cid import Cid
from weighbridge.codec import encode
from weighbridge.contract import Question
from weighbridge.errors import Refused
from weighbridge.identity import Signer, decode_envelope, encode_envelope, sign_record
from weighbridge.log.entries import make_entry
from weighbridge_services.following import Rules, rules_after
from weighbridge_services.ruling_recorder.decide import Asked, Item, item_in, merged, queue, see, take

GM, ANN = Signer(b"g" * 32), Signer(b"a" * 32)
GAME = f"at://{GM.did}/example.coin.root/one"
FLIP = f"at://{ANN.did}/example.coin.flip/a"
RULES = rules_after(Rules(), coin.RULES, {"gm": GM.did})


def item(id: str = "q1", **fields: Any) -> Item:
    facts = {
        "kind": "mercy",
        "about": FLIP,
        "words": "Merciful?",
        "to": "gm",
        "asked": 5,
        "options": ("yes", "no"),
    }
    return Item(id, **{**facts, **fields})


def message(**fields: Any) -> bytes:
    facts = {"id": "q1", "game": GAME, "kind": "mercy", "about": FLIP, "words": "?", "to": "gm", "asked": 5}
    return encode({**facts, "options": ["yes", "no"], **fields})


def ruling(who: Signer = GM, rkey: str = "r1", collection: str = "example.coin.move", **value: Any) -> bytes:
    facts = {"game": GAME, "kind": "mercy", "subject": FLIP, "answer": "yes"}
    return encode_envelope(sign_record(who, GAME, collection, rkey, {**facts, **value}))


def asked(envelope: bytes | None = None, **fields: Any) -> Asked:
    facts = {"question": "q1", "answer": "yes", **fields}
    return Asked(ruling() if envelope is None else envelope, **facts)


# --- the queue ---------------------------------------------------------------------------------------------


def test_a_message_of_the_fold_is_a_question_of_the_queue() -> None:
    found = item_in(message(default="no", due=9), GAME)
    assert found == item(words="?", default="no", due=9)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\xff", id="no-cbor"),
        pytest.param(encode([1]), id="no-map"),
        pytest.param(message(game="at://other"), id="another-game"),
        pytest.param(message(asked="5"), id="another-form"),
    ],
)
def test_a_message_of_another_form_is_none(data: bytes) -> None:
    assert item_in(data, GAME) is None


def test_what_the_table_holds_is_open_and_what_it_does_not_is_closed() -> None:
    known = {"q1": item(), "q2": item("q2"), "q3": item("q3", state="closed"), "q4": item("q4", asked=70)}
    found = merged(known, [item("q2"), item("q3"), item("q5")], 10)
    assert {id: each.state for id, each in found.items()} == {
        "q1": "closed", "q2": "open", "q3": "open", "q4": "open", "q5": "open",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("listed", "size", "state"),
    [
        pytest.param(None, 99, "answered", id="on-its-way"),
        pytest.param(20, 20, "answered", id="listed-and-not-folded"),
        pytest.param(20, 21, "open", id="folded-and-it-took-nothing"),
    ],
)
def test_an_answered_question_that_still_stands_is_open_again_once_its_ruling_is_folded(
    listed: int | None, size: int, state: str
) -> None:
    known = {"q1": item(state="answered", ruling="c", by="at://x", listed=listed)}
    assert merged(known, [item()], size)["q1"].state == state
    assert merged(known, [], size)["q1"].state == "closed"


def test_the_log_says_who_is_the_gm_and_when_a_ruling_was_listed() -> None:
    by = f"at://{GM.did}/example.coin.move/r1"
    first = make_entry(
        None, game=GAME, at=1, op="create", uri=GAME, author=GM.did, record=encode({"gm": GM.did})
    )
    record = encode({"game": GAME})
    second = make_entry(first, game=GAME, at=2, op="create", uri=by, author=GM.did, record=record)
    rules, items = see(coin.RULES, Rules(), {"q1": item(state="answered", by=by)}, [first, second])
    assert rules.root is not None
    assert rules.root.gm == GM.did
    assert items["q1"].listed == 1


def test_what_falls_due_first_stands_first_and_then_what_is_oldest() -> None:
    items = [
        item("a", asked=9),
        item("b", asked=3),
        item("c", due=50),
        item("d", due=40),
        item("e", state="closed"),
    ]
    assert [each.id for each in queue(items, ["open"])] == ["d", "c", "b", "a"]


# --- rulings -----------------------------------------------------------------------------------------------


def test_the_gms_answer_is_taken_and_the_question_answered() -> None:
    taken = take(coin.RULES, RULES, {"q1": item()}, GAME, asked())
    assert taken.cid == Cid.of(ruling())
    assert taken.item is not None
    assert (taken.item.state, taken.item.ruling, taken.item.by) == (
        "answered",
        str(taken.cid),
        taken.envelope.uri,
    )


def test_the_same_ruling_again_is_taken_again() -> None:
    first = take(coin.RULES, RULES, {"q1": item()}, GAME, asked())
    assert first.item is not None
    again = take(coin.RULES, RULES, {"q1": first.item}, GAME, asked())
    assert again == first


@pytest.mark.parametrize("kind", ["strike", "release"])
def test_a_ruling_that_answers_no_question_is_taken(kind: str) -> None:
    envelope = ruling(kind=kind)
    taken = take(coin.RULES, RULES, {}, GAME, Asked(envelope))
    assert taken.item is None
    assert taken.cid == Cid.of(envelope)


UNSIGNED = encode_envelope(msgspec.structs.replace(decode_envelope(ruling()), sig=bytes(64)))
ANSWERED = item(state="answered", ruling="another", by="at://x")


@pytest.mark.parametrize(
    ("given", "known", "code"),
    [
        pytest.param(asked(ruling(ANN)), item(), "not-addressed", id="another-signer"),
        pytest.param(asked(), item(to=ANN.did), "not-addressed", id="put-to-somebody-else"),
        pytest.param(asked(question="q9"), item(), "no-such-question", id="another-question"),
        pytest.param(asked(), ANSWERED, "already-answered", id="answered"),
        pytest.param(asked(), item(state="closed"), "question-closed", id="closed"),
        pytest.param(asked(answer="maybe"), item(), "no-such-answer", id="no-option"),
        pytest.param(asked(answer=None), item(), "no-such-answer", id="no-answer"),
        pytest.param(asked(answer="no"), item(), "not-that-answer", id="another-answer"),
        pytest.param(asked(ruling(more=1)), item(), "not-that-answer", id="a-field-more"),
        pytest.param(
            asked(ruling(collection="example.coin.note")), item(), "not-that-answer", id="another-type"
        ),
        pytest.param(asked(b"\xa0"), item(), "bad-envelope", id="no-envelope"),
        pytest.param(
            asked(UNSIGNED),
            item(),
            "bad-signature",
            id="a-false-signature",
        ),
        pytest.param(Asked(ruling(ANN, kind="strike")), item(), "not-addressed", id="a-strike-by-a-player"),
        pytest.param(Asked(ruling(kind="uphold")), item(), "no-ruling", id="rules-on-nothing"),
        pytest.param(Asked(ruling(kind="dance")), item(), "no-ruling", id="does-not-fit-its-type"),
        pytest.param(
            Asked(ruling(collection="network.weighbridge.beacon")), item(), "no-ruling", id="a-kernel-record"
        ),
        pytest.param(
            Asked(ruling(collection="example.other.move")), item(), "no-ruling", id="a-type-nobody-knows"
        ),
    ],
)
def test_what_is_no_ruling_is_refused_with_a_code(given: Asked, known: Item, code: str) -> None:
    with pytest.raises(Refused) as refused:
        take(coin.RULES, RULES, {"q1": known}, GAME, given)
    assert refused.value.code == code


def test_a_ruling_of_another_game_is_refused() -> None:
    other = f"at://{GM.did}/example.coin.root/two"
    envelope = sign_record(
        GM, other, "example.coin.move", "r", {"game": other, "kind": "strike", "subject": FLIP}
    )
    with pytest.raises(Refused) as refused:
        take(coin.RULES, RULES, {}, GAME, Asked(encode_envelope(envelope)))
    assert refused.value.code == "other-game"


def test_without_a_root_nobody_is_the_gm() -> None:
    with pytest.raises(Refused) as refused:
        take(coin.RULES, Rules(), {"q1": item()}, GAME, asked())
    assert refused.value.code == "no-rules-yet"


class Fails(coin.Coin):
    def answer(self, question: Question, answer: str, why: str | None = None) -> Any:
        raise ZeroDivisionError

    def ruling(self, docket: Any, rules: Any) -> Any:
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("given", "code"), [(asked(), "no-such-answer"), (Asked(ruling(kind="strike")), "no-ruling")]
)
def test_a_rule_set_that_fails_costs_the_gm_an_answer_and_nobody_else_anything(
    given: Asked, code: str
) -> None:
    with pytest.raises(Refused) as refused:
        take(Fails(), RULES, {"q1": item()}, GAME, given)
    assert refused.value.code == code


def test_what_is_put_to_a_role_of_the_rule_set_is_left_to_the_fold() -> None:
    taken = take(coin.RULES, RULES, {"q1": item(to="seconds")}, GAME, asked(ruling(ANN)))
    assert taken.envelope.author == ANN.did
