"""A plain command line means the same with and without click, and the others are left to it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from build import save_tiny
from conftest import Command

from hfcount.cli import plain, verify
from hfcount.cli.main import main
from hfcount.cli.verify import Arguments

PLAIN = [
    ["org/name"],
    ["./m", "org/name", "hf://gpt2"],
    ["m", "--json"],
    ["--quiet", "m"],
    ["m", "-q", "--details"],
    ["m", "--details", "--format", "json", "--json"],
    ["m", "--format", "csv-long", "--format", "table"],
    ["m", "--depth", "headers", "--offline", "--no-cache"],
    ["m", "--depth", "auto", "--formula", "--tensors"],
    ["org/name", "--revision", "v1", "--subfolder", "a/b"],
    ["org/name", "--base", "org/base", "--target", "./m"],
    ["org/name", "--fixtures", "m"],
    ["org/name", "--fixtures", "nowhere/at/all"],
]

OTHERS = [
    [],
    ["--json"],
    ["m", "--help"],
    ["m", "-h"],
    ["m", "--version"],
    ["-"],
    ["m", ""],
    ["--", "m"],
    ["mm"],
    ["m", "--jsn"],
    ["m", "-qr"],
    ["m", "--format=json"],
    ["m", "--format", "JSON"],
    ["m", "--format", "md"],
    ["m", "--format", "html"],
    ["m", "--format"],
    ["m", "--depth", "deep"],
    ["m", "--depth", "data"],
    ["m", "--revision", "a", "--revision", "b"],
    ["m", "--revision", "--json"],
    ["m", "--set", "a=1"],
    ["m", "--allow", "HF201"],
    ["m", "--strict"],
    ["m", "--debug"],
]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a checkpoint `m`."""
    save_tiny(tmp_path / "m")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("words", PLAIN, ids=" ".join)
def test_a_plain_line_means_what_click_reads_in_it(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Arguments] = []
    monkeypatch.setattr(verify, "run", lambda arguments: read.append(arguments) or 0)
    main.main(words, standalone_mode=False)
    (by_click,) = read
    without = plain.arguments(words)
    assert without is not None
    assert _values(without) == _values(by_click)


def _values(arguments: Arguments) -> dict[str, object]:
    """The arguments, with what they leave to Workload's defaults."""
    from hfcount.serving.cost import Workload

    shown = ("models", "listed", "settings", "schemes", "outputs", "plot", "page", "loaders")
    sequences = {name: tuple(getattr(arguments, name)) for name in shown}
    return {**vars(arguments), **sequences, "load": Workload(**arguments.load)}


@pytest.mark.parametrize("words", OTHERS, ids=" ".join)
def test_any_other_line_is_left_to_click(words: list[str]) -> None:
    assert plain.arguments(words) is None


@pytest.mark.parametrize("name", ["_HFCOUNT_COMPLETE", "HFCOUNT_NO_CONFIG"])
def test_what_click_reads_of_the_environment_is_left_to_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "1")
    assert plain.arguments(["m"]) is None


def test_options_that_do_not_go_together_are_shown_with_the_usage(command: Command) -> None:
    done = command("org/name@v1", "--revision", "v2")
    assert done.code == 2
    assert done.err.startswith("Usage: ")
    assert "Error: " in done.err


_TELL = """
import json, sys
from hfcount.cli.dispatch import run
sys.argv = ["hfcount", *sys.argv[1:]]
try:
    run()
except SystemExit as ended:
    print(json.dumps([ended.code, sorted({name.partition(".")[0] for name in sys.modules})]), file=sys.stderr)
"""


@pytest.mark.parametrize("style", ["json", "table"])
def test_a_plain_run_imports_neither_click_nor_what_makes_dataclasses(style: str) -> None:
    line = [sys.executable, "-c", _TELL, "./m", "--format", style]
    done = subprocess.run(line, env=os.environ, capture_output=True, text=True)
    code, loaded = json.loads(done.stderr)
    assert code == 0
    assert {"click", "inspect", "dataclasses", "rich"} & {*loaded} == set()
