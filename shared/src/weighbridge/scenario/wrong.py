"""What is wrong with a scenario file, and where."""

from __future__ import annotations

from typing import ClassVar, NoReturn

from weighbridge.errors import Refused


class ScenarioWrong(Refused):
    """The scenario file itself is wrong: `detail["path"]` says where, as `$.steps[3].at`."""

    code: ClassVar[str] = "scenario-wrong"


def wrong(path: str, says: str) -> NoReturn:
    """Refuse a file for what stands at `path`."""
    raise ScenarioWrong(f"{path} {says}", path=path)
