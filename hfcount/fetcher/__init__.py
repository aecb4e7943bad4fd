"""Opens checkpoints on the Hub, in a folder, the cache or a recording; only this room reads the network.

Work here on the Hub, the cache, or which files of a checkpoint are read.
"""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from hfcount.errors import FetchError
from hfcount.fetcher.interface import Documents, Pickles, Request, Source
from hfcount.formats.safetensors import Shard
from hfcount.formats.samples import Samples

if TYPE_CHECKING:
    from concurrent.futures import Future

    from hfcount.fetcher.location import Place

__all__ = ["SOURCES", "Request", "begin", "fetch", "finish", "opened"]

SOURCES = ("fixtures", "folder", "cache", "hub")
"""Modules of this folder, in order of precedence. Each is imported only after those before it passed the request on:
the Hub's brings in an HTTP client."""

_BEGUN: "dict[Request, Future[Documents | Place]]" = {}


def begin(request: Request) -> None:
    """Starts reading in the background what `fetch` is then asked for, if that means waiting for the Hub."""
    try:
        name, source = _source(request)
    except FetchError:
        return  # `fetch` raises it again
    if name == "hub":
        from concurrent.futures import Future
        from threading import Thread

        future = _BEGUN[request] = Future()

        def work() -> None:
            try:
                future.set_result(source.read(request))
            except BaseException as error:
                future.set_exception(error)

        Thread(target=work, daemon=True).start()


def fetch(request: Request) -> Documents:
    """The documents of one checkpoint, from the first source that accepts the request.

    Raises:
        FetchError: they could not be read, or there is no config.json.
    """
    result = opened(request)
    if isinstance(result, Documents):
        return result
    result.reader.close()
    raise result.refusal()


def opened(request: Request) -> "Documents | Place":
    """As `fetch`, but the place alone if it has no config.json or a file of it is named."""
    begun = _BEGUN.pop(request, None)
    return begun.result() if begun else _source(request)[1].read(request)


def _source(request: Request) -> tuple[str, Source]:
    """The first source that takes a request, and its name."""
    if not request.model:
        raise FetchError("BadName", "MODEL is empty. Name a folder or a repo.")
    sources = ((name, cast(Source, import_module(f"{__name__}.{name}"))) for name in SOURCES)
    return next((name, source) for name, source in sources if source.takes(request))


def finish(
    request: Request,
    documents: Documents,
    shards: Mapping[str, Shard] | None = None,
    samples: Samples | None = None,
    pickles: Pickles = MappingProxyType({}),
) -> None:
    """Ends the connections of a run, and keeps what it has read of the Hub; `shards` is None if no headers were."""
    documents.shards.close()
    if documents.source == "hub" and request.cache:
        from hfcount.fetcher import endpoint, evidence_cache

        evidence_cache.keep(request, endpoint.endpoint().url, documents, shards, samples or {}, pickles)
