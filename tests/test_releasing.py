"""What a release is made of, tried before there is one: notes, files, the action, the image, one file, workflows."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.util import module_from_spec, spec_from_file_location
from io import BytesIO
from pathlib import Path
from types import ModuleType

import notes
import pytest
import yaml
from paths import ROOT

from hfcount.version import REPOSITORY, __version__

RELEASE = "; `pip install -e '.[release]'` brings it"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MOST_COMPRESSED = 60_000_000
"""Bytes that the image may add to that of Python, which has some 20 MB compressed."""


def _module(path: Path) -> ModuleType:
    spec = spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _run(*words: str | Path, **environment: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.upper().endswith("_PROXY")}
    done = subprocess.run(
        words, cwd=ROOT, env=kept | environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode and re.search("Failed to establish|Name or service|No matching distribution", done.stdout):
        pytest.skip("the package index cannot be reached")
    assert done.returncode == 0, done.stdout
    return done.stdout


# Step 1: the notes, which are the changes


CHANGES = """# Changes

## 1.1.0, not yet released

- Next.

## 1.0.0, 3 May

- See [pages](../hfcount/docs/ci.md#any-ci).

## 0.9.0
"""


def test_notes_are_the_section_of_the_version() -> None:
    assert notes.absolute(notes.notes(CHANGES, "1.0.0"), "1.0.0") == (
        f"- See [pages]({REPOSITORY}/blob/v1.0.0/hfcount/docs/ci.md#any-ci).\n"
    )


@pytest.mark.parametrize(("version", "words"), [("1.1.0", "not yet"), ("0.9.0", "no section"), ("1.0", "no section")])
def test_what_is_not_ready_is_not_released(version: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        notes.notes(CHANGES, version)


def test_the_version_has_its_notes() -> None:
    text = notes.absolute(notes.notes(notes.CHANGES.read_text(), __version__, draft=True), __version__)
    links = re.findall(rf"{re.escape(REPOSITORY)}/blob/v{re.escape(__version__)}/([^)#]+)", text)
    assert [link for link in links if not (ROOT / link).exists()] == []
    assert not re.search(r"\]\((?!https://)", text)


# Step 2: the files for the package index


@pytest.mark.long
def test_the_files_of_a_release(tmp_path: Path) -> None:
    pytest.importorskip("build", reason=f"build is not installed{RELEASE}")
    pytest.importorskip("twine", reason=f"twine is not installed{RELEASE}")
    _run(sys.executable, "-m", "build", "--outdir", tmp_path, ROOT)
    wheel, source = (next(tmp_path.glob(f"*.{suffix}")) for suffix in ("whl", "tar.gz"))
    _run(sys.executable, "-m", "twine", "check", "--strict", wheel, source)
    names = {*zipfile.ZipFile(wheel).namelist()}
    for path in (ROOT / "hfcount").rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            assert path.relative_to(ROOT).as_posix() in names
    with tarfile.open(source) as archive:
        within = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "LICENSE", "pyproject.toml", "hfcount/py.typed", "PKG-INFO"} <= within


# Step 5: the action as the Marketplace wants it


def test_the_folder_for_the_marketplace_is_complete(tmp_path: Path) -> None:
    _module(ROOT / ".ci" / "marketplace.py").write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"action.yml", "run.py", "source.txt", "README.md", "LICENSE"}
    action = yaml.safe_load((tmp_path / "action.yml").read_text())
    assert action["name"] and action["description"] and action["branding"].keys() == {"icon", "color"}
    assert [step["uses"] for step in action["runs"]["steps"] if re.search("@v?[0-9.]+$", step.get("uses", ""))] == []
    ran = " ".join(step.get("run", "") for step in action["runs"]["steps"])
    names = re.findall(r"\$GITHUB_ACTION_PATH/([\w.]+)", ran)
    assert names
    assert all((tmp_path / name).is_file() for name in names)
    run = _module(tmp_path / "run.py")
    assert run.source() == f"hfcount @ {REPOSITORY}/archive/v{__version__}.zip"
    assert run.named().decode().strip() == run.source()
    assert f"hfcount-action@v{__version__}" in (tmp_path / "README.md").read_text()


def test_the_action_here_installs_what_is_around_it() -> None:
    assert Path(_module(ROOT / ".github" / "actions" / "hfcount" / "run.py").source()) == ROOT


# Besides: the image, one file, and the workflows themselves


@pytest.mark.long
def test_what_the_image_has_is_small_and_works(tmp_path: Path) -> None:
    """Of the recipe, what it installs: an engine of containers is not needed."""
    _run("sh", ROOT / ".github" / "container" / "install", ROOT, tmp_path / "hfcount")
    command = tmp_path / "hfcount" / "bin" / "hfcount"
    assert "verified" in _run(command, "--fixtures", ROOT / "fixtures", "Qwen/Qwen3-32B", PYTHONPATH="")
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as archive:
        archive.add(tmp_path / "hfcount")
    assert packed.tell() < MOST_COMPRESSED


def test_the_image_is_run_by_nobody_in_particular() -> None:
    text = (ROOT / ".github" / "container" / "Containerfile").read_text()
    last = text.rpartition("\nFROM ")[2]
    assert re.search(r"^USER [1-9]\d*$", last, re.MULTILINE)
    for source in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE):
        assert [name for name in source.split() if not (ROOT / name).exists()] == []


@pytest.mark.long
def test_one_file_holds_it_with_its_dependencies(tmp_path: Path) -> None:
    pytest.importorskip("shiv", reason=f"shiv is not installed{RELEASE}")
    file = tmp_path / "hfcount.pyz"
    _run("sh", ROOT / ".ci" / "pyz", ROOT, file)
    empty = {"PYTHONPATH": "", "SHIV_ROOT": str(tmp_path / "unpacked")}
    assert _run(sys.executable, "-S", file, "--version", **empty) == f"hfcount {__version__}\n"
    assert "verified" in _run(sys.executable, "-S", file, "--fixtures", ROOT / "fixtures", "Qwen/Qwen3-32B", **empty)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_name_actions_by_commit_and_ask_for_little(path: Path) -> None:
    text = path.read_text()
    used = re.findall(r"uses: ([^\s./][^\s]*)(.*)", text)
    assert [name for name, _ in used if not re.search("@[0-9a-f]{40}$", name)] == []
    assert [name for name, remark in used if not re.fullmatch(r" # v\d+\.\d+\.\d+", remark)] == []
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}


def test_a_release_is_attested_before_it_is_published() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())["jobs"]
    assert {name: jobs[name].get("needs") for name in jobs} == {
        "build": None,
        "attest": "build",
        "publish": ["build", "attest"],
        "release": "publish",
    }
    assert "password" not in json.dumps(jobs) and "secrets." not in json.dumps(jobs)


@pytest.mark.parametrize("name", ["release.yml", "scorecard.yml"])
def test_what_makes_a_release_is_installed_by_version(name: str) -> None:
    text = (ROOT / ".github" / "workflows" / name).read_text()
    installed = [line.split() for line in re.findall(r"(?<!/)pip install (.*)", text)]
    assert installed
    pinned = re.findall(r"^([\w-]+)==[\d.]+$", (ROOT / ".ci" / "release.txt").read_text(), re.MULTILINE)
    for option, file, *tools in installed:
        assert (option, file) == ("-c", ".ci/release.txt")
        assert tools and {*tools} <= {*pinned}


@pytest.mark.long
def test_zizmor_finds_nothing() -> None:
    command = shutil.which("zizmor")
    if command is None:
        pytest.skip(f"zizmor is not installed{RELEASE}")
    assert "No findings to report" in _run(command, "--offline", "--no-progress", ROOT / ".github")
