"""AT Protocol Lexicon: strict about documents, complete about values.

`check` says everything that is wrong with a value, each with its path, and which fields nobody knows.
Documents are compiled to closures once. What needs Unicode tables (graphemes) is refused, never guessed: the
tables differ between Python versions, and with them the outcome of a game.

Source: the AT Protocol's Lexicon specification, held to its interop files.
"""

from __future__ import annotations

from weighbridge.lexicon.checking import check
from weighbridge.lexicon.documents import Lexicon, LexiconMalformed, load
from weighbridge.lexicon.resolving import LexiconUnresolved, LexiconUnsupported

__all__ = ["Lexicon", "LexiconMalformed", "LexiconUnresolved", "LexiconUnsupported", "check", "load"]
