"""Documents from the Hub, through huggingface_hub: its names, endpoint, token, cache and errors."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, NoReturn, TypeVar

from huggingface_hub import constants, get_hf_file_metadata, get_token, hf_hub_download, hf_hub_url
from huggingface_hub.errors import (
    DisabledRepoError,
    EntryNotFoundError,
    FileMetadataError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.file_download import HfFileMetadata
from huggingface_hub.utils import (
    are_progress_bars_disabled,
    build_hf_headers,
    disable_progress_bars,
    enable_progress_bars,
    httpx,  # the client under whatever name huggingface_hub has it
)

from hfcount.errors import FetchError
from hfcount.fetcher.cache import not_a_repo_id
from hfcount.fetcher.interface import CAPS, CONFIG, INDEX, TRANSIENT, Documents, Progress, Request, label
from hfcount.fetcher.missing import without_config
from hfcount.formats.json import Document
from hfcount.formats.safetensors import Shard
from hfcount.text import printable

T = TypeVar("T")


def takes(request: Request) -> bool:
    """Whatever no other source takes is a repo id."""
    del request
    return True


def read(request: Request) -> Documents:
    """config.json and the index of a repo, both at one commit.

    Raises:
        FetchError: NoSuchRepo, GatedRepo, NoSuchRevision, NoConfig, NoNetwork, HubError, UnreadableFile or BadName.
    """
    request.check_subfolder()
    return _Repo(request).documents()


class _Look(NamedTuple):
    commit: str
    exists: bool


class _Repo:
    def __init__(self, request: Request) -> None:
        self.model, self.revision, self.subfolder = request.model, request.revision, request.subfolder
        self.path = request.path

    def documents(self) -> Documents:
        asked = self.revision
        with ThreadPoolExecutor(2) as pool, _without_progress_bars():
            config, index = pool.map(self._look, (CONFIG, INDEX))
            if not config.exists:
                raise FetchError("NoConfig", f"{self._label()} has no {CONFIG}{without_config(self._files())}.")
            # Everything that follows is read at the commit of the first answer, whatever is pushed meanwhile.
            self.revision = config.commit
            if index.commit != config.commit:
                index = self._look(INDEX)
            listed = pool.submit(self._download, INDEX, self.revision) if index.exists else None
            # By the name that was asked for, so that the cache learns which commit that is.
            path = self._download(CONFIG, asked)
            if self.revision not in path.parts:
                path = self._download(CONFIG, self.revision)
            documents = {CONFIG: path} | ({INDEX: listed.result()} if listed else {})
        read = {name: Document(f"{self._label()} {name}", path.read_bytes()) for name, path in documents.items()}
        return Documents(
            model=self.path,
            source="hub",
            revision=self.revision,
            config=read[CONFIG],
            index=read.get(INDEX),
            shards=HubShards(self.model, self.revision, self.subfolder),
            files=() if INDEX in read else self._files(),
        )

    def _look(self, name: str) -> "_Look":
        """Whether the repo has a file, and at which commit."""

        def ask() -> HfFileMetadata:
            url = hf_hub_url(self.model, name, subfolder=self.subfolder, revision=self.revision)
            try:
                return get_hf_file_metadata(url, library_name="hfcount")
            except HfHubHTTPError as error:
                if error.response.status_code not in TRANSIENT:
                    raise
            # Only now with retries: against a refused connection they would take half a minute.
            return get_hf_file_metadata(url, library_name="hfcount", retry_on_errors=True)

        try:
            facts = self._translate(ask)
            commit, size, exists = facts.commit_hash, facts.size or 0, True
        except RemoteEntryNotFoundError as error:
            commit, size, exists = error.response.headers.get("X-Repo-Commit"), 0, False
        if exists and (commit is None or not re.fullmatch(r"[0-9a-f]{40}", commit)):
            raise FetchError("HubError", f"{constants.ENDPOINT} gives no commit for {name} of {self._label()}.")
        if size > CAPS[name]:
            raise FetchError(
                "UnreadableFile",
                f"{name} of {self._label()} has {size:,} bytes; at most {CAPS[name]:,} are read.",
            )
        return _Look(commit or "", exists)

    def _download(self, name: str, revision: str | None) -> Path:
        try:
            return Path(
                self._translate(
                    lambda: hf_hub_download(
                        self.model, name, subfolder=self.subfolder, revision=revision, library_name="hfcount"
                    )
                )
            )
        except RemoteEntryNotFoundError:
            raise FetchError("HubError", f"{name} of {self._label()} was there and is gone. Try again.") from None

    def _files(self) -> list[str]:
        """Names of all files in the folder; none where the Hub does not list them."""
        from huggingface_hub.hf_api import HfApi, RepoFile  # a quarter of all imports, and seldom needed

        try:
            entries = HfApi(library_name="hfcount").list_repo_tree(
                self.model, path_in_repo=self.subfolder, revision=self.revision
            )
            return [Path(entry.path).name for entry in entries if isinstance(entry, RepoFile)]
        except (OSError, httpx.HTTPError, EntryNotFoundError, ValueError):
            return []

    def _label(self) -> str:
        return label(self.path, self.revision)

    def _translate(self, ask: Callable[[], T]) -> T:
        """Runs a request of huggingface_hub, its errors turned into ours; a missing entry stays what it is."""
        try:
            return ask()
        except HFValidationError:
            raise FetchError("BadName", not_a_repo_id(self.model)) from None
        except GatedRepoError:
            raise FetchError(
                "GatedRepo",
                f"{self._label()} is gated. Accept its terms on {constants.ENDPOINT}/{printable(self.model)}, then"
                " `hf auth login` or set HF_TOKEN.",
            ) from None
        except RepositoryNotFoundError:
            raise FetchError(
                "NoSuchRepo",
                f"no repo {printable(self.model)} on {constants.ENDPOINT}, or it is private, and there is no"
                " local folder of that name. Check the name, or set HF_TOKEN.",
            ) from None
        except RevisionNotFoundError:
            raise FetchError(
                "NoSuchRevision",
                f"{printable(self.model)} has no revision {printable(self.revision or 'main')}. Give a branch, a tag or"
                " a full commit.",
            ) from None
        except RemoteEntryNotFoundError:
            raise
        except DisabledRepoError:
            raise FetchError("HubError", f"access to {self._label()} is disabled by {constants.ENDPOINT}.") from None
        except HfHubHTTPError as error:
            status = error.response.status_code
            said = f" ({printable(error.server_message)})" if error.server_message else ""
            hint = " Check HF_TOKEN." if status in (401, 403) else " Wait and try again." if status == 429 else ""
            raise FetchError(
                "HubError", f"{constants.ENDPOINT} answered {status} for {self._label()}{said}.{hint}"
            ) from None
        except FileMetadataError:
            raise FetchError(
                "HubError", f"{constants.ENDPOINT} does not answer like a Hub for {self._label()}. Check HF_ENDPOINT."
            ) from None
        except OfflineModeIsEnabled:
            raise FetchError("NotCached", f"{self._label()} is not in the cache, and HF_HUB_OFFLINE is set.") from None
        except LocalEntryNotFoundError as error:  # how a download says that it failed, with the reason as its cause
            cause = error.__cause__ or error
            if isinstance(cause, (HfHubHTTPError, FileMetadataError)):
                return self._translate(lambda: _raise(cause))
            raise self._unreachable(cause) from None
        except (httpx.TransportError, httpx.InvalidURL) as error:
            raise self._unreachable(error) from None
        except (httpx.RequestError, OSError, ValueError) as error:
            raise FetchError(
                "HubError",
                f"{constants.ENDPOINT} gave an answer that cannot be used for {self._label()} ({type(error).__name__}:"
                f" {printable(str(error), 160)}).",
            ) from None

    def _unreachable(self, cause: BaseException) -> FetchError:
        return FetchError(
            "NoNetwork",
            f"cannot reach {constants.ENDPOINT} for {self._label()} ({type(cause).__name__}:"
            f" {printable(str(cause), 120)}). Check the network, the proxy and HF_ENDPOINT, or read the cache with"
            " --offline.",
        )


def _raise(error: BaseException) -> NoReturn:
    raise error


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
        headers = build_hf_headers(token=False, library_name="hfcount")
        urls = {
            name: hf_hub_url(self._model, name, subfolder=self._subfolder, revision=self._commit)
            for name in sorted(wanted)
        }
        return RangeReader(constants.ENDPOINT, headers, token).read(urls, done)


@contextmanager
def _without_progress_bars() -> Iterator[None]:
    """Without progress bars for two small files; the setting is the caller's and is put back."""
    if are_progress_bars_disabled():
        yield
        return
    disable_progress_bars()
    try:
        yield
    finally:
        enable_progress_bars()
