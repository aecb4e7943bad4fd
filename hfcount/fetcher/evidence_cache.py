"""The cache of what runs have read of a Hub, by endpoint, repo and commit, in the format of --save.

A commit never changes, so cached files need no second request; the commit of a branch does. The folders are
in huggingface_hub's own cache of assets: assets/hfcount/<endpoint>/<repo>/refs/<revision> and .../<commit>/.
"""

import json
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, urlsplit
from zlib import crc32

from hfcount.errors import DocumentError, FetchError
from hfcount.fetcher import files
from hfcount.fetcher.fixtures import RecordedShards, recorded_pickles
from hfcount.fetcher.interface import CHAT, COMPANIONS, TOKENS, Documents, Pickles, Request, Shards, is_inside, label
from hfcount.fetcher.layout import CONFIG, HEADERS, INDEX
from hfcount.formats.json import Document, parse_object
from hfcount.formats.recording import read_recording, recorded_shard, recording
from hfcount.formats.safetensors import Shard
from hfcount.formats.samples import Samples
from hfcount.text import printable

_SUMS = "checksums.json"
_KEPT = (CONFIG, INDEX, *COMPANIONS)
MOST = 1 << 30
"""Bytes that are kept in all; beyond, what was used longest ago goes."""


@dataclass(frozen=True, slots=True)
class CachedEvidence:
    """What runs have read of a commit.

    Args:
        documents: by name.
        files: headers that were read, by file, as a recording has them.
        sizes: bytes of all files by name; None where they were never listed.
        samples: pieces of the weight files.
        complete: whether nothing was left out that a fresh listing contradicts.
        pickles: pickled files that were read, as a recording has them.
    """

    documents: Mapping[str, Document] = field(default_factory=dict)
    files: Mapping[str, Any] = field(default_factory=dict)
    sizes: Mapping[str, int | None] | None = None
    samples: Samples = field(default_factory=dict)
    complete: bool = True
    pickles: Mapping[str, Any] = field(default_factory=dict)

    def shards(self, otherwise: Shards | None = None, more: bool = False) -> RecordedShards:
        """Reads cached headers, and others by `otherwise`; `more`: there is more to keep."""
        shards = RecordedShards(self.files, self.sizes, otherwise, self.samples, self.pickles)
        shards.kept, shards.asked = frozenset((*self.files, *self.pickles)), more
        return shards

    def under(self, listed: Mapping[str, int | None]) -> "CachedEvidence":
        """The evidence that a fresh listing of the commit does not contradict, with the listed sizes."""
        excerpts = {*TOKENS, *CHAT}
        sizes = {name: None if name in excerpts else len(document.raw) for name, document in self.documents.items()}
        documents = {name: document for name, document in self.documents.items() if _alike(listed, name, sizes[name])}
        files = {name: entry for name, entry in self.files.items() if _alike(listed, name, entry.get("bytes"))}
        pickles = {name: entry for name, entry in self.pickles.items() if _alike(listed, name, entry.get("bytes"))}
        samples = {piece: digest for piece, digest in self.samples.items() if piece.file in files}
        counts = len(documents), len(files), len(pickles), listed
        complete = counts == (len(self.documents), len(self.files), len(self.pickles), self.sizes)
        return CachedEvidence(documents, files, listed, samples, complete, pickles)


def _alike(listed: Mapping[str, int | None], name: str, size: int | None) -> bool:
    """Whether a file is listed, and not with another size."""
    return name in listed and (size is None or listed[name] in (None, size))


def load(request: Request, endpoint: str, commit: str) -> CachedEvidence | None:
    """The cached evidence of a commit; None if there is none, or it is damaged."""
    kept = None
    with suppress(OSError, ValueError):  # there may be no place for a cache
        place = _repo(request, endpoint) / commit
        folder = place / (request.subfolder or "")
        with files.held(folder, alone=False):
            kept = _read(folder, label(request.path, commit), commit)
        os.utime(place)  # so that it counts as used
    return kept


def _read(folder: Path, named: str, commit: str) -> CachedEvidence | None:
    try:
        sums = files.read(folder / _SUMS)
        contents = {name: files.read(folder / name, f"{named} {name}") for name in _names(sums)}
        if sums is None or sums.raw != _sums({name: document.raw for name, document in contents.items() if document}):
            return None
        headers = contents.pop(HEADERS)
        kept = read_recording(headers) if headers else None
    except (FetchError, DocumentError, OSError, ValueError):
        return None
    if kept is None or kept.revision != commit:
        return None
    documents = {name: document for name, document in contents.items() if document}
    return CachedEvidence(documents, kept.files or {}, kept.sizes, kept.samples, pickles=kept.pickles)


def _names(sums: Document | None) -> list[str]:
    """The documents that may be kept: those of a name of their own, and the configs of modules."""
    others = parse_object(sums) if sums else {}
    return [*_KEPT, *(name for name in others if name not in (*_KEPT, HEADERS) and is_inside(name)), HEADERS]


def knows(request: Request, endpoint: str) -> bool:
    """Whether anything is kept of a repo."""
    with suppress(OSError, ValueError):
        return _repo(request, endpoint).is_dir()
    return False


def commit_of(request: Request, endpoint: str) -> str | None:
    """The commit that a branch or tag was at when it was last asked for."""
    with suppress(ValueError):
        return files.word(ref_of(request, endpoint)) or None
    return None


def keep(
    request: Request,
    endpoint: str,
    documents: Documents,
    shards: Mapping[str, Shard] | None,
    samples: Samples,
    pickles: Pickles = MappingProxyType({}),
) -> None:
    """Adds a run's evidence to the cache. It is not an error if the cache cannot be written."""
    commit = documents.revision
    if commit is None:
        return
    with suppress(OSError, ValueError):
        ref, folder = ref_of(request, endpoint), _repo(request, endpoint) / commit / (request.subfolder or "")
        if commit != request.revision and commit_of(request, endpoint) != commit:
            ref.parent.mkdir(parents=True, exist_ok=True)
            files.write(ref, commit.encode())
        elif commit != request.revision:
            os.utime(ref)  # it still is at that commit
        reader = documents.shards
        if isinstance(reader, RecordedShards) and not reader.asked:
            return  # all of it was here before
        known = folder.is_dir()
        folder.mkdir(parents=True, exist_ok=True)
        with files.held(folder):  # what another run writes between reading and writing would be lost
            before = _read(folder, "", commit) or CachedEvidence()
            for name, raw in _merged(documents, before, shards or {}, samples, pickles).items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                files.write(folder / name, raw)
        if not known:
            _forget_the_oldest(_root())


def _merged(
    documents: Documents, before: CachedEvidence, shards: Mapping[str, Shard], samples: Samples, pickles: Pickles
) -> Mapping[str, bytes]:
    """All files to keep: what was read of a commit stays, unless its listing now says otherwise."""
    sizes = before.sizes if documents.sizes is None else documents.sizes
    before = before if sizes is None else before.under(sizes)
    layout = documents.layout
    read = {layout.config: documents.config, layout.listing: documents.index, **documents.companions}
    names = dict.fromkeys([*_KEPT, *read, *before.documents])
    contents = {name: document.raw for name in names if (document := read.get(name) or before.documents.get(name))}
    others = {name: recorded_shard(name, entry) for name, entry in before.files.items() if name not in shards}
    kept = {**before.pickles, **recorded_pickles(pickles)}
    contents[HEADERS] = recording(
        documents.revision, {**others, **shards} or None, (), sizes, {**before.samples, **samples}, kept
    )
    return contents | {_SUMS: _sums(contents)}  # last, so that what is half written is not believed


def _sums(documents: Mapping[str, bytes]) -> bytes:
    """Checksums of what is kept: two runs may write at once, and disks fail."""
    return json.dumps({name: crc32(raw) for name, raw in documents.items()}).encode()


def clear() -> tuple[Path, int]:
    """Clears the cache; returns its folder and the bytes removed.

    Raises:
        FetchError: NotSaved, it cannot be removed.
    """
    root, size = measured()
    try:
        shutil.rmtree(root)
    except OSError as error:
        raise FetchError("NotSaved", f"the cache could not be cleared: {printable(str(error).rstrip('.'))}.") from None
    return root, size


def measured() -> tuple[Path, int]:
    """The folder of the cache, and its size in bytes.

    Raises:
        FetchError: NotSaved, it cannot be read.
    """
    try:
        root = _root()
        return root, sum(path.stat().st_size for path in root.rglob("*") if path.is_file())
    except (OSError, ValueError) as error:
        raise FetchError("NotSaved", f"the cache cannot be read: {printable(str(error).rstrip('.'))}.") from None


def _root() -> Path:
    from hfcount.fetcher.endpoint import settings

    settings()
    from huggingface_hub import cached_assets_path

    return cached_assets_path("hfcount", "", "")


def _repo(request: Request, endpoint: str) -> Path:
    """The folder of a repo. Each server has its own: https and http may be two, and so may ports."""
    parts = urlsplit(endpoint)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else str(parts.hostname)
    place = ("" if parts.scheme == "https" else f"{parts.scheme}:") + host + (f":{parts.port}" if parts.port else "")
    return _root() / quote(place + parts.path, safe="") / request.model.replace("/", "--")


def ref_of(request: Request, endpoint: str) -> Path:
    """The file that says which commit a branch or tag was at."""
    return _repo(request, endpoint) / "refs" / quote(request.revision or "main", safe="")


def _forget_the_oldest(root: Path) -> None:
    commits = [folder for folder in root.glob("*/*/*") if folder.name != "refs"]
    sizes = {folder: sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) for folder in commits}
    total = sum(sizes.values())
    for folder in sorted(commits, key=lambda folder: folder.stat().st_mtime):
        if total <= MOST:
            return
        gone = folder.with_name(f".{folder.name}.gone")
        folder.rename(gone)  # at once, so that nobody reads a part of it
        shutil.rmtree(gone, ignore_errors=True)
        total -= sizes[folder]
