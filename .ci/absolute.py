"""`python absolute.py BASE FILE`: makes the relative links of a Markdown file lead to BASE, in place.

A package index shows README.md away from the files that it links; BASE is where these are, at the version built.
"""

import re
import sys
from pathlib import Path


def absolute(text: str, base: str) -> str:
    """The text with every link absolute but those within it."""
    return re.sub(r"(\]\()(?![a-z]+:|#)([^)\s]+\))", lambda link: f"{link[1]}{base.rstrip('/')}/{link[2]}", text)


if __name__ == "__main__":
    base, name = sys.argv[1:]
    Path(name).write_text(absolute(Path(name).read_text(encoding="utf-8"), base), encoding="utf-8")
