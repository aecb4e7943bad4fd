"""Where documents come from: recorded fixtures, a local folder, the cache, the Hub."""

from importlib import import_module
from typing import cast

from hfcount.errors import FetchError
from hfcount.fetcher.interface import Documents, Request, Source

__all__ = ["SOURCES", "Request", "fetch"]

SOURCES = ("fixtures", "folder", "cache", "hub")
"""Modules of this folder, in order of precedence. Each is imported only after those before it passed the request on:
the Hub's brings in an HTTP client."""


def fetch(request: Request) -> Documents:
    """The documents of one checkpoint, from the first source that takes the request.

    Raises:
        FetchError: they could not be read.
    """
    if not request.model:
        raise FetchError("BadName", "MODEL is empty. Name a folder or a repo.")
    sources = (cast(Source, import_module(f"{__name__}.{name}")) for name in SOURCES)
    return next(source for source in sources if source.takes(request)).read(request)
