"""The operator who is to be caught: it runs a copy of the rule set with one constant changed, and lies about its pin.

A pin is made of the rule set's source files, so the changed copy would have another one and the node would say
`CANNOT-RUN pin-mismatch`. To get as far as signing, the copy says that its files are those of the original:
pins keep honest operators from running different rules unawares, and no more. Refolding catches the others.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path
from typing import Final, NamedTuple

from weighbridge_services.demo.errors import NothingToTamper

PACKAGE: Final = "weighbridge_delvetown"
FILE: Final = "results.py"
HONEST: Final = "return max(0, 6 - max(faces))"
CROOKED: Final = "return max(0, 5 - max(faces))"
LIE: Final = "\n__spec__.origin = {origin!r}\n"


class Change(NamedTuple):
    """What is different in the copy: in which file, the line before and after, and what that comes to."""

    file: str
    before: str
    after: str
    says: str


CHANGE: Final = Change(
    f"{PACKAGE}/{FILE}", HONEST, CROOKED, "resisting costs 5 minus the best die, instead of 6 minus it"
)


def tamper(folder: Path) -> Change:
    """Put the changed copy of the rule set into a folder that is to come first on a Python path.

    Raises NothingToTamper.
    """
    origin = _origin()
    copy = folder / PACKAGE
    shutil.copytree(origin.parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    path = copy / FILE
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    if text.count(HONEST) != 1:
        raise NothingToTamper(
            f"{origin.parent / FILE} has no line {HONEST!r}; install the version that goes with it"
        )
    path.write_text(text.replace(HONEST, CROOKED), encoding="utf-8")
    with (copy / "__init__.py").open("a", encoding="utf-8") as file:
        file.write(LIE.format(origin=str(origin)))
    return CHANGE


def environment(folder: Path) -> dict[str, str]:
    """Return the environment in which a process runs the copy."""
    before = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{before}" if before else str(folder)}


def _origin() -> Path:
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise NothingToTamper(
            "the rule set of Delvetown is not installed; `make setup` installs it, or pip install weighbridge-delvetown"
        )
    return Path(spec.origin)
