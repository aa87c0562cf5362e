"""The pin of a rule set: one CID over everything that decides what it does.

It is the CID of the DAG-CBOR of {`files`: path to SHA-256 of each source file of the import package,
`contract`: the version of the contract, `attachments`: name to pin of what is attached, `third_party`: name
to SHA-256 of each module beyond the contract that it may import}. A wheel, an sdist and an editable install
of one source have one pin: paths are relative to the package, and only files that a package is made of
count, not what an interpreter or an editor leaves beside them.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from hashlib import sha256
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Final, NamedTuple

from weighbridge.cid import Cid
from weighbridge.codec import encode
from weighbridge.contract import CONTRACT_VERSION, Attachment, RuleSet
from weighbridge.plugins.errors import PluginUnpinnable

SOURCE: Final = frozenset({".py", ".json", ".txt", ".toml", ".csv"})
"""What a rule set's package may be made of: code, and data the code reads."""

NATIVE: Final = frozenset({".so", ".pyd", ".dll", ".dylib", ".pyc"})
"""What Python would run and no source shows."""


class Manifest(NamedTuple):
    """What a rule set or an attachment consists of: source files by path and third-party modules by name."""

    files: dict[str, bytes]
    third_party: dict[str, bytes]

    def pin(self, attachments: Mapping[str, Cid] | None = None) -> Cid:
        """Return the pin, `attachments` being the pins of what is attached, by name."""
        fields = {
            "files": self.files,
            "contract": CONTRACT_VERSION,
            "attachments": dict(attachments or {}),
            "third_party": self.third_party,
        }
        return Cid.of(encode(fields))


def pin(plugin: RuleSet | Attachment, attachments: Mapping[str, Cid] | None = None) -> Cid:
    """Return the pin of a rule set or an attachment; `attachments` are the pins of what is attached, by name.

    Reads the files of the plugin's top-level package. Errors: `PluginUnpinnable`.
    """
    return manifest(plugin).pin(attachments)


def manifest(plugin: RuleSet | Attachment) -> Manifest:
    """Return what a rule set or an attachment consists of. Errors: `PluginUnpinnable`."""
    third_party = {name: module_digest(name) for name in plugin.third_party}
    return Manifest(source_files(package_of(plugin)), third_party)


def package_of(plugin: object) -> str:
    """Return the name of the top-level package in which a plugin is defined."""
    return type(plugin).__module__.partition(".")[0]


def source_files(package: str) -> dict[str, bytes]:
    """Return the SHA-256 of every source file of an import package, by its path in the package.

    `PluginUnpinnable` if there is native code among them: what it does no pin can say on every machine.
    """
    files = _files(package)
    native = sorted(path for path in files if Path(path).suffix in NATIVE)
    if native:
        raise PluginUnpinnable(
            f"{package} holds {native[0]}, which is not source; a rule set consists of source files alone",
            package=package,
            path=native[0],
        )
    return {path: _digest(file) for path, file in files.items() if file.suffix in SOURCE}


def module_digest(name: str) -> bytes:
    """Return the SHA-256 over all files of a third-party module: of the DAG-CBOR of path to SHA-256.

    Native code counts, so that a module that has some pins the platform as well.
    """
    kept = SOURCE | NATIVE
    return sha256(
        encode({path: _digest(file) for path, file in _files(name).items() if file.suffix in kept})
    ).digest()


def _files(package: str) -> dict[str, Path]:
    """Return all files of a package or a module by their path in it, in sorted order."""
    spec = _spec(package)
    if spec.submodule_search_locations is None:
        file = Path(str(spec.origin))
        return {file.name: _existing(file, package)}
    root = _existing(Path(str(spec.origin)), package).parent
    found = {
        file.relative_to(root).as_posix(): file
        for file in root.rglob("*")
        if file.is_file() and not _is_left_behind(file.relative_to(root))
    }
    return dict(sorted(found.items()))


def _spec(package: str) -> ModuleSpec:
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError) as error:
        raise PluginUnpinnable(f"{package} cannot be found: {error}; install it", package=package) from error
    if spec is None:
        raise PluginUnpinnable(f"{package} cannot be found; install it", package=package)
    if not spec.has_location:
        says = "a namespace without files of its own, or part of the interpreter"
        raise PluginUnpinnable(f"{package} is {says}; name a package with an __init__.py", package=package)
    return spec


def _existing(file: Path, package: str) -> Path:
    if not file.is_file():
        says = "not in a file of its own (a zip?); install it unpacked"
        raise PluginUnpinnable(f"{package} is {says}", package=package, path=str(file))
    return file


def _is_left_behind(path: Path) -> bool:
    return any(part == "__pycache__" or part.startswith(".") for part in path.parts)


def _digest(file: Path) -> bytes:
    try:
        return sha256(file.read_bytes()).digest()
    except OSError as error:
        raise PluginUnpinnable(f"{file} cannot be read: {error.strerror}", path=str(file)) from error
