"""Writes the repository's address wherever it stands: `python tests/tools/address.py`.

Files that cannot import it from hfcount/version.py: metadata, the README, the pages, the extension.
"""

import re
from pathlib import Path

from hfcount.version import REPOSITORY, __version__

ROOT = Path(__file__).parents[2]
OWNED = REPOSITORY.partition("github.com/")[2]
"""The owner and the name of the repository."""

FILES = [
    *(ROOT / name for name in ("pyproject.toml", "README.md")),
    *sorted(ROOT.glob(".github/*.md")),
    *sorted(ROOT.glob(".github/extension/*")),
    *sorted(ROOT.glob("hfcount/docs/**/*.md")),
]

_PLACES = (
    (r"(github\.com/)[\w.-]+/hfcount\b", rf"\g<1>{OWNED}"),
    (r"(uses: )[\w.-]+/hfcount(/\.github/actions/hfcount@)v[\d.]+", rf"\g<1>{OWNED}\g<2>v{__version__}"),
    (r"(github\.com/[\w.-]+/hfcount/archive/)v[\d.]*\d", rf"\g<1>v{__version__}"),
    (r"(github\.com/[\w.-]+/hfcount\n +rev: )v[\d.]*\d", rf"\g<1>v{__version__}"),
    (r"(?m)^(version = \")[\d.]+", rf"\g<1>{__version__}"),
    (r"(extensions install )[\w.-]+(/hf-count)", rf"\g<1>{OWNED.partition('/')[0]}\g<2>"),
)


def addressed(text: str) -> str:
    """The text with the address and the version as they are now."""
    for pattern, new in _PLACES:
        text = re.sub(pattern, new, text)
    return text


if __name__ == "__main__":
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        if addressed(text) != text:
            path.write_text(addressed(text), encoding="utf-8")
