"""The rooms of the package: how many there are, that the map shows them all, and that no folder hides a room."""

import ast
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "hfcount"
ROOMS = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
SERIES = ("architectures/models", "verifier/rules", "verifier/rules/standalone", "quantization/schemes")
"""Folders of many files of one kind, which are found by their names."""


def test_the_root_is_small() -> None:
    """A new room or a new file at the root needs a better reason than being new."""
    assert len(ROOMS) <= 17
    assert len(list(PACKAGE.glob("*.py"))) <= 7


def test_no_room_hides_a_promised_function() -> None:
    """Importing a submodule overwrites what has its name in the package."""
    import hfcount

    assert {name for name in hfcount.__all__ if (PACKAGE / name).exists() or (PACKAGE / f"{name}.py").exists()} == set()


def test_no_folder_has_four_files_with_one_prefix() -> None:
    """They are a folder of their own."""
    for folder in {path.parent for path in PACKAGE.rglob("*.py")}:
        if folder.relative_to(PACKAGE).as_posix() not in SERIES:
            prefixes = Counter(path.stem.partition("_")[0] for path in folder.glob("[!_]*.py"))
            assert [f"{folder.name}/{prefix}*" for prefix, count in prefixes.items() if count > 3] == []


def test_the_contract_of_imports_has_every_room() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = {name for row in contracts[0]["layers"] for name in row.split(" | ")}
    files = {path.stem for path in PACKAGE.glob("[!_]*.py")}
    assert contracts[0]["exhaustive"] and layers == ROOMS | files


def test_every_room_says_what_one_works_on_there() -> None:
    """The map in CONTRIBUTING is made of this."""
    for room in ROOMS:
        lines = (ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text())) or "").split("\n")
        assert lines[0].endswith("."), room
        assert any(line.startswith("Work here on ") for line in lines), room
