"""All files of a checkpoint, with their sizes and sha256 digests: of a folder, the cache or a repo."""

import hashlib
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from hfcount.errors import FetchError
from hfcount.fetcher import files, folder
from hfcount.fetcher.files import FolderReader
from hfcount.fetcher.interface import Documents, Request, label
from hfcount.fetcher.location import FileReader
from hfcount.text import printable

_AT_ONCE = 4
_CHUNK = 4 << 20  # bytes of one range
_PIECE = 1 << 18  # bytes of a local file that are read at once
_SMALL = 20_000_000  # bytes of a file of the Hub that is read where no sha256 is listed

Reading = Callable[[int], Callable[[int], None]]
"""Called with the bytes of all files to read; returns what several threads call with those of each file read."""


class CheckpointFiles(NamedTuple):
    """The files of one checkpoint; those whose paths have a hidden part are left out.

    Args:
        sizes: bytes by path; None of a broken link, of what is no file, and where nothing tells.
        listed: the sha256 that the Hub lists, by path.
        folder: the folder on this machine; None of a repo.
        repo, revision: the repo and its commit, of the Hub and of the cache.
        named: the file, or the end of its name, that MODEL names.
    """

    sizes: Mapping[str, int | None]
    reader: FileReader
    listed: Mapping[str, str]
    folder: Path | None = None
    repo: str | None = None
    revision: str | None = None
    named: str | None = None

    def document(self, name: str) -> bytes:
        """The bytes of a small file; raises FetchError where it cannot be read."""
        return b"".join(self._chunks(name))

    def digests(self, wanted: Collection[str], reading: Reading) -> dict[str, str | FetchError]:
        """The sha256 of files, or why one cannot be read; what the Hub lists is not read."""
        read = reading(sum(self.sizes[name] or 0 for name in wanted if name not in self.listed))

        def digest(name: str) -> str | FetchError:
            if name in self.listed:
                return self.listed[name]
            try:
                sha256 = self._digest(name)
            except FetchError as error:
                return error
            read(self.sizes[name] or 0)
            return sha256

        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return dict(zip(wanted, pool.map(digest, wanted), strict=True))

    def _digest(self, name: str) -> str:
        if self.folder is not None:
            with files.opened(self.folder / name, printable(name)) as file:
                if file is None:
                    text = f"{printable(name)} is a broken link, or was deleted meanwhile."
                    raise FetchError("UnreadableFile", f"{text} Put the file back, and run hfcount again.")
                sha256 = hashlib.sha256()
                while chunk := file.read(_PIECE):  # None of a file of the system that has nothing to read yet
                    sha256.update(chunk)
                return sha256.hexdigest()
        sha256 = hashlib.sha256()
        for chunk in self._chunks(name):
            sha256.update(chunk)
        return sha256.hexdigest()

    def _chunks(self, name: str) -> Iterator[bytes]:
        size = self.sizes[name]
        if size is None:
            raise FetchError("UnreadableFile", f"{printable(name)} is not a file that can be read.")
        if self.folder is None and size > _SMALL:
            text = f"The Hub lists no sha256 for {printable(name)} of {size:,} bytes, and hfcount does not download it."
            raise FetchError("HubError", f"{text} Download the repo, and name its folder.")
        for start in range(0, size, _CHUNK):
            chunk = self.reader.range(name, start, min(start + _CHUNK, size))
            if len(chunk) != min(_CHUNK, size - start):
                raise FetchError("UnreadableFile", f"{printable(name)} changed while hfcount read it. Run again.")
            yield chunk


def checkpoint_files(request: Request) -> CheckpointFiles:
    """The files of what a request names.

    Raises:
        FetchError: it cannot be read, or is a recording or a config alone.
    """
    if request.fixtures is not None:
        raise FetchError("BadName", "a recording has no files of weights. Name the checkpoint itself.")
    if folder.takes(request):
        path = folder.local_path(request.model)
        if path.suffix == ".json" and not os.path.isdir(path):
            raise FetchError("BadName", f"{printable(request.model)} is one file. Name the folder of the checkpoint.")
        return _of_folder(path / (request.subfolder or ""), request)
    from hfcount.fetcher import cache

    return _of_cache(request) if cache.takes(request) else _of_hub(request)


def _of_folder(root: Path, request: Request, repo: str | None = None, revision: str | None = None) -> CheckpointFiles:
    if not os.path.isdir(root):
        from hfcount.fetcher.suggestions import no_folder

        raise FetchError("NoSuchFolder", no_folder(root, request.model))
    sizes = dict(_walked(root, "", ()))
    return CheckpointFiles(sizes, FolderReader(root), {}, root, repo, revision, request.file)


def _walked(root: Path, inner: str, above: tuple[str, ...]) -> Iterator[tuple[str, int | None]]:
    """The files of a folder and of those in it, links to folders followed; `above` are the real paths passed."""
    place = os.path.realpath(root / inner)
    if place in above:  # a link to a folder that it lies in
        return
    try:
        entries = sorted(os.scandir(root / inner), key=_name)
    except OSError as error:
        raise FetchError(
            "UnreadableFile", f"{printable(str(root / inner))} cannot be read: {error.strerror}."
        ) from None
    for entry in entries:
        path = f"{inner}{entry.name}"
        if entry.name.startswith("."):
            continue
        if _is_folder(entry):
            yield from _walked(root, f"{path}/", (*above, place))
        else:
            yield path, _size(entry)


def _name(entry: "os.DirEntry[str]") -> str:
    return entry.name


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _size(entry: "os.DirEntry[str]") -> int | None:
    try:
        return entry.stat().st_size if entry.is_file() else None
    except OSError:
        return None


def _of_cache(request: Request) -> CheckpointFiles:
    """The snapshot of a repo in the standard cache; its files are read, whatever they are called there."""
    from hfcount.fetcher import cache

    documents = cache.read(request.replace(cache=False))
    place = documents.place if isinstance(documents, Documents) else documents
    if place is None or not isinstance(place.reader, FolderReader):
        text = f"the files of {label(request.path, documents.revision)} are not in the cache. Download it first."
        raise FetchError("NotCached", text)
    return _of_folder(place.reader.folder, request, request.model, documents.revision)


def _of_hub(request: Request) -> CheckpointFiles:
    from hfcount.fetcher import opened
    from hfcount.fetcher.checksums import contents

    listing = contents(request.replace(file=None))
    documents = opened(request if listing is None else request.replace(revision=listing.commit))
    place = documents.place if isinstance(documents, Documents) else documents
    if listing is None or place is None:
        text = f"the files of {label(request.path, request.revision)} are not listed with their digests."
        raise FetchError("HubError", f"{text} Download the repo, and name its folder.")
    shown = {name: content for name, content in listing.files.items() if not f"/{name}".count("/.")}
    sizes = {name: content.size for name, content in shown.items()}
    listed = {name: content.sums["sha256"] for name, content in shown.items() if "sha256" in content.sums}
    return CheckpointFiles(sizes, place.reader, listed, None, request.model, listing.commit, request.file)
