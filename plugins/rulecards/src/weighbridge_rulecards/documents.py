"""The Lexicons of the collections. `lexicons/*.json` hold the same; a test keeps the two equal."""

from __future__ import annotations

from typing import Any

from weighbridge_rulecards.names import EDGES, MOVE, ROOT, SET, SHEET

Json = dict[str, Any]


def _text(description: str, most: int = 3000) -> Json:
    return {"type": "string", "maxLength": most, "description": description}


def _word(description: str, *options: str) -> Json:
    return {"type": "string", "enum": list(options), "description": description}


def _did(description: str) -> Json:
    return {"type": "string", "format": "did", "maxLength": 512, "description": description}


def _uri(description: str) -> Json:
    return {"type": "string", "format": "at-uri", "description": description}


def _whole(description: str) -> Json:
    return {"type": "integer", "description": description}


def _map(description: str) -> Json:
    return {"type": "unknown", "description": description}


def _list(items: Json, description: str) -> Json:
    return {"type": "array", "items": items, "maxLength": 1000, "description": description}


GAME = _uri("The game: the at-uri of its root.")
MADE = _text("When the author says this was made. Ignored.", 100)
FOR = _did("Whose character, where the GM makes the move.")
CHECK = _text("The id of the check.", 64)
STAT = _text("The id of the stat.", 64)
TARGET = _whole("What the total is held against.")
EDGE = _word("The storyteller's own edge.", *EDGES)

Kind = tuple[str, list[str], Json]
KINDS: dict[str, Kind] = {
    "act": (
        "A roll: a check, or the answer to a call.",
        [],
        {
            "check": CHECK,
            "stat": STAT,
            "call": _uri("The call that this answers."),
            "spend": _text("The id of a track that buys advantage.", 64),
            "target": TARGET,
            "edge": EDGE,
            "for": FOR,
        },
    ),
    "turn": ("A turn of one's character.", [], {"for": FOR}),
    "rest": ("A rest of one's character.", [], {"for": FOR}),
    "enter": ("Comes to a place.", ["place"], {"place": _text("The id of the place.", 64), "for": FOR}),
    "improve": ("Rolls to improve a marked stat.", ["stat"], {"stat": STAT, "for": FOR}),
    "call": (
        "Of the GM: asks a player for a check.",
        ["check"],
        {"check": CHECK, "stat": STAT, "target": TARGET, "edge": EDGE, "for": FOR},
    ),
    "meet": (
        "Of the GM: meets a person.",
        ["person"],
        {"person": _text("The id of the person.", 64), "for": FOR},
    ),
    "item": (
        "Of the GM: an item is gained or lost.",
        ["item", "is"],
        {"item": _text("The id of the item.", 64), "is": _word("Which.", "gain", "lose"), "for": FOR},
    ),
    "foe": ("Of the GM: puts a foe on the stage.", ["foe"], {"foe": _text("The id of the foe.", 64)}),
    "blow": (
        "Of the GM: one blow or several.",
        ["to"],
        {
            "to": _text("Whom it hits: a DID, or the at-uri of a foe on the stage."),
            "from": _text("Whose it is, in the same way."),
            "amounts": _list(_whole("The amount of a blow."), "The amounts, one blow each."),
            "dice": _map("One blow by dice: n, sides and perhaps add."),
        },
    ),
    "fight": (
        "Of the GM: a fight starts or ends.",
        ["is"],
        {
            "is": _word("Which.", "start", "end"),
            "who": _list(_did("A fighter."), "Who is in it, at its start."),
        },
    ),
    "quest": (
        "Of the GM: the quest log moves.",
        ["quest", "is"],
        {
            "quest": {**_text("The quest: a-z, 0-9 and -.", 32), "minLength": 1},
            "is": _word("Which.", "step", "finish"),
            "for": FOR,
        },
    ),
    "grant": (
        "Of the GM: what the story does.",
        ["then"],
        {
            "then": _list(_map("An effect."), "Effects of kind track, condition, clock, xp or pool."),
            "for": FOR,
        },
    ),
    "scene": (
        "Of the GM: a scene that was played.",
        ["text"],
        {"text": _text("The scene.", 60_000), "for": FOR},
    ),
    "rule": (
        "Of the GM: the answer to a story card's question.",
        ["subject", "what", "answer"],
        {
            "subject": _uri("The scene."),
            "what": _text("The id of the card.", 64),
            "answer": _text("One of the question's options.", 64),
            "why": _text("Why."),
        },
    ),
    "strike": (
        "Of the GM: strikes a move.",
        ["subject", "why"],
        {"subject": _uri("The move."), "why": _text("Why.")},
    ),
}
"""Of each kind of move: what it is, the fields it must have, and all its fields."""

GM_KINDS = tuple(kind for kind, (says, _, _) in KINDS.items() if says.startswith("Of the GM"))


def _record(nsid: str, description: str, required: list[str], properties: Json, **defs: Json) -> Json:
    record = {"type": "object", "required": required, "properties": properties}
    main = {"type": "record", "key": "any", "description": description, "record": record}
    return {"lexicon": 1, "id": nsid, "defs": {"main": main, **defs}}


def _move() -> Json:
    every: dict[str, Json] = {"kind": _word("The kind of the move.", *KINDS), "game": GAME, "createdAt": MADE}
    defs: dict[str, Json] = {}
    for kind, (says, required, properties) in KINDS.items():
        for name, schema in properties.items():
            # A field of one name may be of several types: the kind's own definition says which.
            if {**every.setdefault(name, schema), "description": ""} != {**schema, "description": ""}:
                every[name] = _map("As the kind says.")
        own = {"kind": {"type": "string", "const": kind}, "game": GAME, "createdAt": MADE, **properties}
        fields = ["kind", "game", *required]
        defs[kind] = {"type": "object", "description": says, "required": fields, "properties": own}
    says = "A move: anything that happens in the game. Its kind says which."
    return _record(MOVE, says, ["kind", "game"], every, **defs)


ROOT_DOCUMENT = _record(
    ROOT,
    "The root of a game of rule cards. Its at-uri is the game's name.",
    ["gm"],
    {
        "gm": _did("The GM."),
        "rules": _map("The system and the cards."),
        "beacon": _map("Of the kernel: the chain of beacons and the margin in seconds."),
        "lister": _did("Of the kernel: the operator who writes the log."),
        "policy": _map("Of the kernel: who cosigns."),
        "witnesses": _map("Of the kernel: whose trace reports settle."),
        "fold": _map("Of the kernel: the rule set's name, pin and attachments."),
        "voidDays": _whole("Of the kernel: game days within which a record can be voided."),
        "floods": _map("Of the kernel: records a day of one author, and of authors without standing."),
        "succeeds": _uri("Of the kernel: the root this one follows."),
        "createdAt": MADE,
    },
)
SHEET_DOCUMENT = _record(
    SHEET,
    "A player's character, one an account. The first well-formed version is pinned.",
    ["game", "name"],
    {
        "game": GAME,
        "name": {**_text("The character's name.", 300), "minLength": 1},
        "stats": _map("Stats by id, each a whole number."),
        "tracks": _map("Tracks by id, each a value, a maximum or both."),
        "createdAt": MADE,
    },
)
SET_DOCUMENT = _record(
    SET,
    "Cards for a game that another rule set owns. Its root names this record by CID.",
    ["game", "cards"],
    {"game": GAME, "cards": _list(_map("A card."), "The cards."), "createdAt": MADE},
)
MOVE_DOCUMENT = _move()
COLLECTIONS: dict[str, Json] = {
    ROOT: ROOT_DOCUMENT, SHEET: SHEET_DOCUMENT, MOVE: MOVE_DOCUMENT, SET: SET_DOCUMENT,
}  # fmt: skip
