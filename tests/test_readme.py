"""README.md tells the truth: generated parts are current, commands parse, and every rule and option is there."""

import re
import shlex
from pathlib import Path

import click
import pytest
from readme import PICTURES, README, generated, picture

from hfcount.cli.main import main
from hfcount.verifier.rules import RULES

TEXT = README.read_text()
COMMANDS = re.findall(r"^(?:python3 .*/)?hfcount (.+)$", TEXT, re.MULTILINE)


def test_generated_parts_are_current() -> None:
    assert generated(TEXT) == TEXT, "run `python tests/readme.py`"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_parses(command: str) -> None:
    given = main.make_context("hfcount", shlex.split(command)).params
    assert given["models"] or given["recursive"]


@pytest.mark.parametrize("code", RULES)
def test_every_rule_is_there(code: str) -> None:
    assert f"| {code} | {RULES[code].name} |" in TEXT


@pytest.mark.parametrize("option", [option for option in main.params if isinstance(option, click.Option)])
def test_every_option_has_help(option: click.Option) -> None:
    assert option.help
    assert option.opts[-1] in TEXT


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.name)
def test_pictures_show_what_is_counted(path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install '.[plot]'")
    shown, drawn = (re.findall(r"<text[^>]*>(.*?)</text>", text) for text in (path.read_text(), _drawn(path)))
    assert shown == drawn, "run `python tests/readme.py`"
    assert path.relative_to(README.parent).as_posix() in TEXT


def _drawn(path: Path) -> str:
    return picture(PICTURES[path]).decode()


def test_both_commands_are_one_line_and_set_up_all_they_need() -> None:
    lines = [line for line in TEXT.splitlines() if line.startswith("python3 -m venv")]
    assert [line.rpartition(" && ")[2] for line in lines] == [
        ".venv/bin/hfcount --fixtures fixtures Qwen/Qwen3-32B",
        ".venv/bin/pytest",
    ]


@pytest.mark.parametrize(
    "number",
    [
        *("32,762,123,264", "235,093,634,560", "22,190,763,520", "21,568,433,664"),
        *("37,459,743,744", "32,174,920,704", "36,384,288,256", "64,771,337,728", "462,239,313,408"),
        *("8,030,261,248", "8,310,231,040", "354,823,168", "109,514,298", "109,482,240", "16,375,728,128"),
        *("34,359,738,368", "66,343,272,448"),
    ],
)
def test_the_commands_of_the_guide_show_what_it_is_about(number: str) -> None:
    shown = "\n".join(re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL))
    assert number in shown
