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
from pathlib import Path

from blocks import BLOCKS, DOCS, ROOT

README = ROOT / "README.md"
PAGES = [README, *sorted(ROOT.glob(".github/*.md")), *sorted(DOCS.glob("*.md"))]


def generated(text: str) -> str:
    """The page with every generated block written anew."""
    return re.sub(
        r"(<!-- generated: (\w+) -->\n)(.*?)(<!-- end -->)",
        lambda block: f"{block[1]}{_console(block[3]) if block[2] == 'console' else BLOCKS[block[2]]()}\n{block[4]}",
        text,
        flags=re.DOTALL,
    )


def _console(block: str) -> str:
    shown = [f"$ {command}\n{shell(command)}" for command in re.findall(r"^\$ (.+)$", block, re.MULTILINE)]
    return "```console\n" + "\n\n".join(shown) + "\n```"


def shell(command: str) -> str:
    """What a command prints to somebody who has hfcount installed and stands in the project's folder."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PATH": path, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], cwd=ROOT, env=environment, capture_output=True, encoding="utf-8"
    )
    if done.returncode > 1 or done.stderr or not done.stdout:  # 1 is a mismatch, which pages show, too
        raise RuntimeError(f"{command}: exit {done.returncode}: {done.stderr}")
    return done.stdout.strip("\n")


PICTURES = {DOCS / "components.svg": False, DOCS / "components-dark.svg": True}
"""The pictures of the pages, and whether they are on a dark ground."""

_SERIES = ("0.6B", "1.7B", "4B", "8B", "32B", "30B-A3B", "235B-A22B")


def picture(dark: bool) -> bytes:
    """The Qwen3 models, which differ in size alone, and those with experts, whole and active."""
    from hfcount.fetcher import Request
    from hfcount.pipeline import Options, inspect
    from hfcount.reporters.plots import draw

    entries = json.loads((ROOT / "fixtures" / "published.json").read_text(encoding="utf-8"))
    configs = {entry["model"]: entry["config"] for entry in entries}
    with tempfile.TemporaryDirectory() as folder:
        for name in (names := [f"Qwen/Qwen3-{size}" for size in _SERIES]):
            path = Path(folder) / name / "config.json"
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps(configs[name]))
        reports = [inspect(Request(name, fixtures=Path(folder)), Options("config")) for name in names]
    return draw(reports, "svg", dark)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(generated(page.read_text()))
    for path, dark in PICTURES.items():
        path.write_bytes(picture(dark))
