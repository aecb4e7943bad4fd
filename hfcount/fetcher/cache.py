"""The standard cache of huggingface_hub, without a request to the Hub."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from hfcount.errors import FetchError
from hfcount.fetcher import files
from hfcount.fetcher.companions import companions
from hfcount.fetcher.folder import FolderShards, read_folder
from hfcount.fetcher.interface import TOKENS, Documents, Request, is_commit, label, top_level
from hfcount.fetcher.layout import layout_of, others_of
from hfcount.fetcher.location import Place
from hfcount.text import printable


def takes(request: Request) -> bool:
    """Whether the Hub must not be asked: --offline or HF_HUB_OFFLINE."""
    from hfcount.fetcher.endpoint import settings

    return request.offline or bool(settings().HF_HUB_OFFLINE)


def read(request: Request) -> Documents | Place:
    """The snapshot of a repo. The layout is read here: huggingface_hub's own lookup imports its HTTP client.

    Raises:
        FetchError: BadName, NotCached, or what `read_folder` raises.
    """
    from hfcount.fetcher.endpoint import settings

    constants = settings()
    request.check_subfolder()
    revision = request.revision or "main"
    sound = re.fullmatch(r"(?!.*(--|\.\.))[\w.-]+(/[\w.-]+)?", request.model) and len(request.model) <= 96
    repo = Path(constants.HF_HUB_CACHE) / constants.REPO_ID_SEPARATOR.join(("models", *request.model.split("/")))
    commit = revision if is_commit(revision) else _commit_of(repo / "refs", revision) if sound else ""
    snapshot = repo / "snapshots" / commit
    folder = snapshot / (request.subfolder or "")
    there = bool(sound) and is_commit(commit) and os.path.isdir(snapshot)
    if (kept := _kept(request, commit if there else "", repo / "refs" / revision, folder)) is not None:
        return kept
    if not sound:
        raise FetchError("BadName", not_a_repo_id(request.model))
    if not there:
        from hfcount.fetcher.suggestions import no_repo

        name = printable(request.model)
        raise FetchError(
            "NotCached",
            f"there is no local folder {name}, and {name} at {printable(revision)} is not in the cache"
            f" {printable(str(repo.parent))}.{no_repo(request.model)} Run once without --offline (and without"
            f" HF_HUB_OFFLINE); adapters and GGUF files have to be downloaded whole: `hf download {name}`.",
        )
    return read_folder(folder, request.path, "cache", commit, label(request.path, commit), request.file)


def _kept(request: Request, cached: str, ref: Path, folder: Path) -> Documents | None:
    """What earlier runs have read of the Hub, headers included; None where the standard cache has more or a newer one.

    Args:
        cached: the commit in the standard cache; ref: the file that names it; folder: what is there of it.
    """
    from hfcount.fetcher import endpoint, evidence_cache

    if not request.cache or not endpoint.is_repo_id(request.model):
        return None
    url, revision = endpoint.endpoint().url, request.revision or ""
    commit = revision if is_commit(revision) else evidence_cache.commit_of(request, url)
    kept = evidence_cache.load(request, url, commit) if commit and is_commit(commit) else None
    if kept is None or commit is None or (cached not in ("", commit) and _is_newer(ref, request, url)):
        return None
    sizes, documents = kept.sizes or {}, dict(kept.documents)
    layout = layout_of(sizes)
    wanted = (layout.config, layout.listing, *companions(sizes))
    if any(name in sizes and name not in documents and name not in TOKENS for name in wanted):
        return None
    config, index = documents.get(layout.config), documents.get(layout.listing)
    if config is None:
        return None
    shards = kept.shards(_whole(folder, sizes) if cached == commit else None)
    names = top_level(sizes)
    return Documents(
        request.path,
        "cache",
        commit,
        config,
        index,
        shards,
        names,
        sizes=kept.sizes,
        companions=others_of(documents, layout),
        layout=layout,
    )


def _is_newer(ref: Path, request: Request, url: str) -> bool:
    """Whether the standard cache learnt later than any run which commit a branch is at."""
    from hfcount.fetcher import evidence_cache

    try:
        return ref.stat().st_mtime_ns > evidence_cache.ref_of(request, url).stat().st_mtime_ns
    except OSError:
        return False


def _whole(folder: Path, sizes: Mapping[str, int | None]) -> FolderShards | None:
    """The weight files in the standard cache, if all that are listed are there."""
    names = [name for name in top_level(sizes) if name.endswith(".safetensors")]
    shards = FolderShards(folder, names, True, names)
    return shards if names and shards.sizes(names) == {name: sizes[name] for name in names} else None


def not_a_repo_id(model: str) -> str:
    """What to say of a MODEL that no repo can be called."""
    return (
        f"{printable(model)} is not a valid repo id (`org/name`, at most 96 letters, digits, `-`, `_` and `.`), and"
        " there is no local folder or file of that name."
    )


def _commit_of(refs: Path, revision: str) -> str:
    """The commit that a branch or tag was at when it was read; empty where that is not known."""
    if ".." in revision.split("/") or revision.startswith("/"):
        return ""
    return files.word(refs / revision)
