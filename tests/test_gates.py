"""Formatting, linting, types, and what is imported from where."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GATES = {
    "format": ["-m", "ruff", "format", "--check"],
    "lint": ["-m", "ruff", "check"],
    "types": ["-m", "mypy"],
    "imports": ["-c", "from importlinter.cli import lint_imports_command as run; run()"],
}


@pytest.mark.parametrize("gate", GATES)
def test_gate(gate: str) -> None:
    done = subprocess.run([sys.executable, *GATES[gate]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


DEVELOPERS = {"test", "oracle", "bench"}


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """All statements, however deep, and none of the expressions, which are most of a tree."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        found = getattr(tree, name, [])
        for node in found if isinstance(found, list) else ():
            yield node
            yield from statements(node)


def imported(tree: ast.AST) -> Iterator[str]:
    """Modules that a file imports, here or there, and the names it takes from them."""
    for node in statements(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def called(tree: ast.AST) -> Iterator[str]:
    """Modules that a file imports by a call of import_module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "import_module":
            yield from (one.value for one in node.args if isinstance(one, ast.Constant))


def test_what_is_imported_is_declared_and_public() -> None:
    """By the dependencies, or by an extra that is not for developers."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {name: lines for name, lines in project["optional-dependencies"].items() if name not in DEVELOPERS}
    lines = sum(extras.values(), project["dependencies"])
    declared = {re.split(r"[^\w.-]", line)[0].replace("-", "_") for line in lines}
    foreign = {
        name
        for path in (ROOT / "hfcount").rglob("*.py")
        for text in [path.read_text()]
        for tree in [ast.parse(text)]
        for name in (*imported(tree), *(called(tree) if "import_module" in text else ()))
        if name.partition(".")[0] not in sys.stdlib_module_names | {"hfcount"}
    }
    foreign.discard("typing_extensions.TypeVar")  # which type checkers alone read
    assert {name.partition(".")[0] for name in foreign} == declared
    assert [name for name in foreign if "._" in name] == []
