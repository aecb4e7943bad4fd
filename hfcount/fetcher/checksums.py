"""Checksums of a checkpoint's files: those that the Hub lists, and those that downloads keep."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha1
from pathlib import Path
from typing import Any, NamedTuple

from hfcount.errors import DocumentError, FetchError
from hfcount.fetcher import folder
from hfcount.fetcher.data_files import listed_checksum
from hfcount.fetcher.interface import Request
from hfcount.formats.json import Document, parse_value

_SHA256, _SHA1 = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{40}")
_SMALL = 10_000_000  # bytes of a local file whose checksum is computed
_DEEP = 4  # folders below one in which files are looked for


class Content(NamedTuple):
    """A file: its bytes, None if unknown, and checksums by their kind, such as `sha256`."""

    size: int | None
    sums: Mapping[str, str]

    def same(self, other: "Content") -> bool | None:
        """Whether another file has the same content; None where that cannot be told."""
        if None not in (self.size, other.size) and self.size != other.size:
            return False
        matches = [self.sums[kind] == other.sums[kind] for kind in self.sums if kind in other.sums and kind != "place"]
        if self.sums.get("place", "") == other.sums.get("place"):
            return True
        return all(matches) if matches else None


class Contents(NamedTuple):
    """The files of a checkpoint at one commit, None of a folder."""

    files: Mapping[str, Content]
    commit: str | None = None


def contents(request: Request) -> Contents | None:
    """The files of a folder or repo with their checksums, by path; None if unknown.

    Raises:
        FetchError: it could not be reached, or there is no such repo.
    """
    if request.fixtures is not None or request.file is not None:
        return None
    if folder.takes(request):
        files = of_folder(folder.local_path(request.model) / (request.subfolder or ""))
        return Contents(files) if files else None
    from hfcount.fetcher import cache

    if cache.takes(request):
        return None
    return _of_hub(request)


def _of_hub(request: Request) -> Contents | None:
    """By the listing, in one request for each of its pages."""
    from hfcount.fetcher import endpoint, hub
    from hfcount.fetcher.client import Denied
    from hfcount.fetcher.hub.listing import ListingQuery, pages
    from hfcount.fetcher.listing import read_model

    place = endpoint.endpoint()
    if not endpoint.is_repo_id(request.model):
        return None
    client = hub.asking(request.timeout, request.meter)
    query = ListingQuery(client, place, request.model, f"the listing of {request.path}")
    url = place.api(request.model, "revision", request.revision or "main") + "?blobs=true"
    try:
        listing = pages(query, url)
        commit, _ = read_model(listing[0])
        files = of_listing(listing, request.subfolder)
    except (Denied, DocumentError):  # whoever reads the repo says why
        return None
    finally:
        client.close()
    return Contents(files, commit) if commit else None


def of_listing(pages: Iterable[Document], subfolder: str | None = None) -> dict[str, Content]:
    """The files of a repo, or of a folder of it, by all pages of its listing; raises as `read_contents` does."""
    prefix = f"{subfolder}/" if subfolder else ""
    entries = (entry for page in pages for entry in read_contents(page))
    return {name[len(prefix) :]: content for name, content in entries if name.startswith(prefix)}


def read_contents(document: Document) -> Iterator[tuple[str, Content]]:
    """The files of `/api/models/{repo}/revision/{revision}?blobs=true`, as far as it names them.

    Raises:
        DocumentError: it is no JSON.
    """
    value = parse_value(document)
    entries = value.get("siblings") if isinstance(value, dict) else None
    for entry in entries if isinstance(entries, list) else ():
        name = entry.get("rfilename") if isinstance(entry, dict) else None
        if isinstance(name, str):
            size = entry.get("size")
            yield name, Content(size if type(size) is int else None, _sums(entry))


def _sums(entry: Mapping[str, Any]) -> dict[str, str]:
    lfs, oid = entry.get("lfs"), entry.get("blobId")
    sha256 = lfs.get("sha256") if isinstance(lfs, dict) else None
    if isinstance(sha256, str) and _SHA256.fullmatch(sha256):
        return {"sha256": sha256}  # the other one is that of a pointer
    return {"git": oid} if isinstance(oid, str) and _SHA1.fullmatch(oid) else {}


def of_folder(root: Path, wanted: Callable[[str], bool] = lambda _: True) -> dict[str, Content]:
    """By what a download has kept, and of small files by what they contain.

    Args:
        wanted: whether a file of this path is looked at.
    """
    contents: dict[str, Content] = {}
    with suppress(OSError):
        for place, folders, names in os.walk(root):
            folders[:] = [child for child in folders if child[0] != "."]
            depth = len(Path(place).relative_to(root).parts)
            if depth >= _DEEP:
                folders.clear()
            for name in names:
                path = Path(place, name)
                called = path.relative_to(root).as_posix()
                if wanted(called):
                    with suppress(OSError):
                        contents[called] = _of_file(path)
    return contents


def _of_file(path: Path) -> Content:
    facts = path.stat()
    sums = {"place": f"{facts.st_dev} {facts.st_ino}"}
    with suppress(FetchError):
        kept = listed_checksum(path)
        if kept and not kept.later:
            sums["sha256"] = kept.sha256
    if facts.st_size <= _SMALL and path.is_file():
        sums["git"] = sha1(b"blob %d\0" % facts.st_size + path.read_bytes()).hexdigest()
    return Content(facts.st_size, sums)
