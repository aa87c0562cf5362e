from __future__ import annotations

import importlib
import subprocess
import sys
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from weighbridge.cid import Cid
from weighbridge.codec import encode
from weighbridge.contract import CONTRACT_VERSION
from weighbridge.plugins import Plugins, PluginUnpinnable, pin

RULESETS = "weighbridge.rulesets"
Toy = Callable[..., Path]

FILES: dict[str, str | bytes] = {
    "sub/__init__.py": "",
    "sub/b.py": "B = 1\n",
    "lex/root.json": "{}",
    "a.py": "A = 1\n",
}


def pin_here(name: str = "coin") -> Cid:
    for module in [module for module in sys.modules if module.startswith("toy_")]:
        del sys.modules[module]
    importlib.invalidate_caches()
    return Plugins({RULESETS: [name]}).pin(name)


def test_a_pin_is_the_cid_of_what_the_rule_set_consists_of(toy: Toy) -> None:
    site = toy("coin", more=FILES)
    files = {
        path: sha256((site / "toy_coin" / path).read_bytes()).digest() for path in ("__init__.py", *FILES)
    }
    manifest = {"files": files, "contract": CONTRACT_VERSION, "attachments": {}, "third_party": {}}
    assert pin_here() == Cid.of(encode(manifest))


LEFT_BEHIND = {
    "__pycache__/a.cpython-311.pyc": b"\0",
    "sub/__pycache__/junk.json": "{}",
    ".hidden/x.py": "",
    ".a.py.swp": "",
    "a.py~": "",
    "py.typed": "",
    "README.md": "",
}


def test_what_is_left_beside_the_source_does_not_change_the_pin(toy: Toy) -> None:
    site = toy("coin", more=FILES)
    before = pin_here()
    for path, content in LEFT_BEHIND.items():
        (site / "toy_coin" / path).parent.mkdir(parents=True, exist_ok=True)
        (site / "toy_coin" / path).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert pin_here() == before


CHANGES: list[object] = [
    pytest.param(lambda package: (package / "a.py").write_text("A = 2\n"), id="a-file-changed"),
    pytest.param(lambda package: (package / "c.py").write_text(""), id="a-file-more"),
    pytest.param(lambda package: (package / "a.py").unlink(), id="a-file-less"),
    pytest.param(lambda package: (package / "a.py").rename(package / "b.py"), id="a-file-renamed"),
    pytest.param(lambda package: (package / "lex" / "root.json").write_text("{ }"), id="data-changed"),
    pytest.param(
        lambda package: (package / "lex" / "root.json").rename(package / "root.json"), id="data-moved"
    ),
]


@pytest.mark.parametrize("change", CHANGES)
def test_any_change_of_the_source_changes_the_pin(toy: Toy, change: Callable[[Path], object]) -> None:
    site = toy("coin", more=FILES)
    before = pin_here()
    change(site / "toy_coin")
    assert pin_here() != before


def test_attachments_and_the_contract_are_part_of_the_pin(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    toy("coin")
    plugins = Plugins({RULESETS: ["coin"]})
    plain, one, other = (plugins.pin("coin", {"cards": Cid.of(b"1")} if n else None) for n in (0, 1, 1))
    assert plain != one == other
    assert pin(plugins.ruleset("coin"), {"cards": Cid.of(b"2")}) not in (plain, one)
    monkeypatch.setattr("weighbridge.plugins.pins.CONTRACT_VERSION", CONTRACT_VERSION + 1)
    assert plugins.pin("coin") != plain


def test_third_party_modules_are_part_of_the_pin(
    toy: Toy, install: Callable[..., Path], tmp_path: Path
) -> None:
    helper = {"toy_helper/__init__.py": "", "toy_helper/fast.so": b"\x7fELF", "toy_single.py": "X = 1"}
    site = install("toy-helper", helper, {})
    toy("coin", third_party=("toy_helper", "toy_single"))
    before = pin_here()
    (site / "toy_helper" / "fast.so").write_bytes(b"\x7fELF2")
    native = pin_here()
    (site / "toy_single.py").write_text("X = 2")
    assert len({before, native, pin_here()}) == 3


UNPINNABLE = [
    pytest.param({"fast.so": b"\x7fELF"}, (), "fast.so, which is not source", id="native-code"),
    pytest.param({"old.pyc": b"\0"}, (), "old.pyc, which is not source", id="code-without-source"),
    pytest.param({}, ("toy_missing",), "toy_missing cannot be found", id="a-missing-module"),
    pytest.param({}, ("toy_coin.no.such",), "cannot be found", id="a-missing-submodule"),
    pytest.param({}, ("sys",), "part of the interpreter", id="a-built-in-module"),
    pytest.param({}, ("",), "cannot be found", id="no-name"),
]


@pytest.mark.parametrize(("more", "third_party", "says"), UNPINNABLE)
def test_what_cannot_be_hashed_cannot_be_loaded(
    toy: Toy, more: dict[str, str | bytes], third_party: tuple[str, ...], says: str
) -> None:
    toy("coin", more=more, third_party=third_party)
    with pytest.raises(PluginUnpinnable, match=says):
        pin_here()


def test_a_namespace_package_has_no_pin(install: Callable[..., Path], toy: Toy) -> None:
    install("toy-space", {"toy_space/a.py": ""}, {})
    toy("coin", third_party=("toy_space",))
    with pytest.raises(PluginUnpinnable, match=r"name a package with an __init__\.py"):
        pin_here()


def test_a_package_in_a_zip_has_no_pin(toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "zipped.zip", "w") as archive:
        archive.writestr("toy_zipped/__init__.py", "")
    monkeypatch.syspath_prepend(str(tmp_path / "zipped.zip"))
    toy("coin", third_party=("toy_zipped",))
    with pytest.raises(PluginUnpinnable, match="install it unpacked"):
        pin_here()


PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "toy-packed"
version = "1.0"

[project.entry-points."weighbridge.rulesets"]
packed = "toy_packed:RULES"

[tool.hatch.build.targets.wheel]
packages = ["src/toy_packed"]
"""

PRINT_PIN = """
import site, sys
site.addsitedir(sys.argv[1])
from weighbridge.plugins import Plugins
plugins = Plugins({"weighbridge.rulesets": ["packed"]})
print(plugins.pin("packed"), sys.modules["toy_packed"].__file__)
"""


def run(*arguments: object) -> str:
    done = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def test_a_wheel_an_sdist_and_an_editable_install_have_one_pin(
    tmp_path: Path, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, built = tmp_path / "project", tmp_path / "built"
    source = toy("packed", more=FILES | {"py.typed": ""}, folder="project/src")
    for info in source.glob("*.dist-info"):
        for file in info.iterdir():
            file.unlink()
        info.rmdir()
    (project / "pyproject.toml").write_text(PROJECT)
    monkeypatch.chdir(project)
    run("-m", "hatchling", "build", "-d", built)
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    pins = set[str]()
    for name, what in (("wheel", [wheel]), ("sdist", [sdist]), ("editable", ["-e", project])):
        target = tmp_path / name
        offline = ["--no-index", "--no-build-isolation", "--no-deps", "--quiet", "--target", target]
        run("-m", "pip", "install", *offline, *what)
        found, file = run("-c", PRINT_PIN, target).split(" ", 1)
        assert Path(file).is_relative_to(source if name == "editable" else target)
        pins.add(found)
    assert len(pins) == 1
