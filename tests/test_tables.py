"""Tables that are run as few tests name every row that fails, and are taken apart where rows are chosen."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from paths import SUPPORT

TABLES = """
from tables import over

@over("word", ["one", "two", "three"])
def test_word(word, tmp_path):
    (tmp_path / "own").mkdir()
    assert word == "two"

@over(("left", "right"), [(1, 1), (1, 2)], ids=["same", "other"], short=["same"])
def test_pair(left, right):
    assert left == right
"""


def _whole(chosen: list[str], *said: str) -> Any:
    return pytest.param(chosen, [*said], marks=pytest.mark.long)


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        _whole([], "2 of 3 rows failed: one, three", "row 'three'", "1 of 1 rows failed: other", "2 failed, 1 passed"),
        _whole(["-m", "not long"], "2 of 3 rows failed: one, three", "1 failed, 1 passed, 1 deselected"),
        _whole(["-k", "two or same"], "2 passed, 3 deselected"),
        (["test_some.py::test_word[one]", "test_some.py::test_word[two]"], ["1 failed, 1 passed"]),
        _whole(["test_some.py::test_word[3-from-one]"], "2 of 3 rows failed: one, three"),
    ],
    ids=["all", "short", "rows by -k", "rows by id", "a test by id"],
)
def test_every_row_that_fails_is_named(tmp_path: Path, chosen: list[str], said: list[str]) -> None:
    (tmp_path / "test_some.py").write_text(TABLES)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    over: rows\n    long: in a long run\n")
    line = [sys.executable, "-m", "pytest", "-p", "tables", "-p", "no:cacheprovider", *chosen]
    environment = os.environ | {"PYTHONPATH": str(SUPPORT), "PYTEST_ADDOPTS": ""}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # other plugins take a second to import
    for name in [name for name in environment if name.startswith("PYTEST_XDIST")]:
        del environment[name]
    done = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert [part for part in said if part not in done.stdout] == [], done.stdout
