"""Who may know whom. The static contracts stand in the root pyproject.toml; here is what globbing adds."""

from __future__ import annotations

import ast
import importlib.metadata
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from repository import (
    KERNEL,
    MEMBERS,
    PLUGINS,
    SERVICES,
    TOOLS,
    imports,
    manifest,
    named,
    parsed,
    sources,
    top_level,
)

CLOCKS = {"now", "utcnow", "today", "time_ns", "monotonic", "perf_counter"}
BESIDE_THE_FOLD = ("ledger", "plugins", "conformance")
"""Parts of the kernel that may open files: they run beside the fold, never under it."""


def distributions() -> dict[str, set[str]]:
    return {name: set(dists) for name, dists in importlib.metadata.packages_distributions().items()}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def declared(member: Path) -> set[str]:
    project = manifest(member)["project"]
    wanted = list(project.get("dependencies", []))
    for extra in project.get("optional-dependencies", {}).values():
        wanted += extra
    return {normal(re.split(r"[\[<>=;! ]", text, maxsplit=1)[0]) for text in wanted}


CONTRACT = "contract|ports|repos"
"""What a plugin may import: the contract of rule sets and audits, the ports of what reaches outside, and what
records of repositories are verified with."""
CALLS_WITH_A_REASON = {
    (
        "shared/src/weighbridge/lexicon/checking.py",
        "id",
    ): "a cache of constants that keeps what it is keyed by",
}


def beneath_the_fold() -> list[Path]:
    return [
        path
        for path in sources(KERNEL.parent.parent)
        if path.relative_to(KERNEL).parts[0].removesuffix(".py") not in BESIDE_THE_FOLD
    ]


def services() -> list[Path]:
    return sorted(path.parent for path in SERVICES.glob("*/app.py"))


def where(path: Path, node: ast.AST) -> str:
    return f"{named(path)}:{getattr(node, 'lineno', 0)}"


@pytest.mark.parametrize("member", MEMBERS, ids=named)
def test_every_third_party_import_is_a_declared_dependency(member: Path) -> None:
    known = distributions()
    allowed = declared(member) | {normal(manifest(member)["project"]["name"])}
    undeclared = []
    for path in sources(member):
        for name in sorted(top_level(imports(path))):
            ours = name == "weighbridge" or name.startswith("weighbridge_")
            dists = (
                {normal(name.removesuffix(TOOLS))}
                if ours
                else {normal(dist) for dist in known.get(name, {name})}
            )
            if not dists & allowed:
                undeclared.append(f"{named(path)} imports {name}")
    assert undeclared == []


@pytest.mark.parametrize("plugin", PLUGINS, ids=named)
def test_a_plugin_imports_of_ours_only_the_contract(plugin: Path) -> None:
    own = f"weighbridge_{plugin.name}"
    others = []
    for path in (each for each in sources(plugin) if not is_a_tool(each)):
        for name in sorted(imports(path)):
            ours = name.partition(".")[0] == "weighbridge" or name.startswith("weighbridge_")
            fine = name == "weighbridge" or re.match(rf"(weighbridge\.({CONTRACT})|{own})(\.|$)", name)
            if ours and not fine:
                others.append(f"{named(path)} imports {name}")
        text = path.read_text()
        if re.search(
            r"^\s*import weighbridge$|^\s*from weighbridge import (?!({CONTRACT})\b)", text, re.MULTILINE
        ):
            others.append(f"{named(path)} imports the kernel itself")
    assert others == []


def is_a_tool(path: Path) -> bool:
    return path.parts[path.parts.index("src") + 1].endswith(TOOLS)


@pytest.mark.parametrize("plugin", PLUGINS, ids=named)
def test_a_plugin_s_own_commands_import_the_kernel_the_plugin_and_what_the_command_line_offers_them(
    plugin: Path,
) -> None:
    own = f"weighbridge_{plugin.name}"
    allowed = rf"weighbridge(\.|$)|{own}({TOOLS})?(\.|$)|weighbridge_services(\.for_plugins(\.|$)|$)"
    others = [
        f"{named(path)} imports {name}"
        for path in sources(plugin)
        if is_a_tool(path)
        for name in sorted(imports(path))
        if name.startswith("weighbridge") and not re.match(allowed, name)
    ]
    assert others == []


def test_the_kernel_imports_no_plugin_and_no_service() -> None:
    found = [
        f"{named(path)} imports {name}"
        for path in sources(KERNEL.parent.parent)
        for name in sorted(imports(path))
        if name.startswith("weighbridge_")
    ]
    assert found == []


@pytest.mark.parametrize("service", services(), ids=lambda path: path.name)
def test_a_service_imports_no_other_service(service: Path) -> None:
    others = {path.name for path in services()} - {service.name}
    found = [
        f"{named(path)} imports {name}"
        for path in sorted(service.rglob("*.py"))
        for name in sorted(imports(path))
        if name.startswith("weighbridge_services.") and name.split(".")[1] in others
    ]
    assert found == []


@pytest.mark.parametrize("service", services(), ids=lambda path: path.name)
def test_a_service_decides_in_a_pure_module(service: Path) -> None:
    assert (service / "decide.py").exists()
    assert [where(service / "decide.py", node) for node in clock_calls(service / "decide.py")] == []


def clock_calls(path: Path) -> Iterator[ast.AST]:
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CLOCKS:
            yield node


def test_the_kernel_asks_no_clock() -> None:
    assert [where(path, node) for path in beneath_the_fold() for node in clock_calls(path)] == []


def test_the_kernel_computes_in_integers() -> None:
    found = []
    for path in beneath_the_fold():
        for node in ast.walk(parsed(path)):
            number = isinstance(node, ast.Constant) and isinstance(node.value, float | complex)
            division = isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div)
            made = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float"
            if number or division or made:
                found.append(where(path, node))
    assert found == []


def lines_of_hash_methods(path: Path) -> set[int]:
    methods = [
        node
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef) and node.name == "__hash__"
    ]
    return {
        line for method in methods for line in range(method.lineno, (method.end_lineno or method.lineno) + 1)
    }


def test_the_kernel_opens_no_file_and_takes_no_hash_that_varies() -> None:
    varying = {"open", "hash", "id", "input", "print", "eval", "exec", "globals"}
    found = []
    for path in beneath_the_fold():
        allowed = lines_of_hash_methods(path)
        for node in ast.walk(parsed(path)):
            called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            fine = called == "hash" and getattr(node, "lineno", 0) in allowed
            if called in varying and not fine and (named(path), called) not in CALLS_WITH_A_REASON:
                found.append(f"{where(path, node)} {called}")
    assert found == []


def unordered(node: ast.expr) -> bool:
    if isinstance(node, ast.Set | ast.SetComp):
        return True
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in ("set", "frozenset"):
            return True
        return (
            node.func.id in ("list", "tuple", "enumerate", "iter")
            and bool(node.args)
            and unordered(node.args[0])
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr | ast.BitAnd | ast.Sub | ast.BitXor):
        return unordered(node.left) or unordered(node.right)
    return False


def test_nothing_in_the_kernel_or_a_plugin_walks_a_set_in_its_own_order() -> None:
    """The syntax shows sets built where they are walked; the conformance kit's hash seeds show the rest."""
    found = []
    paths = [*beneath_the_fold(), *(path for plugin in PLUGINS for path in sources(plugin))]
    for path in paths:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.For | ast.comprehension) and unordered(node.iter):
                found.append(where(path, node.iter))
    assert found == []
