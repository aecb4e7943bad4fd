"""URLs: their origin, redirect targets, and display without secrets."""

from contextlib import suppress
from functools import lru_cache
from urllib.parse import urljoin

from urllib3.exceptions import HTTPError
from urllib3.util import parse_url

from hfcount.text import address


@lru_cache(256)  # each address is looked at several times on its way
def origin(url: str) -> tuple[str | None, str | None, int | None]:
    """Scheme, host and port, as the library that connects reads them."""
    parts = parse_url(url)
    return parts.scheme, parts.host, parts.port or {"https": 443, "http": 80}.get(parts.scheme or "")


def joined(url: str, reference: str) -> str | None:
    """The absolute URL of a reference in an answer of `url`; None if it is not an HTTP address."""
    with suppress(ValueError, HTTPError):
        target = urljoin(url, reference)
        if parse_url(target).scheme in ("http", "https") and parse_url(target).host:
            return target
    return None


def where(url: str) -> str:
    """The server of an address."""
    scheme, _, rest = address(url, None).partition("://")
    return address(f"{scheme}://{rest.partition('/')[0]}", 100)
