"""Parses the Hub's listing of a repo: its commit, and the names and sizes of its files."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hfcount.errors import DocumentError
from hfcount.formats.json import Document, parse_value

COMMIT = re.compile(r"[0-9a-f]{40}")

_NEXT = re.compile(r'<([^<>]*)>\s*;[^,<]*\brel="?next"?', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a repo at one commit.

    Args:
        sizes: bytes of each file by its name; None where the listing does not say.
        pages: what the Hub answered, of the whole repo; empty where nothing was asked.
    """

    commit: str
    sizes: Mapping[str, int | None]
    pages: Sequence[Document] = ()

    def below(self, folder: str | None) -> "Listing":
        """The files of one folder of the repo, by their names there."""
        if not folder:
            return self
        prefix = f"{folder}/"
        inner = {name[len(prefix) :]: size for name, size in self.sizes.items() if name.startswith(prefix)}
        return Listing(self.commit, inner, self.pages)


def read_model(document: Document) -> tuple[str | None, dict[str, int | None]]:
    """The commit and the files of `/api/models/{repo}/revision/{revision}?blobs=true`.

    Raises:
        DocumentError: it is not such a listing.
    """
    value = parse_value(document)
    commit, siblings = (value.get("sha"), value.get("siblings")) if isinstance(value, dict) else (None, None)
    if not isinstance(siblings, list):
        raise DocumentError(f"{document.where} lists no files.")
    sound = isinstance(commit, str) and COMMIT.fullmatch(commit)
    return commit if sound else None, _files(document, siblings, "rfilename")


def read_tree(document: Document) -> tuple[dict[str, int | None], list[str]]:
    """The files of one page of `/api/models/{repo}/tree/{revision}`, and the folders.

    Raises:
        DocumentError: it is not such a page.
    """
    value = parse_value(document)
    if not isinstance(value, list):
        raise DocumentError(f"{document.where} is not a list of files.")
    folders = [entry for entry in value if isinstance(entry, dict) and entry.get("type", "file") == "directory"]
    entries = [entry for entry in value if not isinstance(entry, dict) or entry.get("type", "file") == "file"]
    return _files(document, entries, "path"), list(_files(document, folders, "path"))


def next_page(link: str) -> str | None:
    """Where the next page is, by a Link header."""
    match = _NEXT.search(link)
    return match[1] if match else None


def _files(document: Document, entries: list[Any], key: str) -> dict[str, int | None]:
    files: dict[str, int | None] = {}
    for entry in entries:
        name = entry.get(key) if isinstance(entry, dict) else None
        if not isinstance(name, str) or len(name) > 1_000 or not {"", ".", ".."}.isdisjoint(name.split("/")):
            raise DocumentError(f"{document.where} lists a file without a name that stays inside the repo.")
        size = entry.get("size")
        files[name] = size if type(size) is int and 0 <= size < 2**63 else None
    return files
