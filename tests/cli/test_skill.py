"""The skill for agents: it is current, short, installed where skills are collected, and names what there is."""

import re

import click
import yaml
from conftest import Command
from paths import ROOT
from update import SKILL

from hfcount.cli.commands import COMMANDS, find
from hfcount.cli.skill import text

CURRENT = SKILL.read_text(encoding="utf-8")


def test_it_is_current(command: Command) -> None:
    assert text() == CURRENT, "run `python tests/tools/update.py`"
    shown = command("skill")
    assert (shown.code, shown.out) == (0, CURRENT)


def test_it_is_short() -> None:
    """At most 1,300 tokens, by the larger of two estimates: four characters each, or three for four words and signs."""
    assert max(len(CURRENT) / 4, len(re.findall(r"\w+|[^\w\s]", CURRENT)) * 0.75) <= 1300


def test_its_head_is_that_of_a_skill() -> None:
    """As agentskills.io has it: the name is the folder's, and the description has at most 1,024 characters."""
    _, head, body = CURRENT.split("---\n", 2)
    values = yaml.safe_load(head)
    assert values.keys() == {"name", "description"}
    assert values["name"] == SKILL.parent.name == "hfcount"
    assert 0 < len(values["description"]) <= 1024
    assert body.startswith("\n# hfcount\n")


def test_what_it_names_is_there() -> None:
    for name in re.findall(r"`hfcount (?:\[verify\] )?(\w+)", CURRENT):
        assert name in COMMANDS or name == "MODEL"
    flags = {flag for param in find("verify").params if isinstance(param, click.Option) for flag in param.opts}
    flags |= {flag for param in find("fix").params for flag in param.opts}
    assert {*re.findall(r"(?<![\w-])--[a-z][\w-]+", CURRENT)} <= flags
    schema = (ROOT / "hfcount" / "docs" / "report.schema.json").read_text(encoding="utf-8")
    for field in ("verdict", "findings", "code", "message", "fix", "error", "kind", "total", "active", "weights_bytes"):
        assert f'"{field}"' in schema and re.search(rf"\b{field}\b", CURRENT)


def test_it_is_not_among_the_usual(command: Command) -> None:
    assert "skill" not in command("-h").out
