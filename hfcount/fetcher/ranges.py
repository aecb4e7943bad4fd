"""Headers of remote files, read by ranges of bytes; the token goes to the endpoint's own origin alone."""

import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from http.cookiejar import DefaultCookiePolicy
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError
from urllib3.util import parse_url

from hfcount.errors import FetchError, FetchKind
from hfcount.fetcher.interface import TRANSIENT, Progress
from hfcount.fetcher.retry import SECONDS, Deadline, retries
from hfcount.formats.safetensors import Shard, header_end, read_shard
from hfcount.text import printable

WORKERS = 8
PREFETCH = 65_536
"""Bytes of the first request. Of 659 shards of published checkpoints, 656 have a header below this, and 555 one below
half of it."""

_CONNECT, _READ = 10.0, 30.0  # seconds
_REDIRECTS = 5


class RangeReader:
    """Reads headers over HTTP with one pooled session.

    Args:
        token: sent to `endpoint`'s own origin and nowhere else.
        deadline: seconds for everything that this reader is asked.
    """

    def __init__(self, endpoint: str, headers: Mapping[str, str], token: str | None, deadline: float = SECONDS) -> None:
        self._origin, self._token = _origin(endpoint), token
        self._deadline = Deadline(deadline)
        self._session = requests.Session()
        self._session.headers.update(headers)
        self._session.headers["Accept-Encoding"] = "identity"
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        adapter = HTTPAdapter(pool_connections=2, pool_maxsize=WORKERS, max_retries=retries(self._deadline))
        self._session.mount("https://", adapter)
        self._session.mount("http://", adapter)
        self._settings: dict[tuple[str | None, str | None, int | None], Any] = {}

    def read(self, urls: Mapping[str, str], done: Progress) -> dict[str, Shard]:
        """The shards behind `urls` (name to URL); a file that does not exist is left out.

        Raises:
            FetchError: a server could not be reached, refused, or does not serve ranges.
        """
        with self._session, ThreadPoolExecutor(WORKERS) as pool:
            futures = {pool.submit(self._fetch, name, url): name for name, url in urls.items()}
            found = {}
            try:
                for future in as_completed(futures):
                    name = futures.pop(future)  # and with it the bytes
                    with suppress(_Absent):
                        # Parsed here: workers that parse would take the interpreter's lock from those that wait.
                        first, size = future.result()
                        found[name] = read_shard(name, size, first)
                    done()
            except BaseException:
                self._deadline.stop()
                pool.shutdown(cancel_futures=True)
                raise
        return found

    def _fetch(self, name: str, url: str) -> tuple[bytes, int]:
        """A file's first bytes, to the end of its header, and its size in bytes."""
        try:
            first, size = self._get(name, url, 0, PREFETCH)
        except _Empty:
            return b"", 0
        end = header_end(first, size)
        rest = self._get(name, url, len(first), end)[0] if end > len(first) else b""
        return first[:end] + rest, size

    def _get(self, name: str, url: str, begin: int, end: int) -> tuple[bytes, int]:
        """Bytes `begin` to `end` of a file (fewer where it ends before), and the size of the whole."""
        for attempt in (1, 2):  # a body that breaks off, or a signed address that has expired, is worth one more try
            try:
                with self._open(name, url, begin, end) as response:
                    return _body(name, response, begin, end, self._deadline.check)
            except (_BrokenOff, HTTPError, requests.RequestException) as error:
                if attempt == 2:
                    kind: FetchKind = "HubError" if isinstance(error, _Refused) else "NoNetwork"
                    raise FetchError(kind, f"{printable(name)} of {self._where(url)}: {_cause(error)}.") from None
        raise AssertionError("unreachable")

    def _open(self, name: str, url: str, begin: int, end: int) -> requests.Response:
        """The answer of the last of a chain of redirects."""
        current = url
        for _ in range(_REDIRECTS):
            self._deadline.check()
            response = self._ask(name, current, begin, end)
            if response.status_code in (301, 302, 303, 307, 308) and "Location" in response.headers:
                current = _target(name, current, response.headers["Location"])
                response.close()
                continue
            if response.status_code in (200, 206):
                return response
            status, reason = response.status_code, response.headers.get("X-Error-Code", "")
            response.close()
            if status == 404:
                raise _Absent
            if status == 416:
                raise _Empty
            if status == 403 and _origin(current) != self._origin:
                raise _Refused("the signed address was refused (403)")
            if reason == "GatedRepo":
                raise FetchError("GatedRepo", f"{self._where(url)} is gated: accept its terms, and set HF_TOKEN.")
            hint = " after several attempts" if status in TRANSIENT else ""
            raise FetchError("HubError", f"{self._where(current)} answered {status} for {printable(name)}{hint}.")
        raise FetchError("HubError", f"{printable(name)}: more than {_REDIRECTS} redirects from {self._where(url)}.")

    def _ask(self, name: str, url: str, begin: int, end: int) -> requests.Response:
        """One request; a redirect is not followed here, since each hop decides anew whether it may see the token."""
        try:
            asked = self._session.prepare_request(
                requests.Request("GET", url, headers={"Range": f"bytes={begin}-{end - 1}"}, auth=self._sign)
            )
            origin = _origin(asked.url or "")
        except (ValueError, requests.RequestException):
            raise FetchError("HubError", f"{printable(name)}: redirected to {_bare(url)}.") from None
        if origin not in self._settings:  # proxies and certificates, which requests would look up each time
            self._settings[origin] = self._session.merge_environment_settings(asked.url, {}, True, None, None)
        return self._session.get_adapter(asked.url or "").send(
            asked, timeout=(_CONNECT, _READ), **self._settings[origin]
        )

    def _sign(self, request: Any) -> Any:
        """Adds the token for the endpoint. A callable, since without one requests would look into ~/.netrc.

        It sees the address as it will be asked, after all that parsers may make of it.
        """
        if self._token and _origin(request.url) == self._origin:
            request.headers["Authorization"] = f"Bearer {self._token}"
        return request

    @staticmethod
    def _where(url: str) -> str:
        """The server, without the query that may hold a signature."""
        return printable(f"{urlsplit(url).scheme}://{urlsplit(url).netloc.rpartition('@')[2]}", 100)


class _BrokenOff(Exception):
    """An answer that ended too early."""


class _Refused(_BrokenOff):
    """An answer of another host that the Hub's own address should not have led to."""


class _Empty(Exception):
    """The file ends before the range begins."""


class _Absent(Exception):
    """The file is not there."""


def _body(name: str, response: requests.Response, begin: int, end: int, check: Callable[[], None]) -> tuple[bytes, int]:
    """The bytes of an answer and the size of the whole file; `check` is called before each read."""
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise FetchError("HubError", f"{printable(name)}: the server compresses ranges, so they cannot be read.")
    skip = 0
    if response.status_code == 206:
        size = _content_range(name, response.headers.get("Content-Range", ""), begin, end)
    else:  # Range was ignored: the beginning of the whole file will do, and the rest is never read
        length = response.headers.get("Content-Length", "")
        if not re.fullmatch(r"\d{1,19}", length):
            raise FetchError("HubError", f"{printable(name)}: the server ignores Range and gives no Content-Length.")
        size, skip = int(length), begin
    wanted, body = min(end, size) - begin + skip, bytearray()
    while len(body) < wanted:
        check()
        piece = response.raw.read1(min(wanted - len(body), 1 << 20))
        if not piece:
            raise _BrokenOff(f"the answer broke off after {len(body):,} of {wanted:,} bytes")
        body += piece
    return bytes(body[skip:]), size


def _content_range(name: str, value: str, begin: int, end: int) -> int:
    """The size of the whole file, once the range is the one that was asked for."""
    parts = re.fullmatch(r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19})", value)
    if parts:
        first, last, size = map(int, parts.groups())
        if first == begin and last == min(end, size) - 1:
            return size
    raise FetchError(
        "HubError",
        f"{printable(name)}: asked for bytes {begin:,} to {end - 1:,}, and the server answers with Content-Range"
        f" {printable(value or 'missing', 60)}.",
    )


def _target(name: str, url: str, location: str) -> str:
    """Where a redirect leads."""
    with suppress(ValueError, HTTPError):
        target = urljoin(url, location)
        if parse_url(target).scheme in ("http", "https") and parse_url(target).host:
            return target
    raise FetchError("HubError", f"{printable(name)}: redirected to {_bare(location)}.")


def _bare(url: str) -> str:
    """An address without the query, which may hold a signature."""
    return printable(url.partition("?")[0], 60)


def _origin(url: str) -> tuple[str | None, str | None, int | None]:
    """Scheme, host and port, as the library that connects reads them."""
    parts = parse_url(url)
    return parts.scheme, parts.host, parts.port or {"https": 443, "http": 80}.get(parts.scheme or "")


def _cause(error: BaseException) -> str:
    """What went wrong at the bottom, without addresses of objects and without the request's URL."""
    if isinstance(error, _BrokenOff):
        return str(error)
    reason = getattr(error.args[0] if error.args else None, "reason", None) or error
    return f"{type(reason).__name__}. Check the network and the proxy"
