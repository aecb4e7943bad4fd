"""README.md and the pages tell the truth: generated parts are current, links lead somewhere, everything is there."""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
import yaml
from address import FILES, addressed
from blocks import ROOT
from forking import Forks
from readme import DESK, DOCS, INDEX, PAGES, PICTURES, README, checked, generated, index, picture, shell
from tables import over

import hfcount
from hfcount.cli.main import main
from hfcount.verifier.rules import RULES
from hfcount.version import PAGES as PAGES_ADDRESS
from hfcount.version import REPOSITORY, SCHEMA

TEXT = README.read_text()
OPTIONS = [option for option in main.params if isinstance(option, click.Option)]
PAGE = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


@PAGE
def test_generated_parts_are_current(page: Path, _forks: Forks) -> None:
    def shown(command: str) -> str:
        run, _, sieve = command.partition(" | ")
        name, *words = shlex.split(run)
        if name != "hfcount" or re.search("[|&;<>$*]", run) or re.search("[|&;<>]", sieve):
            return shell(command)
        code, out, err = _forks.run(words, ROOT, os.environ | DESK, 600)
        if sieve:
            out = subprocess.run(["bash", "-c", sieve], input=out, capture_output=True, encoding="utf-8").stdout
        return checked(command, code, out, err)

    text = page.read_text()
    assert generated(text, shown) == text, "run `python tests/tools/update.py`"


def test_language_models_find_every_page() -> None:
    assert INDEX.read_text() == index(), "run `python tests/tools/update.py`"


def test_the_readme_is_short_and_shows_a_failure_first() -> None:
    assert len(TEXT.split()) <= 1000
    screen = TEXT.splitlines()[:40]
    assert [line for line in screen if line.startswith("error HF")]
    assert [line for line in screen if line.startswith("verified: ")]


@over("code", RULES)
def test_every_rule_has_a_section(code: str) -> None:
    text = (DOCS / "findings.md").read_text()
    section = text.partition(f"## {code} {RULES[code].name}\n")[2].partition("\n## ")[0]
    assert [part for part in ("**What**", "**Why**", "**Example**", "\n> ", "**Fix**") if part not in section] == []


@over("option", OPTIONS, [one.name for one in OPTIONS])
def test_every_option_has_help(option: click.Option) -> None:
    assert option.help
    assert option.opts[-1] in (DOCS / "command.md").read_text()


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.name)
def test_pictures_show_what_is_counted(path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install '.[plot]'")
    shown, drawn = (re.findall(r"<text[^>]*>(.*?)</text>", text) for text in (path.read_text(), _drawn(path)))
    assert shown == drawn, "run `python tests/tools/update.py`"
    assert f'"{path.name}"' in (DOCS / "formulas.md").read_text()


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
def test_the_commands_of_the_pages_show_what_they_are_about(number: str) -> None:
    consoles = [re.findall(r"```console\n(.*?)```", page.read_text(), re.DOTALL) for page in PAGES]
    assert [shown for found in consoles for shown in found if number in shown]


# Links


def _anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives headings."""
    heads = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL), re.MULTILINE)
    given = re.findall(r'^<a id="([\w-]+)"></a>$', page.read_text(), re.MULTILINE)
    return {*given, *(re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads)}


def _links(page: Path) -> list[str]:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)
    return [*re.findall(r"\]\(([^)\s]+)\)", text), *re.findall(r'(?:src|srcset|href)="([^"]+)"', text)]


@over("page", PAGES, [page.name for page in PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    for link in _links(page):
        link = re.sub(rf"^{re.escape(PAGES_ADDRESS)}", os.path.relpath(DOCS, page.parent), link)
        if re.match(r"https?://", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert not anchor or anchor in _anchors(target), link


def test_every_page_is_linked() -> None:
    linked = {(page.parent / link.partition("#")[0]).resolve() for page in PAGES for link in _links(page)}
    assert set(PAGES) - linked == {README} - linked


@over("page", PAGES, [page.name for page in PAGES])
def test_nothing_is_left_to_fill_in(page: Path) -> None:
    assert re.findall(r"OWNER|TODO|YOUR_|<org>/hf", page.read_text()) == []


# What lies beside the pages


def test_the_extension_is_called_as_hf_calls_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["scripts"]["hf-count"] == project["scripts"]["hfcount"]
    folder = ROOT / ".github" / "extension"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert isinstance(manifest["description"], str)
    extension = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    assert (extension["name"], extension["version"]) == ("hf-count", hfcount.__version__)
    assert extension["scripts"] == {"hf-count": project["scripts"]["hfcount"]}
    assert extension["dependencies"] == [f"hfcount @ {REPOSITORY}/archive/v{hfcount.__version__}.zip"]
    assert extension["requires-python"] == project["requires-python"]
    for where in (ROOT, folder):
        assert not (where / "hf-count").exists()  # hf would take it for a program


def test_the_address_is_the_same_wherever_it_stands() -> None:
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
    assert urls.keys() == {"Homepage", "Documentation", "Source", "Changelog", "Issues"}
    assert [url for url in urls.values() if not url.startswith(REPOSITORY)] == []
    for path in FILES:
        assert addressed(path.read_text()) == path.read_text(), "run `python tests/tools/update.py`"
    for url in (*urls.values(), PAGES_ADDRESS):
        (kind, _, file) = url.removeprefix(f"{REPOSITORY}/").partition("/main/")
        assert kind not in ("blob", "tree") or (ROOT / file).exists()
    assert (ROOT / SCHEMA.partition("/main/")[2]).exists()


def test_another_address_is_written_everywhere() -> None:
    other = REPOSITORY.replace("github.com/", "github.com/somebody.")
    for path in FILES:
        text = path.read_text().replace(REPOSITORY, other)
        assert addressed(text) == path.read_text()


def test_issue_templates_are_forms() -> None:
    folder = ROOT / ".github" / "ISSUE_TEMPLATE"
    forms = [yaml.safe_load(path.read_text()) for path in folder.glob("*.yml") if path.stem != "config"]
    assert forms
    for form in forms:
        assert form.keys() >= {"name", "description", "body"}
        assert {field["type"] for field in form["body"]} <= {"input", "textarea", "checkboxes", "markdown", "dropdown"}
        assert len({field["id"] for field in form["body"]}) == len(form["body"])


def test_links_lead_from_the_package_index_too(tmp_path: Path) -> None:
    copy, base = tmp_path / "README.md", "https://example.org/o/r/blob/v1"
    copy.write_text(TEXT)
    subprocess.run([sys.executable, ROOT / ".ci" / "absolute.py", base, copy], check=True)
    links = _links(README)
    absolute = [link if re.match("https?:|#", link) else f"{base}/{link}" for link in links]
    assert _links(copy) == absolute != links
    assert copy.read_text().replace(f"{base}/", "") == TEXT
