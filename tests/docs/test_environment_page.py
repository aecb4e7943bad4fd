"""The page about the environment has every variable that the code reads, and no other."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from blocks import DOCS
from paths import ROOT

PAGE = (DOCS / "environment.md").read_text()
NAMED = {name for row in re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE) for name in re.findall("`([A-Z_]+)`", row)}
ENVIRONMENTS = ("environ", "environment")
"""What a mapping of variables is called."""

OF_LIBRARIES = {
    "requests": "HTTPS_PROXY HTTP_PROXY ALL_PROXY NO_PROXY REQUESTS_CA_BUNDLE CURL_CA_BUNDLE",
    "huggingface_hub": "HF_HOME XDG_CACHE_HOME",
    "os.path.expanduser": "HOME",
}
"""Variables that a library reads for hfcount."""

OTHER_NAMES = {"ENDPOINT": "HF_ENDPOINT"}
"""Variables that huggingface_hub.constants calls otherwise."""


def _text(node: ast.AST) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _is_environment(node: ast.AST) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name in ENVIRONMENTS


def _names(node: ast.AST) -> Iterator[str | None]:
    """The variables that a piece of code reads."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_environment(node.func.value):
        yield _text(node.args[0])
    if isinstance(node, ast.Subscript) and _is_environment(node.value):
        yield _text(node.slice)
    if isinstance(node, ast.Compare) and any(map(_is_environment, node.comparators)):
        yield _text(node.left)
    if isinstance(node, ast.keyword) and node.arg in ("envvar", "complete_var"):
        yield _text(node.value)
    if isinstance(node, ast.Attribute) and _is_constants(node.value):
        yield OTHER_NAMES.get(node.attr, node.attr) if node.attr != "REPO_ID_SEPARATOR" else None


def _is_constants(node: ast.AST) -> bool:
    """Whether it is huggingface_hub.constants, or the function that returns them."""
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "settings"
    return called or (isinstance(node, ast.Name) and node.id == "constants")


def _read(path: Path) -> set[str]:
    return {name for node in ast.walk(ast.parse(path.read_text())) for name in _names(node) if name}


@pytest.fixture(scope="module")
def read() -> set[str]:
    paths = [path for path in (ROOT / "hfcount").rglob("*.py") if "architectures" not in path.parts]
    return {name for path in paths for name in _read(path)}


@pytest.mark.long
def test_every_variable_that_is_read_is_on_the_page(read: set[str]) -> None:
    assert {"HF_TOKEN", "NO_COLOR", "HFCOUNT_NO_CONFIG", "HF_HUB_OFFLINE", "_HFCOUNT_COMPLETE"} <= read
    assert read - NAMED == set()


@pytest.mark.long
def test_every_variable_on_the_page_is_read(read: set[str]) -> None:
    known = {name for names in OF_LIBRARIES.values() for name in names.split()}
    assert NAMED - read - known == set()
