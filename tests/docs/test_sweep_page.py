"""The page on sweeps tells the truth: its examples are run."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml
from paths import ROOT

from hfcount.cli.commands import COMMANDS, find
from hfcount.fetcher.endpoint import is_repo_id
from hfcount.sweeping.log import COMMON, EVENTS
from hfcount.sweeping.rows import COLUMNS, FINDING

TEXT = (ROOT / "hfcount" / "docs" / "sweep.md").read_text()
SHELL = [line for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines()]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder, but for the recordings."""
    folder = tmp_path_factory.mktemp("here")
    (folder / "fixtures").symlink_to(ROOT / "fixtures")
    return folder


def _shell(command: str, here: Path) -> str:
    script = f'hfcount() {{ "{sys.executable}" -m hfcount "$@"; }}\n{command}'
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-c", script], cwd=here, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


@pytest.mark.long
def test_what_is_shown_is_what_is_printed(here: Path) -> None:
    for block in re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL):
        commands = re.findall(r"^\$ (.+)$", block, re.MULTILINE)
        assert "".join(f"$ {command}\n{_shell(command, here)}" for command in commands) == block


def test_queries_find_what_the_page_is_about(here: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="no duckdb; the extra `test` brings it")
    pytest.importorskip("pyarrow", reason="no pyarrow; the extra `sweep` brings it")
    _shell("hfcount sweep rows --tree fixtures", here)
    (block,) = re.findall(r"```sql\n(.*?)```", TEXT, re.DOTALL)
    counts, errors, sizes = [query for query in block.split(";") if query.strip()]
    with duckdb.connect() as base:
        base.execute(f"SET file_search_path = '{here}'")
        assert base.sql(counts).fetchall() == [("verified", 8), ("explained", 1)]
        assert base.sql(errors).fetchall() == []
        assert dict(base.sql(sizes).fetchall())["mixtral"] == 46_702_792_704


@pytest.mark.long
@pytest.mark.parametrize("needed", ["joblib", "ray"])
def test_python_is_run(needed: str, here: Path) -> None:
    pytest.importorskip(needed, reason=f"{needed} is not installed: pip install {needed}")
    (block,) = [
        one
        for one in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
        if re.search(rf"^(import|from) {needed}\b", one, re.M)
    ]
    (here / "example.py").write_text(block)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "example.py"], cwd=here, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.parametrize("line", [line for line in SHELL if line.startswith("hfcount sweep")])
def test_every_command_parses(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models.txt").write_text("Qwen/Qwen3-32B\n")
    words = [word.replace("/data/checkpoints", str(tmp_path)) for word in shlex.split(line)[2:]]
    given = find("sweep").make_context("hfcount sweep", words).params
    assert given["names"][0] == "rows"


def test_every_column_is_there() -> None:
    assert [name for name in (*COLUMNS, *FINDING) if f"`{name}`" not in TEXT] == []


def test_every_line_of_the_log_is_there() -> None:
    said = TEXT.partition("## The log")[2].partition("\n## ")[0]
    cells = dict(re.findall(r"^\| `(\w+)` \| (`.*) \|$", said, re.MULTILINE))
    assert [*cells] == [*EVENTS]
    for event, fields in EVENTS.items():
        assert [name for name in fields if f"`{name}`" not in cells[event]] == []
    assert [name for name in COMMON if f"`{name}`" not in said] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_help(name: str) -> None:
    assert [one.name for one in find(name).params if isinstance(one, click.Option) and not one.help] == []


# The weekly sweep

WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "sweep.yml").read_text())
WELL_KNOWN = [line for line in (ROOT / ".github" / "well-known.txt").read_text().splitlines() if line[0] != "#"]


def test_about_a_hundred_repos_are_well_known() -> None:
    assert len(set(WELL_KNOWN)) == len(WELL_KNOWN)
    assert 100 <= len(WELL_KNOWN) <= 120
    assert [name for name in WELL_KNOWN if not is_repo_id(name) or "/" not in name] == []


@pytest.mark.long
def test_the_weekly_sweep_fails_on_a_formula_that_a_checkpoint_contradicts(here: Path) -> None:
    steps = [step["run"] for step in WORKFLOW["jobs"]["sweep"]["steps"] if "hfcount" in step.get("run", "")]
    swept, said, checked = [step for step in steps if step.startswith("hfcount")]
    assert ".github/well-known.txt" in swept
    (here / "names.txt").write_text("fixtures/Qwen/Qwen3-8B\n")  # whose weights are not there
    _shell(swept.replace("sweep rows", "sweep weekly").replace(".github/well-known.txt", "names.txt"), here)
    summed = _shell(said.replace("sweep rows", "sweep weekly").partition(" >>")[0], here)
    assert "| mismatch | 1 | 10.0 % |" in summed
    line = [sys.executable, "-m", *shlex.split(checked.replace("sweep rows", "sweep weekly"))]
    done = subprocess.run(line, cwd=here, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert (done.returncode, done.stdout.startswith("fixtures/Qwen/Qwen3-8B: HF005 ")) == (1, True)
    line = [sys.executable, "-m", *shlex.split(checked)]
    done = subprocess.run(line, cwd=here, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
