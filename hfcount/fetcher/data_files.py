"""Locates the weight files on this machine, and the checksums that the Hub lists for them."""

import os
import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from hfcount.errors import FetchError
from hfcount.fetcher import files
from hfcount.fetcher.files import FolderReader
from hfcount.fetcher.interface import Documents, Request, label
from hfcount.text import plural, printable

_SHA256 = re.compile(r"[0-9a-f]{64}")
_DOWNLOADS = Path(".cache", "huggingface", "download")
_SHORT = 1_000  # bytes: what is kept of a download is shorter
_UP = 4  # folders above a file in which the copy of a repo may begin
_SLACK = 1.0  # seconds: huggingface_hub takes a file for changed that was written later than this after its download


class ListedChecksum(NamedTuple):
    """The sha256 that the Hub lists for a file; `later`: whether the file was written after its download."""

    sha256: str
    later: bool


def data_folder(request: Request, documents: Documents, wanted: Collection[str]) -> Path:
    """The folder on this machine that has some files of a checkpoint.

    Raises:
        FetchError: NotCached or NoSuchFile, where one of them is not there; the message says what to do.
    """
    reader = documents.place.reader if documents.place else None
    folder = reader.folder if isinstance(reader, FolderReader) else _snapshot(request, documents.revision)
    absent = [name for name in sorted(wanted) if folder is None or not os.path.isfile(folder / name)]
    if folder is not None and not absent:
        return folder
    of_a_repo = documents.source in ("hub", "cache")
    if of_a_repo:
        revision = f" --revision {printable(documents.revision)}" if documents.revision else ""
        raise FetchError(
            "NotCached",
            f"--depth data reads local files, but {plural(len(absent), 'weight file')} of"
            f" {label(request.path, documents.revision)} are not in its cache. Download them with"
            f" `hf download {printable(request.model)}{revision}`, and run again.",
        )
    raise FetchError(
        "NoSuchFile",
        f"--depth data needs {printable(absent[0])}, which is missing. Either it was deleted meanwhile, or"
        f" {printable(documents.model)} is a recording of headers: then name the checkpoint itself.",
    )


def _snapshot(request: Request, commit: str | None) -> Path | None:
    """The folder of a commit in the standard cache."""
    from hfcount.fetcher.endpoint import settings

    constants = settings()
    if commit is None:
        return None
    repo = constants.REPO_ID_SEPARATOR.join(("models", *request.model.split("/")))
    cache: Path = Path(constants.HF_HUB_CACHE) / repo / "snapshots" / commit
    return cache / request.subfolder if request.subfolder else cache


def listed_checksum(path: Path) -> ListedChecksum | None:
    """The checksum that the Hub lists for a downloaded file, if the download kept it.

    The cache calls a large file by its sha256; `hf download --local-dir` notes it in `.cache/huggingface`.
    """
    target = Path(os.path.realpath(path))
    if path.is_symlink() and target.parent.name == "blobs" and _SHA256.fullmatch(target.name):
        return ListedChecksum(target.name, False)
    for parent in [*path.absolute().parents][:_UP]:
        kept = parent / _DOWNLOADS / f"{path.absolute().relative_to(parent)}.metadata"
        with suppress(OSError, ValueError, IndexError):
            if (raw := files.beginning(kept, _SHORT)) is not None:
                _, etag, when = raw.decode("ascii").split()[:3]
                later = path.stat().st_mtime - _SLACK > float(when)
                return ListedChecksum(etag, later) if _SHA256.fullmatch(etag) else None
    return None
