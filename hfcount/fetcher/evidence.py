"""What runs have read of a Hub, kept by endpoint, repo and commit, in the form that --save writes.

A commit never changes, so what is here needs no second request; only which commit a branch is at does. The folders are
in huggingface_hub's own cache of assets: assets/hfcount/<endpoint>/<repo>/refs/<revision> and .../<commit>/.
"""

import json
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, urlsplit
from zlib import crc32

from hfcount.errors import DocumentError, FetchError
from hfcount.fetcher import files
from hfcount.fetcher.fixtures import RecordedShards
from hfcount.fetcher.interface import (
    COMPANIONS,
    CONFIG,
    HEADERS,
    INDEX,
    Documents,
    Request,
    Shards,
    SourceName,
    companions,
    label,
    top_level,
)
from hfcount.formats.recording import read_recording, recording
from hfcount.formats.safetensors import Shard
from hfcount.formats.samples import Samples
from hfcount.text import printable

_SUMS = "checksums.json"
_KEPT = (CONFIG, INDEX, *COMPANIONS, HEADERS)
MOST = 1 << 30
"""Bytes that are kept in all; beyond, what was used longest ago goes."""


def load(request: Request, endpoint: str, commit: str, otherwise: Shards | None = None) -> Documents | None:
    """What is kept of a commit; None where nothing is, or nothing whole.

    Args:
        otherwise: reads the headers that no run has read yet; None where nothing is to be asked.
    """
    try:
        place = _repo(request, endpoint) / commit
        named, folder = label(request.path, commit), place / (request.subfolder or "")
        found = {name: files.read(folder / name, f"{named} {name}") for name in _KEPT}
        sums = files.read(folder / _SUMS)
        if sums is None or sums.raw != _sums({name: one.raw for name, one in found.items() if one}):
            return None
        config, index, headers = (found.pop(name) for name in (CONFIG, INDEX, HEADERS))
        kept = read_recording(headers) if headers else None
        os.utime(place)  # so that it counts as used
    except (FetchError, DocumentError, OSError, ValueError):
        return None
    if config is None or kept is None or kept.revision != commit:
        return None
    shards = RecordedShards(kept.files or {}, kept.sizes, otherwise, kept.samples)
    source: SourceName = "cache" if otherwise is None else "hub"
    others = {name: one for name, one in found.items() if one}
    if any(name not in others for name in companions(kept.sizes or {})):
        return None
    names = top_level(kept.sizes or ())
    return Documents(request.path, source, commit, config, index, shards, names, sizes=kept.sizes, companions=others)


def commit_of(request: Request, endpoint: str) -> str | None:
    """The commit that a branch or tag was at when it was last asked for."""
    try:
        return _ref(request, endpoint).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None


def keep(
    request: Request, endpoint: str, documents: Documents, shards: Mapping[str, Shard] | None, samples: Samples
) -> None:
    """Keeps what a run has read. A cache that cannot be written is none, and no error."""
    commit = documents.revision
    if commit is None:
        return
    with suppress(OSError, ValueError):
        ref, folder = _ref(request, endpoint), _repo(request, endpoint) / commit / (request.subfolder or "")
        if commit != request.revision and commit_of(request, endpoint) != commit:
            ref.parent.mkdir(parents=True, exist_ok=True)
            files.write(ref, commit.encode())
        reader = documents.shards
        if isinstance(reader, RecordedShards) and not reader.asked:
            return  # all of it was here before
        known = folder.is_dir()
        folder.mkdir(parents=True, exist_ok=True)
        read = {CONFIG: documents.config, INDEX: documents.index, **documents.companions}
        whole = {name: one.raw for name in _KEPT if (one := read.get(name))}
        whole[HEADERS] = recording(commit, shards, (), documents.sizes, samples)
        for name, raw in (*whole.items(), (_SUMS, _sums(whole))):  # last, so that what is half written is not believed
            files.write(folder / name, raw)
        if not known:
            _forget_the_oldest(_root())


def _sums(documents: Mapping[str, bytes]) -> bytes:
    """Checksums of what is kept: two runs may write at once, and disks fail."""
    return json.dumps({name: crc32(raw) for name, raw in documents.items()}).encode()


def clear() -> tuple[Path, int]:
    """Removes all that is kept; where that was, and how many bytes.

    Raises:
        FetchError: NotSaved, it cannot be removed.
    """
    try:
        root = _root()
        size = sum(one.stat().st_size for one in root.rglob("*") if one.is_file())
        shutil.rmtree(root)
    except (OSError, ValueError) as error:
        raise FetchError("NotSaved", f"the cache is not cleared: {printable(str(error).rstrip('.'))}.") from None
    return root, size


def _root() -> Path:
    from hfcount.fetcher.endpoint import settings

    settings()
    from huggingface_hub import cached_assets_path

    return cached_assets_path("hfcount", "", "")


def _repo(request: Request, endpoint: str) -> Path:
    parts = urlsplit(endpoint)
    place = f"{parts.hostname}-{parts.port}" if parts.port else str(parts.hostname)
    return _root() / quote(place + parts.path, safe="") / request.model.replace("/", "--")


def _ref(request: Request, endpoint: str) -> Path:
    return _repo(request, endpoint) / "refs" / quote(request.revision or "main", safe="")


def _forget_the_oldest(root: Path) -> None:
    commits = [folder for folder in root.glob("*/*/*") if folder.name != "refs"]
    sizes = {folder: sum(one.stat().st_size for one in folder.rglob("*") if one.is_file()) for folder in commits}
    total = sum(sizes.values())
    for folder in sorted(commits, key=lambda folder: folder.stat().st_mtime):
        if total <= MOST:
            return
        gone = folder.with_name(f".{folder.name}.gone")
        folder.rename(gone)  # at once, so that nobody reads a part of it
        shutil.rmtree(gone, ignore_errors=True)
        total -= sizes[folder]
