"""Documents from the Hub, through huggingface_hub: its names, endpoint, token, cache and errors."""

from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from huggingface_hub import constants, errors, get_hf_file_metadata, get_token, hf_hub_download, hf_hub_url, utils
from huggingface_hub.file_download import HfFileMetadata

from hfcount.errors import FetchError, FetchKind
from hfcount.fetcher.cache import not_a_repo_id
from hfcount.fetcher.interface import CAPS, CONFIG, INDEX, TRANSIENT, Documents, Progress, Request, is_commit, label
from hfcount.fetcher.missing import without_config
from hfcount.formats.json import Document
from hfcount.formats.safetensors import Shard
from hfcount.text import printable

T = TypeVar("T")

_RAISED = (OSError, ValueError, utils.httpx.HTTPError, utils.httpx.InvalidURL)
"""What huggingface_hub raises, besides RemoteEntryNotFoundError; it names the client's module `httpx` for its users."""


def takes(request: Request) -> bool:
    """Whatever no other source takes is a repo id."""
    return True


def read(request: Request) -> Documents:
    """config.json and the index of a repo, both at one commit.

    Raises:
        FetchError: NoSuchRepo, GatedRepo, NoSuchRevision, NoConfig, NoNetwork, HubError, UnreadableFile or BadName.
    """
    request.check_subfolder()
    return _Repo(request).documents()


class _Repo:
    def __init__(self, request: Request) -> None:
        self.model, self.revision, self.subfolder = request.model, request.revision, request.subfolder
        self.path = request.path

    def documents(self) -> Documents:
        asked = self.revision
        with ThreadPoolExecutor(2) as pool, _without_progress_bars():
            (commit, has_config), (other_commit, has_index) = pool.map(self._look, (CONFIG, INDEX))
            if not has_config:
                raise FetchError("NoConfig", f"{self._label()} has no {CONFIG}{without_config(self._files())}.")
            # Everything that follows is read at the commit of the first answer, whatever is pushed meanwhile.
            self.revision = commit
            if other_commit != commit:
                _, has_index = self._look(INDEX)
            listed = pool.submit(self._download, INDEX, commit) if has_index else None
            # By the name that was asked for, so that the cache learns which commit that is.
            path = self._download(CONFIG, asked)
            config = path if commit in path.parts else self._download(CONFIG, commit)
            index = listed.result() if listed else None
        return Documents(
            model=self.path,
            source="hub",
            revision=commit,
            config=self._document(config),
            index=self._document(index) if index else None,
            shards=HubShards(self.model, commit, self.subfolder),
            files=() if index else self._files(),
        )

    def _document(self, path: Path) -> Document:
        return Document(f"{self._label()} {path.name}", path.read_bytes())

    def _look(self, name: str) -> tuple[str, bool]:
        """A commit, and whether the repo has a file there."""

        def ask(retry: bool = False) -> HfFileMetadata:
            url = hf_hub_url(self.model, name, subfolder=self.subfolder, revision=self.revision)
            try:
                return get_hf_file_metadata(url, library_name="hfcount", retry_on_errors=retry)
            except errors.HfHubHTTPError as error:
                if retry or error.response.status_code not in TRANSIENT:
                    raise
            return ask(retry=True)  # only now: against a refused connection retries would take half a minute

        try:
            facts = self._translate(ask)
        except errors.RemoteEntryNotFoundError as error:
            return error.response.headers.get("X-Repo-Commit") or "", False
        commit, size = facts.commit_hash, facts.size or 0
        if commit is None or not is_commit(commit):
            raise FetchError("HubError", f"{constants.ENDPOINT} gives no commit for {name} of {self._label()}.")
        if size > CAPS[name]:
            raise FetchError(
                "UnreadableFile", f"{name} of {self._label()} has {size:,} bytes; at most {CAPS[name]:,} are read."
            )
        return commit, True

    def _download(self, name: str, revision: str | None) -> Path:
        ask = partial(hf_hub_download, subfolder=self.subfolder, revision=revision, library_name="hfcount")
        try:
            return Path(self._translate(lambda: ask(self.model, name)))
        except errors.RemoteEntryNotFoundError:
            raise FetchError("HubError", f"{name} of {self._label()} was there and is gone. Try again.") from None

    def _files(self) -> list[str]:
        """Names of all files in the folder; none where the Hub does not list them."""
        from huggingface_hub.hf_api import HfApi, RepoFile  # a quarter of all imports, and seldom needed

        try:
            entries = HfApi(library_name="hfcount").list_repo_tree(
                self.model, path_in_repo=self.subfolder, revision=self.revision
            )
            return [Path(entry.path).name for entry in entries if isinstance(entry, RepoFile)]
        except (*_RAISED, errors.EntryNotFoundError):
            return []

    def _label(self) -> str:
        return label(self.path, self.revision)

    def _translate(self, ask: Callable[[], T]) -> T:
        """Runs a request of huggingface_hub, its errors turned into ours; a missing entry stays what it is."""
        try:
            return ask()
        except errors.RemoteEntryNotFoundError:
            raise
        except _RAISED as error:
            raise FetchError(*self._explain(error)) from None

    def _explain(self, error: BaseException) -> tuple[FetchKind, str]:
        """The kind of one of huggingface_hub's errors, and what to say of it."""
        hub, model = constants.ENDPOINT, printable(self.model)
        match error:
            case errors.HFValidationError():
                return "BadName", not_a_repo_id(self.model)
            case errors.GatedRepoError():
                terms = f"Accept its terms on {hub}/{model}, then `hf auth login` or set HF_TOKEN."
                return "GatedRepo", f"{self._label()} is gated. {terms}"
            case errors.RepositoryNotFoundError():
                where = f"no repo {model} on {hub}, or it is private, and there is no local folder of that name."
                return "NoSuchRepo", f"{where} Check the name, or set HF_TOKEN."
            case errors.RevisionNotFoundError():
                revision = printable(self.revision or "main")
                return "NoSuchRevision", f"{model} has no revision {revision}. Give a branch, a tag or a full commit."
            case errors.DisabledRepoError():
                return "HubError", f"access to {self._label()} is disabled by {hub}."
            case errors.HfHubHTTPError():
                status = error.response.status_code
                said = f" ({printable(error.server_message)})" if error.server_message else ""
                hint = " Check HF_TOKEN." if status in (401, 403) else " Wait and try again." if status == 429 else ""
                return "HubError", f"{hub} answered {status} for {self._label()}{said}.{hint}"
            case errors.FileMetadataError():
                return "HubError", f"{hub} does not answer like a Hub for {self._label()}. Check HF_ENDPOINT."
            case errors.OfflineModeIsEnabled():
                return "NotCached", f"{self._label()} is not in the cache, and HF_HUB_OFFLINE is set."
            case errors.LocalEntryNotFoundError():  # how a download says that it failed, with the reason as its cause
                cause = error.__cause__ or error
                if isinstance(cause, (errors.HfHubHTTPError, errors.FileMetadataError)):
                    return self._explain(cause)
            case utils.httpx.TransportError() | utils.httpx.InvalidURL():
                cause = error
            case _:
                said = f"{type(error).__name__}: {printable(str(error), 160)}"
                return "HubError", f"{hub} gave an answer that cannot be used for {self._label()} ({said})."
        said = f"{type(cause).__name__}: {printable(str(cause), 120)}"
        hint = "Check the network, the proxy and HF_ENDPOINT, or read the cache with --offline."
        return "NoNetwork", f"cannot reach {hub} for {self._label()} ({said}). {hint}"


class HubShards:
    """Weight files of a repo at one commit, read by ranges."""

    local = False
    names: Collection[str] | None = None

    def __init__(self, model: str, commit: str, subfolder: str | None) -> None:
        self._model, self._commit, self._subfolder = model, commit, subfolder

    def read(self, wanted: Collection[str], done: Progress) -> Mapping[str, Shard]:
        """The shards of those names; a file that does not exist is left out."""
        from hfcount.fetcher.ranges import RangeReader  # brings in requests, so only when headers are needed

        token = None if constants.HF_HUB_DISABLE_IMPLICIT_TOKEN else get_token()
        headers = utils.build_hf_headers(token=False, library_name="hfcount")
        urls = {
            name: hf_hub_url(self._model, name, subfolder=self._subfolder, revision=self._commit)
            for name in sorted(wanted)
        }
        return RangeReader(constants.ENDPOINT, headers, token).read(urls, done)


@contextmanager
def _without_progress_bars() -> Iterator[None]:
    """Without progress bars for two small files; the setting is the caller's and is put back."""
    silent = utils.are_progress_bars_disabled()
    utils.disable_progress_bars()
    try:
        yield
    finally:
        if not silent:
            utils.enable_progress_bars()
