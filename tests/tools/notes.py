"""Prints the notes of a release, which are its section of the changes page: `python tests/tools/notes.py VERSION`.

Links are made to lead to the pages of that version. Fails where the section is missing, empty, or of a version that is
said to be not yet released; `--draft` prints that, too.
"""

import argparse
import os
import re
from pathlib import Path

from hfcount.version import REPOSITORY

ROOT = Path(__file__).parents[2]
CHANGES = ROOT / ".github" / "CHANGELOG.md"


def notes(text: str, version: str, draft: bool = False) -> str:
    """The section of a version, without its heading.

    Raises:
        ValueError: there is none, or it is not ready.
    """
    section = re.search(rf"^## {re.escape(version)}(, [^\n]*)?\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if section is None or not section[2].strip():
        raise ValueError(f"the changes page has no section ## {version}, or nothing in it")
    if "not yet released" in (section[1] or "") and not draft:
        raise ValueError(f"the changes page says of {version} that it is not yet released: write the date there")
    return section[2].strip() + "\n"


def absolute(text: str, version: str) -> str:
    """The text with its relative links, which begin in .github, as addresses of the version."""

    def address(link: re.Match[str]) -> str:
        path, _, anchor = link[2].partition("#")
        inside = os.path.normpath(os.path.join(".github", path))
        return f"{link[1]}{REPOSITORY}/blob/v{version}/{inside}{'#' + anchor if anchor else ''})"

    return re.sub(r"(\]\()(?![a-z]+:|#)([^)\s]+)\)", address, text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version")
    parser.add_argument("--draft", action="store_true")
    given = parser.parse_args()
    try:
        print(absolute(notes(CHANGES.read_text(encoding="utf-8"), given.version, given.draft), given.version), end="")
    except ValueError as error:
        raise SystemExit(str(error)) from None
