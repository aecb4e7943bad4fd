"""What mkdocs needs beside the pages: README.md as the first page, and links to files of the repository."""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
PAGES = "hfcount/docs/"
LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)\s#]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Adds README.md as the first page."""
    files.append(File.generated(config, "index.md", content=(ROOT / "README.md").read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Turns links as the repository has them into those of the site, or to the repository."""
    path = "README.md" if page.file.src_uri == "index.md" else PAGES + page.file.src_uri
    return LINK.sub(
        lambda link: f"]({_target(link[1], path, page.file.src_uri, config.repo_url)}{link[2] or ''})", markdown
    )


def _target(link: str, path: str, page: str, repository: str) -> str:
    """Where a link of a file of the repository leads on the site.

    Raises:
        FileNotFoundError: the repository has no such file.
    """
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), link))
    if not (ROOT / target).exists():
        raise FileNotFoundError(f"{path} links to {link}, which is not there")
    if target == "README.md":
        target = PAGES + "index.md"
    if target.startswith(PAGES) and (ROOT / target).suffix:
        return posixpath.relpath(target.removeprefix(PAGES), posixpath.dirname(page) or ".")
    kind = "tree" if (ROOT / target).is_dir() else "blob"
    return f"{repository}/{kind}/main/{target}"
