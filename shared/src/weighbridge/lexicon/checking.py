"""`check`: everything that is wrong with a value, at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weighbridge.contract import Shape
from weighbridge.lexicon.documents import Lexicon, load
from weighbridge.lexicon.leaves import Check, Findings
from weighbridge.lexicon.resolving import Compiler, LexiconUnresolved

_FITS = Shape()
_KEPT = 512

# By identity, for speed: a rule set's Lexicons are constants. The document is kept: its id stays taken.
_compiled: dict[tuple[int, str], tuple[object, Check]] = {}


def check(lexicon: Lexicon | Mapping[str, Any], value: object, definition: str = "main") -> Shape:
    """Return how `value` (as the codec gives it) fits a definition of a Lexicon document.

    `problems` come in the order of the document, `unknown` fields in that of their names; both in full. A
    document given as JSON is read and compiled once; it must not change afterwards. What cannot be checked
    against raises `LexiconMalformed`, `LexiconUnsupported` or `LexiconUnresolved`.
    """
    known = _compiled.get((id(lexicon), definition))
    run = known[1] if known is not None else _compile(lexicon, definition)
    out = Findings()
    run(value, None, "$", out)
    if not out.problems and not out.unknown:
        return _FITS
    return Shape(tuple(out.problems), tuple(out.unknown))


def _compile(lexicon: Lexicon | Mapping[str, Any], definition: str) -> Check:
    document = lexicon if isinstance(lexicon, Lexicon) else load(lexicon)
    if definition not in document.defs:
        raise LexiconUnresolved(f"{document.id} defines no {definition!r}", nsid=document.id, name=definition)
    run = Compiler(document).named(document.id, definition)
    if len(_compiled) >= _KEPT:
        _compiled.clear()
    _compiled[id(lexicon), definition] = (lexicon, run)
    return run
