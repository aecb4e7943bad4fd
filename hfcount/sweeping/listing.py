"""Sources of a sweep on the Hub: listings, collections, and repos by name.

Pages are kept in OUT/.sweep with the address of the next, so that a sweep can resume in the middle of a listing. After
a complete listing the time of its latest change is kept, and the next sweep asks only for later changes.
"""

import gzip
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from hashlib import sha1
from itertools import islice
from pathlib import Path
from typing import Any

from hfcount.checkpoints.forms import CONTAINERS, held_in
from hfcount.errors import DocumentError, FetchError, SweepError
from hfcount.fetcher import endpoint, hub, module_files, pipeline_parts
from hfcount.fetcher.addresses import joined, origin
from hfcount.fetcher.client import Client, Denied
from hfcount.fetcher.companions import companions
from hfcount.fetcher.files import write
from hfcount.fetcher.interface import LONGEST, Request, top_level
from hfcount.fetcher.layout import CONFIG, INDEX
from hfcount.fetcher.listing import COMMIT, next_page
from hfcount.fetcher.listing import Listing as RepoListing
from hfcount.fetcher.weights import pickled_names
from hfcount.formats.json import Document, parse_value
from hfcount.sweeping import bases
from hfcount.sweeping.base_checks import BaseChecks
from hfcount.sweeping.bases import BaseLink
from hfcount.sweeping.prefilter import screened
from hfcount.sweeping.quota import Gate, Quota
from hfcount.sweeping.rows import Task, label
from hfcount.sweeping.sources import is_local
from hfcount.sweeping.sources_spec import Collection, Listing
from hfcount.version import __version__

_LONG, _AHEAD = 64_000_000, 8  # bytes of a page; repos that are asked for at once


class Hub:
    """The Hub's API, asked within the quota.

    Args:
        state: the folder for pages.
        wanted: whether to run a task: its checkpoint has no row and is in this shard.
        compare: whether to compare weight files with those of named bases.
    """

    def __init__(
        self,
        quota: Quota,
        state: Path | None = None,
        wanted: Callable[[Task], bool] = lambda _: True,
        compare: bool = False,
    ) -> None:
        self.place = endpoint.endpoint()
        self.quota, self.state, self.signed = quota, state, endpoint.token() is not None
        self._wanted = wanted
        self._client: Client | None = None
        self._kept: list[_PageStore] = []
        self._checks = BaseChecks(lambda request: hub.listed(self.client, request)) if compare else None

    @property
    def client(self) -> Client:
        """The client of all requests by the driver."""
        if self._client is None:
            self._client = hub.asking(LONGEST, Gate(self.quota.api))
        return self._client

    def finish(self) -> None:
        """Deletes the pages of complete listings."""
        for kept in self._kept:
            kept.finish()

    def close(self) -> None:
        """Ends all connections."""
        if self._client is not None:
            self._client.close()

    def tasks(self, source: Listing | Collection) -> Iterator[Task]:
        """Tasks of a listing or collection, prefiltered by their entries."""
        return self.resolved(filter(self._wanted, self.screened(source)))

    def screened(self, source: Listing | Collection) -> Iterator[Task]:
        """Tasks before their files are known; `cost` is set if these must be requested."""
        if isinstance(source, Collection):
            return (Task(label(name), None, Request(name, cache=False), cost=1) for name in self._collected(source))
        return (self._entry(entry) for entry in self._listed(source))

    def named(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """Tasks of repos with their current commit and files; others unchanged."""
        return self.resolved(
            task if task.request is None or task.request.offline or is_local(task) else replace(task, cost=1)
            for task in tasks
        )

    def resolved(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """Tasks with known files, in order; a few are requested at once."""
        pool, source = ThreadPoolExecutor(_AHEAD), iter(tasks)
        try:
            waiting = deque(pool.submit(self._resolve, task) for task in islice(source, 2 * _AHEAD))
            while waiting:
                yield waiting.popleft().result()
                waiting.extend(pool.submit(self._resolve, task) for task in islice(source, 1))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # some may be waiting for the quota

    def _resolve(self, task: Task) -> Task:
        """The task with its files, which are requested if `cost` is set."""
        listing = None
        if task.request is not None and task.cost:
            try:
                listing = hub.listed(self.client, task.request)
            except FetchError as error:
                return replace(task, request=None, verdict="unverified", reason=error.kind, message=str(error))
            task = _with_files(task, listing)
        elif task.request is not None and task.request.files is not None:
            task = replace(task, cost=_cost(task.request.files))
        return self._checks.compared(task, listing) if self._checks and self._wanted(task) else task

    def _entry(self, entry: Mapping[str, Any]) -> Task:
        """The task of an entry of a listing."""
        name, commit, names = entry["id"], entry.get("sha"), entry.get("files")
        sound = isinstance(commit, str) and COMMIT.fullmatch(commit) is not None
        named = tuple(BaseLink(*base) for base in entry.get("bases", ()))
        task = Task(label(name), commit if sound else None, None, entry.get("lastModified"), bases=named)
        if why := entry.get("why"):
            return replace(task, reason=why[0], message=why[1])
        request = Request(name, commit if sound else None, cache=False)
        if not sound or names is None or INDEX in names or held_in(names):  # file sizes are needed
            return replace(task, request=request, cost=1)
        return replace(task, request=request.replace(files=dict.fromkeys(names)))

    def _listed(self, source: Listing) -> Iterator[Mapping[str, Any]]:
        """Entries of all pages, first of those kept by an earlier sweep."""
        entries = self._pages(source)
        return islice(entries, source.limit) if source.limit is not None else entries

    def _pages(self, source: Listing) -> Iterator[Mapping[str, Any]]:
        kept = _PageStore(self.state, source) if self.state else None
        self._kept += [kept] if kept else []
        mark = kept.mark if kept else None
        start = f"{self.place.url}/api/models?{source.query(source.sort or ('lastModified' if mark else 'createdAt'))}"
        following: str | None = start
        latest = mark
        if kept:
            for page in kept.pages():
                yield from page["entries"]
                latest, following = _later(latest, page["latest"]), page["next"]
        while following is not None:
            entries, following = _since(mark, *self._page(following))
            changed = max((str(entry.get("lastModified") or "") for entry in entries), default="")
            latest = _later(latest, changed)
            if kept:
                kept.keep({"entries": entries, "latest": changed, "next": following})
            yield from entries
        if kept:
            kept.ended = latest or ""

    def _page(self, url: str) -> tuple[list[dict[str, Any]], str | None]:
        """The entries of a page, and the address of the next page."""
        body, link = self._read("the listing of models", url)
        if not isinstance(body, list):
            raise SweepError(f"{self.place.shown} does not list models as a Hub does. Check HF_ENDPOINT.")
        following = joined(url, link) if link else None
        if following is not None and origin(following) != origin(url):
            raise SweepError(f"the listing goes on at another host than {self.place.shown}. Check HF_ENDPOINT.")
        repos = (repo for repo in body if isinstance(repo, dict))
        known = [repo for repo in repos if isinstance(repo.get("id", repo.get("modelId")), str)]
        return [self._facts(repo) for repo in known], following

    def _facts(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """The kept fields of an entry: file names, or why the repo is skipped."""
        name, siblings = entry.get("id", entry.get("modelId")), entry.get("siblings")
        facts = {"id": name, "sha": entry.get("sha"), "lastModified": entry.get("lastModified")}
        if named_bases := bases.listed(entry):
            facts["bases"] = named_bases
        files = None
        if isinstance(siblings, list):
            files = [file["rfilename"] for file in siblings if isinstance(file, dict) and "rfilename" in file]
        why = screened(entry, files, self.signed)
        return facts | ({"why": why} if why else {"files": files})

    def _collected(self, source: Collection) -> Iterator[str]:
        url = f"{self.place.url}/api/collections/{source.slug}"
        body, _ = self._read(f"the collection {label(source.slug)}", url)
        items = body.get("items") if isinstance(body, dict) else None
        if not isinstance(items, list):
            raise SweepError(f"{self.place.shown} has no items of the collection {label(source.slug)}.")
        for item in items:
            if isinstance(item, dict) and item.get("type") == "model" and isinstance(item.get("id"), str):
                yield item["id"]

    def _read(self, what: str, url: str) -> tuple[Any, str | None]:
        try:
            answer = self.client.document(what, url, _LONG)
            return parse_value(Document(what, answer.body), many=_LONG), next_page(answer.headers.get("Link", ""))
        except Denied as denied:
            raise SweepError(str(denied.error(what))) from None
        except (FetchError, DocumentError) as error:
            raise SweepError(str(error)) from None


def _with_files(task: Task, listing: RepoListing | None) -> Task:
    """The task with the commit and files of its listing, if there is one."""
    if listing is None or task.request is None:
        return replace(task, cost=64)
    request = task.request.replace(revision=listing.commit, files=listing.sizes)
    named = task.bases or bases.of_pages(listing.pages)
    return replace(task, revision=listing.commit, request=request, cost=_cost(listing.sizes), bases=named)


class _PageStore:
    """The pages of an unfinished listing, and the time mark of the last complete one."""

    def __init__(self, state: Path, source: Listing) -> None:
        about = [__version__, endpoint.endpoint().url, *(getattr(source, name) for name in source.__slots__)]
        self._folder = state / f"listing-{sha1(json.dumps(about).encode()).hexdigest()[:16]}"
        self._folder.mkdir(exist_ok=True)
        self._mark, self.ended = self._folder / "mark.json", ""
        self.mark: str | None = None
        if source.whole:
            with suppress(OSError, ValueError):
                self.mark = json.loads(self._mark.read_bytes())

    def pages(self) -> Iterator[dict[str, Any]]:
        """Pages read earlier."""
        for path in sorted(self._folder.glob("*.json.gz")):
            yield json.loads(gzip.decompress(path.read_bytes()))

    def keep(self, page: Mapping[str, Any]) -> None:
        """Keeps a page."""
        number = sum(1 for _ in self._folder.glob("*.json.gz"))
        write(self._folder / f"{number:06}.json.gz", gzip.compress(json.dumps(page).encode(), 1))

    def finish(self) -> None:
        """Deletes the pages of a listing whose repos all have a row."""
        if self.ended:
            write(self._mark, json.dumps(self.ended).encode())
        for path in self._folder.glob("*.json.gz"):
            path.unlink()


def _later(time: str | None, other: str) -> str | None:
    """The later of two times; None if both are empty."""
    return max(time or "", other) or None


def _since(
    mark: str | None, entries: list[dict[str, Any]], link: str | None
) -> tuple[list[dict[str, Any]], str | None]:
    """Entries changed since `mark`, and the next page unless all further ones are older."""
    if not mark or not _descending(entries):
        return entries, link
    fresh = [entry for entry in entries if str(entry.get("lastModified") or "~") > mark]
    return fresh, link if len(fresh) == len(entries) else None


def _descending(entries: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a page is sorted as requested, which not every endpoint supports."""
    times = [str(entry.get("lastModified") or "") for entry in entries]
    return times == sorted(times, reverse=True) and "" not in times


_RANGES = 8  # requests for a pickled file: up to four ranges, each of which may be redirected


def _cost(files: Mapping[str, int | None] | None) -> int:
    """The most requests for these files, each of which may be redirected."""
    shards = sum(name.endswith(".safetensors") for name in top_level(files or ()))
    documents = sum(name in (files or ()) for name in (CONFIG, INDEX)) + len(companions(files or {}))
    contained = sum(any(form.holds(name) for form in CONTAINERS) for name in files or ())
    further = _RANGES * len(pickled_names(files or {})) + 2 * _OF_CONTAINERS * contained + (_BASE if contained else 0)
    inner = module_files.most(files or ()) + pipeline_parts.most(files or ())
    return 2 * documents + 2 * shards + 2 * inner + further + 2


_OF_CONTAINERS, _BASE = 5, 4  # ranges of a file in another container; of the card that names its base, and its config
