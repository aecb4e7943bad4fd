"""Compares checksums of weight files with those of the base that a checkpoint names."""

from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from threading import Lock

from hfcount.errors import DocumentError, FetchError
from hfcount.fetcher import cache, checksums
from hfcount.fetcher.checksums import Content
from hfcount.fetcher.interface import Request
from hfcount.fetcher.listing import Listing
from hfcount.sweeping.bases import WeightSums, compared, is_local, is_weights, place
from hfcount.sweeping.rows import Task

_KEPT = 50_000  # bases whose checksums are kept


class BaseChecks:
    """Compares tasks with their bases, whose checksums are cached.

    Args:
        ask: returns the listing of a repo; None if unknown.
    """

    def __init__(self, ask: Callable[[Request], Listing | None]) -> None:
        self._ask = ask
        self._bases: OrderedDict[str, Future[WeightSums | None]] = OrderedDict()
        self._lock = Lock()

    def compared(self, task: Task, listing: Listing | None) -> Task:
        """The task with compared bases.

        Args:
            listing: the repo's listing, if it was requested.
        """
        request = task.request
        if request is None or not task.bases:
            return task
        contents = self._contents(request, listing)
        if not any(map(is_weights, contents)):
            return task
        bases = (compared(base, contents, self._weights(base.model, request)) for base in task.bases)
        return replace(task, bases=tuple(bases))

    def _contents(self, request: Request, listing: Listing | None) -> dict[str, Content]:
        """The files of a checkpoint."""
        contents = dict[str, Content]()
        if is_local(request):
            contents = checksums.of_folder(place(request), is_weights)
        else:
            with suppress(FetchError, DocumentError):
                asked = listing or (None if cache.takes(request) else self._ask(request.replace(files=None)))
                contents = checksums.of_listing(asked.pages, request.subfolder) if asked else contents
        wanted = (request.file or "").lower()
        return {name: content for name, content in contents.items() if wanted in name.lower()}

    def _weights(self, model: str, request: Request) -> WeightSums | None:
        """Weights of a base: from the folder of that name in the same tree, else from the current repo."""
        if request.fixtures is not None and (path := request.fixtures / model).is_dir():
            return WeightSums(checksums.of_folder(path, is_weights))
        with self._lock:
            known = self._bases.get(model)
            future = known or Future()
            self._bases[model] = future
            self._bases.move_to_end(model)
            if len(self._bases) > _KEPT:
                self._bases.popitem(last=False)
        if known is None:
            self._read(model, future)
        return future.result()

    def _read(self, model: str, future: "Future[WeightSums | None]") -> None:
        weights = None
        try:
            with suppress(FetchError, DocumentError):
                request = Request(model, cache=False)
                listing = None if cache.takes(request) else self._ask(request)
                weights = WeightSums(checksums.of_listing(listing.pages)) if listing else None
        finally:
            future.set_result(weights)
