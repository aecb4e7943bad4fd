"""The standard cache of huggingface_hub, without a request to the Hub."""

import os
import re
from pathlib import Path

from hfcount.errors import FetchError
from hfcount.fetcher.folder import read_folder
from hfcount.fetcher.interface import Documents, Request, is_commit, label
from hfcount.text import printable


def takes(request: Request) -> bool:
    """Whether the Hub must not be asked: --offline or HF_HUB_OFFLINE."""
    from hfcount.fetcher.endpoint import settings

    return request.offline or settings().is_offline_mode()


def read(request: Request) -> Documents:
    """The snapshot of a repo. The layout is read here: huggingface_hub's own lookup imports its HTTP client.

    Raises:
        FetchError: BadName, NotCached, or what `read_folder` raises.
    """
    from hfcount.fetcher.endpoint import settings

    constants = settings()
    request.check_subfolder()
    if (kept := _kept(request)) is not None:
        return kept
    if not re.fullmatch(r"(?!.*(--|\.\.))[\w.-]+(/[\w.-]+)?", request.model) or len(request.model) > 96:
        raise FetchError("BadName", not_a_repo_id(request.model))
    revision = request.revision or "main"
    repo = Path(constants.HF_HUB_CACHE) / constants.REPO_ID_SEPARATOR.join(("models", *request.model.split("/")))
    commit = revision if is_commit(revision) else _commit_of(repo / "refs", revision)
    snapshot = repo / "snapshots" / commit
    if not is_commit(commit) or not os.path.isdir(snapshot):
        raise FetchError(
            "NotCached",
            f"{printable(request.model)} at {printable(revision)} is not in the cache {printable(str(repo.parent))}."
            " Run once without --offline (and without HF_HUB_OFFLINE).",
        )
    folder = snapshot / request.subfolder if request.subfolder else snapshot
    return read_folder(folder, request.path, "cache", commit, label(request.path, commit))


def _kept(request: Request) -> Documents | None:
    """What earlier runs have read of the Hub, headers included."""
    from hfcount.fetcher import endpoint, evidence

    if not request.cache or not endpoint.is_repo_id(request.model):
        return None
    url, revision = endpoint.endpoint().url, request.revision or ""
    commit = revision if is_commit(revision) else evidence.commit_of(request, url)
    return evidence.load(request, url, commit) if commit and is_commit(commit) else None


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
    try:
        return (refs / revision).read_text(encoding="ascii").strip()
    except (OSError, ValueError):  # no such file, no such name, or no text
        return ""
