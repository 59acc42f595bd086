"""The house's rules, read off the source by AST: who may import whom, and what no module does."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
LINES_AT_MOST = 400
NAMES_THAT_SAY_NOTHING = {"base", "common", "helper", "helpers", "manager", "misc", "util", "utils"}
SPEAKS_TO_THE_SHELL = ("pullstate.cli", "pullstate.__main__")

# layer → what nothing in it may import. A layer is a package, or a module and all below it.
FORBIDDEN = {
    "pullstate.domain": ("pullstate.store", "pullstate.forges", "pullstate.sync"),
    "pullstate.store": ("pullstate.forges", "pullstate.sync", "pullstate.server"),
    "pullstate.forges": ("pullstate.store", "pullstate.sync", "pullstate.server", "sqlalchemy"),
    "pullstate.sync": ("pullstate.server", "sqlite3", "mcp"),
    "pullstate.server": ("pullstate.forges",),
}

# module → the only ones that may import it.
ONLY_FROM = {
    "httpx": ("pullstate.forges.http",),
    "pullstate.settings": ("pullstate.settings", *SPEAKS_TO_THE_SHELL),
    "pullstate.cli": SPEAKS_TO_THE_SHELL,
    "mcp": ("pullstate.server", *SPEAKS_TO_THE_SHELL),
}


@dataclass(frozen=True)
class Module:
    """A module's dotted name and its source."""

    name: str
    source: str
    is_package: bool = False

    @property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)


def modules() -> list[Module]:
    return [_module(path) for path in sorted((SOURCE / "pullstate").rglob("*.py"))]


def _module(path: Path) -> Module:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    is_package = parts[-1] == "__init__"
    name = ".".join(parts[:-1] if is_package else parts)
    return Module(name, path.read_text(encoding="utf-8"), is_package)


def imported(module: Module) -> Iterator[str]:
    """Every module and name that is imported anywhere in it, in functions and for types too."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = _origin(module, node)
            yield origin
            yield from (f"{origin}.{alias.name}" for alias in node.names)


def _origin(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = module.name.split(".")
    package = package[: len(package) - node.level + module.is_package]
    return ".".join([*package, *(node.module or "").split(".")]).rstrip(".")


def within(name: str, *layers: str) -> bool:
    """Whether a dotted name is one of the layers or lies in one."""
    return any(name == layer or name.startswith(f"{layer}.") for layer in layers)


# --- The rules: each gives the sentences for what breaks it --------------------------------------


def layers_crossed(module: Module) -> Iterator[str]:
    for layer, forbidden in FORBIDDEN.items():
        if within(module.name, layer):
            for name in imported(module):
                if within(name, *forbidden):
                    yield f"{module.name} imports {name}"


def strangers_in_the_domain(module: Module) -> Iterator[str]:
    if within(module.name, "pullstate.domain"):
        for name in imported(module):
            at_home = name == "pullstate" or within(name, "pullstate.domain")
            if not at_home and name.partition(".")[0] not in sys.stdlib_module_names:
                yield f"{module.name} imports {name}"


def imports_kept_for_others(module: Module) -> Iterator[str]:
    for kept, users in ONLY_FROM.items():
        if not within(module.name, *users):
            for name in imported(module):
                if within(name, kept):
                    yield f"{module.name} imports {name}"


def the_loop_beyond_the_app(module: Module) -> Iterator[str]:
    """`server` knows the loop in one place: where the two are put together."""
    if within(module.name, "pullstate.server") and module.name != "pullstate.server.app":
        for name in imported(module):
            if within(name, "pullstate.sync"):
                yield f"{module.name} imports {name}"


def io_in_the_domain(module: Module) -> Iterator[str]:
    """No I/O and no clock: nothing that opens, listens, waits or tells the time."""
    if not within(module.name, "pullstate.domain"):
        return
    outside = ("asyncio", "os", "socket", "sqlite3", "subprocess", "threading", "time")
    for name in imported(module):
        if within(name, *outside):
            yield f"{module.name} imports {name}"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and _called(node) in {"open", "now", "utcnow", "today"}:
            yield f"{module.name}:{node.lineno} calls {_called(node)}"


def words_on_stdout(module: Module) -> Iterator[str]:
    """stdout is the wire; only the commands write there."""
    if within(module.name, *SPEAKS_TO_THE_SHELL):
        return
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and _called(node) == "print":
            yield f"{module.name}:{node.lineno} prints"
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.stdout":
            yield f"{module.name}:{node.lineno} uses sys.stdout"


def modules_too_long(module: Module) -> Iterator[str]:
    lines = module.source.count("\n")
    if lines >= LINES_AT_MOST:
        yield f"{module.name} has {lines} lines"


def names_that_say_nothing(module: Module) -> Iterator[str]:
    if NAMES_THAT_SAY_NOTHING.intersection(module.name.split(".")):
        yield f"{module.name} says nothing of what is in it"


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)


RULES = [
    layers_crossed,
    strangers_in_the_domain,
    imports_kept_for_others,
    the_loop_beyond_the_app,
    io_in_the_domain,
    words_on_stdout,
    modules_too_long,
    names_that_say_nothing,
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_no_module_breaks_the_rule(rule: object) -> None:
    broken = [sentence for module in modules() for sentence in rule(module)]  # type: ignore[operator]
    assert broken == []


def test_every_module_of_the_package_is_looked_at() -> None:
    names = {module.name for module in modules()}
    assert {"pullstate", "pullstate.domain", "pullstate.domain.text"} <= names
    assert all(within(layer, *names) for layer in FORBIDDEN)


@pytest.mark.parametrize(
    ("rule", "name", "source"),
    [
        (layers_crossed, "pullstate.store.rows", "from pullstate.forges import forge"),
        (layers_crossed, "pullstate.store.rows", "import pullstate.server.answers as a"),
        (layers_crossed, "pullstate.forges.http", "from pullstate import store"),
        (layers_crossed, "pullstate.forges.github.client", "from ...store import rows"),
        (layers_crossed, "pullstate.server.tools.x", "from ...forges.http import get"),
        (layers_crossed, "pullstate.server.tools.x", "def f():\n  import pullstate.forges"),
        (layers_crossed, "pullstate.sync.loop", "from pullstate.server import answers"),
        (strangers_in_the_domain, "pullstate.domain.text", "import pydantic"),
        (strangers_in_the_domain, "pullstate.domain.text", "from pullstate.settings import S"),
        (strangers_in_the_domain, "pullstate.domain.text", "from ..store import rows"),
        (imports_kept_for_others, "pullstate.forges.github.client", "import httpx"),
        (imports_kept_for_others, "pullstate.sync.loop", "from pullstate.settings import S"),
        (imports_kept_for_others, "pullstate.store.rows", "if TYPE_CHECKING:\n  import mcp.types"),
        (the_loop_beyond_the_app, "pullstate.server.stdio", "from pullstate.sync import loop"),
        (io_in_the_domain, "pullstate.domain.text", "open('x')"),
        (io_in_the_domain, "pullstate.domain.text", "datetime.datetime.now(UTC)"),
        (io_in_the_domain, "pullstate.domain.text", "import os.path"),
        (words_on_stdout, "pullstate.sync.loop", "print('x')"),
        (words_on_stdout, "pullstate.sync.loop", "sys.stdout.write('x')"),
        (modules_too_long, "pullstate.sync.loop", "\n" * LINES_AT_MOST),
        (names_that_say_nothing, "pullstate.sync.utils", ""),
        (names_that_say_nothing, "pullstate.helpers.names", ""),
    ],
)
def test_each_rule_sees_what_breaks_it(rule: object, name: str, source: str) -> None:
    assert list(rule(Module(name, source)))  # type: ignore[operator]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("pullstate.domain.text", "import re\nfrom pullstate.domain import review"),
        ("pullstate.domain.text", "from . import review\nfrom .review import Thread"),
        ("pullstate.forges.http", "import httpx\nfrom pullstate.domain import text"),
        ("pullstate.server.app", "from pullstate.sync import loop\nimport mcp"),
        ("pullstate.cli", "from pullstate.settings import Settings\nprint('x')"),
        ("pullstate.sync.loop", "from pullstate.forges import forge\nimport httpx_like"),
    ],
)
def test_what_keeps_the_rules_breaks_none(name: str, source: str) -> None:
    assert [sentence for rule in RULES for sentence in rule(Module(name, source))] == []
