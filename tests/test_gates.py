"""Formatting, linting, types, and what is imported from where."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from paths import ROOT

GATES = {
    "format": ["-m", "ruff", "format", "--check"],
    "lint": ["-m", "ruff", "check"],
    "types": ["-m", "mypy"],
    "imports": ["-c", "from importlinter.cli import lint_imports_command as run; run()"],
}


LONG = {"types"}  # half a minute where nothing is remembered


@pytest.mark.parametrize("gate", [pytest.param(name, marks=pytest.mark.long if name in LONG else ()) for name in GATES])
def test_gate(gate: str) -> None:
    done = subprocess.run([sys.executable, *GATES[gate]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


TOP = {"pyproject.toml", "README.md", "LICENSE", "hfcount", "tests", "fixtures"}


def test_nothing_else_lies_at_the_top() -> None:
    """What tools leave there, such as downloaded wheels, is not to be committed; names with a dot are settings."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is no clone of the repository, which git could list")
    assert {line.partition("/")[0] for line in listed.stdout.splitlines() if not line.startswith(".")} == TOP


PACKAGE = ROOT / "hfcount"
REGISTRIES = (
    "__init__",
    "cli/commands",
    "architectures/registry",
    "blueprints/libraries/__init__",
    "checkpoints/forms",
    "fetcher/__init__",
    "quantization/schemes/__init__",
    "report/renderers/__init__",
    "verifier/__init__",
    "verifier/loaders/catalogue",
    "verifier/rules/__init__",
)
"""Modules that import others of the package by a name that is put together: those in their own folders."""


DYNAMIC = r"\b(import_module|__import__|exec|eval)"


def test_nothing_of_the_package_is_imported_unseen() -> None:
    """The linter of imports sees those inside functions, and none by name."""
    hidden = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in PACKAGE.rglob("*.py")
        if path.relative_to(PACKAGE).with_suffix("").as_posix() not in REGISTRIES
        if re.search(rf"{DYNAMIC}\(", path.read_text())
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call)
        and re.search(f"{DYNAMIC}$", ast.unparse(node.func))
        and not (isinstance(name := node.args[0], ast.Constant) and not str(name.value).startswith(("hfcount", ".")))
    ]
    assert hidden == []


def test_no_modules_import_each_other() -> None:
    import grimp

    graph = grimp.build_graph("hfcount", cache_dir=None, exclude_type_checking_imports=True)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    TopologicalSorter(imports).prepare()  # raises CycleError with the circle


@pytest.mark.long  # the linter's bound of ten branches is the one that is met every day
def test_no_function_has_more_than_20_conditions() -> None:
    from radon.complexity import cc_visit

    found = [
        f"{path.relative_to(ROOT)}: {one.fullname} {one.complexity}"
        for path in PACKAGE.rglob("*.py")
        for one in cc_visit(path.read_text())
        if not hasattr(one, "methods") and one.complexity > 20
    ]
    assert found == []


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


DEVELOPERS = {"test", "oracle", "bench"}
ELSEWHERE = {"docs", "space", "release"}  # what the site, the space and tests of releases run on
IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+(\w+)", re.MULTILINE)
"""The package that a line imports, one a line as the linter has it; also what begins so in a text."""


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
    """By the dependencies, or by an extra that the package itself imports."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"].items()
    extras = {name: lines for name, lines in optional if name not in DEVELOPERS | ELSEWHERE}
    lines = sum(extras.values(), project["dependencies"])
    declared = {re.split(r"[^\w.-]", line)[0].replace("-", "_") for line in lines}
    known = sys.stdlib_module_names | {"hfcount"}
    foreign = {
        name
        for path in PACKAGE.rglob("*.py")
        for text in [path.read_text()]
        if "import_module" in text or not known.issuperset(IMPORT.findall(text))  # parsing all of them takes seconds
        for tree in [parsed(path)]
        for name in (*imported(tree), *(called(tree) if "import_module" in text else ()))
        if name.partition(".")[0] not in known
    }
    foreign.discard("typing_extensions.TypeVar")  # which type checkers alone read
    assert {name.partition(".")[0] for name in foreign} == declared
    assert [name for name in foreign if "._" in name] == []
