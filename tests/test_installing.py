"""What hfcount says to install a library by: the command for how it was itself installed, which does it."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from build import save_tiny
from paths import ROOT

from hfcount import version
from hfcount.version import REPOSITORY, __version__


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an environment, in which this process seems to run."""
    folder = tmp_path / "hfcount"
    folder.mkdir()
    monkeypatch.setattr(sys, "prefix", str(folder))
    monkeypatch.setattr(sys, "argv", ["hfcount"])
    return folder


RECEIPTS = {
    "a specifier": ('{ name = "jinja2", specifier = ">=3" }', "--with jinja2>=3"),
    "extras and a marker": (
        """{ name = "httpx", extras = ["http2"], marker = "sys_platform == 'linux'", specifier = ">=0.2,<1" }""",
        "--with httpx[http2]>=0.2,<1; sys_platform == 'linux'",
    ),
    "a folder": ('{ name = "ours", extras = ["a"], directory = "/a b" }', "--with /a b[a]"),
    "a wheel": ('{ name = "ours", path = "/ours-1-py3-none-any.whl" }', "--with /ours-1-py3-none-any.whl"),
    "an editable folder": ('{ name = "ours", editable = "/ours" }', "--with-editable /ours"),
    "a tag": ('{ name = "ours", git = "https://e.org/r.git?tag=v1" }', "--with ours @ git+https://e.org/r.git@v1"),
    "a folder of a repo": (
        '{ name = "ours", git = "https://e.org/r.git?subdirectory=a&rev=v1" }',
        "--with ours @ git+https://e.org/r.git@v1#subdirectory=a",
    ),
    "an archive": ('{ name = "ours", url = "https://e.org/v1.zip" }', "--with ours @ https://e.org/v1.zip"),
}


@pytest.mark.parametrize("row", RECEIPTS)
def test_uv_tool_keeps_the_source_and_what_was_installed_with_it(
    prefix: Path, monkeypatch: pytest.MonkeyPatch, row: str
) -> None:
    written, words = RECEIPTS[row]
    own = '{ name = "hfcount", extras = ["sweep", "plot"], directory = "/src" }'
    (prefix / "uv-receipt.toml").write_text(f"[tool]\nrequirements = [{own}, {written}]\n")
    monkeypatch.setattr(version, "_source", lambda extras: f"'/src{extras}'")
    command = version.install("numpy").strip("`")
    option, value = words.split(" ", 1)
    assert shlex.split(command) == ["uv", "tool", "install", "/src[sweep,plot]", option, value, "--with", "numpy"]


def test_pipx_injects_into_its_environment(prefix: Path) -> None:
    (prefix / "pipx_metadata.json").touch()
    assert version.install("numpy", "pyarrow") == "`pipx inject hfcount numpy pyarrow`"


def test_without_pip_uv_installs(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert version.install("numpy") == f"`uv pip install --python {sys.executable} numpy`"


def test_into_a_pyz_nothing_is_installed(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/opt/hfcount.pyz"])
    assert version.install("numpy") == f"`python3 -m pip install {REPOSITORY}/archive/v{__version__}.zip numpy`"


ORIGINS = {
    "an index": (None, "hfcount"),
    "a folder": ({"url": "file:///a%20b/src", "dir_info": {}}, "'/a b/src'"),
    "an editable folder": ({"url": "file:///src", "dir_info": {"editable": True}}, "--editable /src"),
    "an archive": ({"url": "https://e.org/v1.zip", "archive_info": {}}, "https://e.org/v1.zip"),
    "a commit": (
        {"url": "https://e.org/r.git", "vcs_info": {"vcs": "git", "commit_id": "abc", "requested_revision": "v1"}},
        "git+https://e.org/r.git@abc",
    ),
}


@pytest.mark.parametrize("origin", ORIGINS)
def test_the_source_is_what_was_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, origin: str) -> None:
    recorded, source = ORIGINS[origin]
    info = tmp_path / "hfcount-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hfcount\nVersion: 0.1\n")
    if recorded:
        (info / "direct_url.json").write_text(json.dumps(recorded))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert version._source() == source
    words = shlex.split(version._source("[sweep]"))
    address = shlex.split(source)[-1]
    assert words[-1] == (f"hfcount[sweep] @ {address}" if "://" in address else f"{address}[sweep]")


TOOLS = {
    "uv": (["tool", "install", "--quiet"], "uv tool install"),
    "pipx": (["install", "--quiet"], "pipx inject hfcount"),
}


@pytest.mark.long
@pytest.mark.parametrize("tool", TOOLS)
def test_the_command_that_is_named_installs_it(tmp_path: Path, tool: str) -> None:
    """Really: hfcount as a tool without jinja2, the command that it then names, and the page."""
    pytest.importorskip(tool, reason=f"{tool} is not installed: pip install '.[release]'")
    given, expected = TOOLS[tool]
    home = tmp_path / "home"
    places = {"PIPX_HOME": home / "pipx", "PIPX_BIN_DIR": home / "bin", "UV_TOOL_DIR": home / "uv"}
    places |= {"UV_TOOL_BIN_DIR": home / "bin", "HOME": home}
    kept = {name: value for name, value in os.environ.items() if not name.upper().endswith("_PROXY")}
    environment = kept | {name: str(path) for name, path in places.items()}
    save_tiny(tmp_path / "model")

    alone = {name: value for name, value in environment.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}

    def run(*words: str | Path) -> "subprocess.CompletedProcess[str]":
        path = environment if words[0] == sys.executable else alone
        return subprocess.run(words, cwd=tmp_path, env=path, capture_output=True, text=True, check=False)

    made = run(sys.executable, "-m", tool, *given, ROOT)
    if made.returncode and re.search("resolve|connect|No solution|timed out", made.stderr):
        pytest.skip("the package index cannot be reached")
    assert made.returncode == 0, made.stderr
    command = home / "bin" / "hfcount"
    asked = run(command, "model", "-o", "page.html")
    hint = re.search(r"`([^`]+)` installs it", " ".join(asked.stderr.split()))
    assert hint and hint[1].startswith(expected), asked.stderr
    done = run(sys.executable, "-m", *shlex.split(hint[1]))
    assert done.returncode == 0, done.stderr
    again = run(command, "model", "-o", "page.html")
    assert (again.returncode, again.stderr) == (0, "")
    assert (tmp_path / "page.html").stat().st_size > 10_000
