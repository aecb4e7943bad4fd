"""The pages as a site: it is built, every page is on it, and no link or anchor leads nowhere."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from blocks import DOCS, ROOT

SITE = ROOT / ".github" / "site"
pytest.importorskip("mkdocs", reason="mkdocs is not installed: pip install '.[docs]'")
pytest.importorskip("material", reason="mkdocs-material is not installed: pip install '.[docs]'")


def _build(folder: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(SITE / "mkdocs.yml"), "-d", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONWARNINGS": "ignore"}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.long
def test_every_page_is_on_it_and_no_link_leads_nowhere(tmp_path: Path) -> None:
    done = _build(tmp_path / "site")
    assert done.returncode == 0, done.stderr
    for page in DOCS.rglob("*.md"):
        assert (tmp_path / "site" / page.relative_to(DOCS).with_suffix("") / "index.html").is_file(), page
    first = (tmp_path / "site" / "index.html").read_text()
    assert 'href="command/"' in first
    assert 'href="https://fonts' not in first


def test_its_repository_is_the_projects() -> None:
    values = yaml.safe_load((SITE / "mkdocs.yml").read_text())
    assert values["repo_url"].startswith("https://")
