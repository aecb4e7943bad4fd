"""Writes the generated parts of README.md and of the pages: `python tests/tools/readme.py`.

Each generated block has a name, which says how it is made (blocks.py); `console` shows commands after `$` and their
output.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from blocks import BLOCKS, DOCS, ROOT

README = ROOT / "README.md"
PAGES = [README, *sorted(ROOT.glob(".github/*.md")), *sorted(DOCS.rglob("*.md"))]


def generated(text: str, shown_by: Callable[[str], str] | None = None) -> str:
    """The page with every generated block written anew; `shown_by` says what a command prints, in place of a shell."""
    show = shown_by or shell
    return re.sub(
        r"(<!-- generated: (\w+) -->\n)(.*?)(<!-- end -->)",
        lambda part: f"{part[1]}{_console(part[3], show) if part[2] == 'console' else BLOCKS[part[2]]()}\n{part[4]}",
        text,
        flags=re.DOTALL,
    )


def _console(block: str, show: Callable[[str], str]) -> str:
    shown = [f"$ {command}\n{show(command)}" for command in re.findall(r"^\$ (.+)$", block, re.MULTILINE)]
    return "```console\n" + "\n\n".join(shown) + "\n```"


def shell(command: str) -> str:
    """What a command prints to somebody who has hfcount installed and stands in the project's folder."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=ROOT,
        env={**os.environ, **DESK, "PATH": path},
        capture_output=True,
        encoding="utf-8",
    )
    return checked(command, done.returncode, done.stdout, done.stderr)


DESK = {"COLUMNS": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}


def checked(command: str, code: int, out: str, err: str) -> str:
    """What a command has printed.

    Raises:
        RuntimeError: it has failed.
    """
    if code > 1 or err or not out:  # 1 is a mismatch, which pages show, too
        raise RuntimeError(f"{command}: exit {code}: {err}")
    return out.strip("\n")


PICTURES = {DOCS / "components.svg": False, DOCS / "components-dark.svg": True}
"""The pictures of the pages, and whether they are on a dark ground."""

_SERIES = ("0.6B", "1.7B", "4B", "8B", "32B", "30B-A3B", "235B-A22B")


def picture(dark: bool) -> bytes:
    """The Qwen3 models, which differ in size alone, and those with experts, whole and active."""
    from hfcount.checkpoints.inspect import Options, inspect
    from hfcount.fetcher import Request
    from hfcount.report.renderers.plots import draw

    entries = json.loads((ROOT / "fixtures" / "published.json").read_text(encoding="utf-8"))
    configs = {entry["model"]: entry["config"] for entry in entries}
    with tempfile.TemporaryDirectory() as folder:
        for name in (names := [f"Qwen/Qwen3-{size}" for size in _SERIES]):
            path = Path(folder) / name / "config.json"
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps(configs[name]))
        reports = [inspect(Request(name, fixtures=Path(folder)), Options("config")) for name in names]
    return draw(reports, "svg", dark)


INDEX = DOCS / "llms.txt"


def index() -> str:
    """The pages for language models, in the form of llmstxt.org: what it is, then a link to each page."""
    what = README.read_text(encoding="utf-8").split("\n\n")[1].replace("\n", " ")
    lists = {"Start here": [DOCS / "agents.md"], "Tutorials": sorted(DOCS.glob("tutorials/*.md"))}
    lists["Pages"] = [page for page in sorted(DOCS.glob("*.md")) if page.name != "agents.md"]
    parts = [f"## {title}\n\n" + "\n".join(map(_entry, pages)) for title, pages in lists.items()]
    return "\n\n".join(["# hfcount", f"> {what}", *parts]) + "\n"


def _entry(page: Path) -> str:
    title = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
    return f"- [{title}]({page.relative_to(DOCS).as_posix()})"


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(generated(page.read_text()))
    INDEX.write_text(index())
    for path, dark in PICTURES.items():
        path.write_bytes(picture(dark))
