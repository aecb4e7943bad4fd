"""One HTTP session for all that a run reads from a Hub: bounded in time and bytes, and no token for another host."""

from collections.abc import Callable, Iterator, Mapping
from http.cookiejar import DefaultCookiePolicy
from io import BytesIO
from math import inf
from time import monotonic
from typing import Any, NamedTuple, TypeVar

import requests
from urllib3 import BaseHTTPResponse
from urllib3.exceptions import HTTPError

from hfcount.errors import FetchError, FetchKind
from hfcount.fetcher.addresses import joined, origin, where
from hfcount.fetcher.connections import DeadlineAdapter
from hfcount.fetcher.interface import TRANSIENT
from hfcount.fetcher.meter import Meter
from hfcount.fetcher.response_bodies import claimed_length, content_range, spend, too_long, unpacker
from hfcount.fetcher.retry import Deadline
from hfcount.text import address, printable

T = TypeVar("T")

_CONNECT, _READ = 10.0, 30.0  # seconds
_REDIRECTS = 5
_ATTEMPTS = 5  # further ones, after answers that ask to come back
_PIECE = 1 << 20
_SKIPPED = 1 << 20  # bytes that are read in vain
_COMMIT = "X-Repo-Commit"


class Reply(NamedTuple):
    """An HTTP answer: headers, and the requested part of the body."""

    headers: Mapping[str, str]
    body: bytes

    @property
    def commit(self) -> str:
        """Of the repo, where the endpoint names it."""
        return self.headers.get(_COMMIT, "")


class Denied(Exception):
    """A server answered with an error instead of the file.

    Args:
        status: of the answer; code: the Hub's own word for it, such as `GatedRepo`, or empty.
        text: the Hub's message, printable; commit: of the repo, if the answer names it.
        server: the host, without secrets; at_hub: whether it is the endpoint; signed: whether a token was sent.
    """

    def __init__(
        self, status: int, code: str, text: str, *, commit: str, server: str, at_hub: bool, signed: bool
    ) -> None:
        super().__init__(f"{server} answered {status}")
        self.status, self.code, self.text, self.commit = status, code, text, commit
        self.server, self.at_hub, self.signed = server, at_hub, signed

    def error(self, what: str) -> FetchError:
        """The error to raise if the Hub's code does not explain more."""
        if self.code == "GatedRepo":
            then = "with the account of the token that was sent (HF_TOKEN)" if self.signed else "and set HF_TOKEN"
            return FetchError("GatedRepo", f"{what} is gated on {self.server}: accept its terms {then}.")
        detail = f" ({self.text})" if self.text else ""
        hint = " Check the token that was sent (HF_TOKEN)." if self.signed else " Set HF_TOKEN."
        hint = hint if self.status in (401, 403) and self.at_hub else ""
        hint = f" after {_ATTEMPTS + 1} tries. Try again later." if self.status in TRANSIENT else f".{hint}"
        return FetchError("HubError", f"{self.server} answered {self.status} for {what}{detail}{hint}")


class Empty(Exception):
    """The file ends before the range begins."""


class Client:
    """Reads from one endpoint, and from where it redirects to, with one pooled session.

    Args:
        endpoint: scheme, host and perhaps a path, without an end slash.
        headers: sent with every request.
        token: sent to the endpoint's own origin and nowhere else.
        deadline: the time for everything this client is asked.
        meter: counts what the endpoint is asked, where that is limited.
    """

    def __init__(
        self,
        endpoint: str,
        headers: Mapping[str, str],
        token: str | None,
        deadline: Deadline,
        meter: Meter | None = None,
    ) -> None:
        self.endpoint, self.deadline, self._meter = endpoint, deadline, meter
        self._origin, self._token = origin(endpoint), token
        self._session = requests.Session()
        self._session.headers.update(headers)
        self._session.headers["Accept-Encoding"] = "identity"
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        adapter = DeadlineAdapter(deadline)
        self._session.mount("https://", adapter)
        self._session.mount("http://", adapter)
        self._settings: dict[tuple[str | None, str | None, int | None], Any] = {}
        self.round_trip = inf
        """Seconds that the quickest answer took to begin."""

    def close(self) -> None:
        """Closes all connections."""
        self.deadline.end()
        self._session.close()

    def document(self, what: str, url: str, cap: int) -> Reply:
        """A whole document of at most `cap` bytes, whatever length is claimed.

        Raises:
            Denied: the server answered something else.
            FetchError: it could not be had, or is longer.
        """

        def read(response: requests.Response) -> Reply:
            claimed, encoding = claimed_length(response), response.headers.get("Content-Encoding")
            if claimed is not None and claimed > cap:
                raise too_long(what, f"{claimed:,} bytes", cap)
            body, unpack = BytesIO(), unpacker(what, encoding or "identity")  # gives its bytes without a copy
            for piece in self._pieces(response.raw):
                body.write(unpack(piece, cap + 1 - body.tell()))
                if body.tell() > cap:
                    raise too_long(what, "more bytes", cap)
            if encoding is None and claimed is not None and body.tell() < claimed:
                raise BrokenOff(f"the answer broke off after {body.tell():,} of {claimed:,} bytes")
            return Reply(response.headers, body.getvalue())

        return self._try(what, url, {}, read)

    def range(self, what: str, url: str, begin: int, end: int) -> tuple[bytes, int]:
        """Bytes `begin` to `end` of a file (fewer where it ends before), and the size of the whole, in bytes.

        Raises:
            Denied: the server answered something else.
            Empty: it ends before `begin`.
            FetchError: it could not be had, or the server does not serve ranges.
        """
        asked = {"Range": f"bytes={begin}-{end - 1}"}
        return self._try(what, url, asked, lambda response: self._body(what, response, begin, end))

    def _try(self, what: str, url: str, headers: Mapping[str, str], read: Callable[[requests.Response], T]) -> T:
        for attempt in (1, 2):  # a body that breaks off, or a signed address that has expired, is worth one more try
            try:
                with self._open(what, url, headers) as response:
                    return read(response)
            except (BrokenOff, HTTPError, requests.RequestException, OSError) as error:
                self.deadline.check()
                if attempt == 2 or isinstance(error, requests.RequestException):  # which has been tried again before
                    kind: FetchKind = "HubError" if isinstance(error, _Refused) else "NoNetwork"
                    raise FetchError(kind, f"{what}: {_cause(error, where(url))}.") from None
        raise AssertionError("unreachable")

    def _open(self, what: str, url: str, headers: Mapping[str, str]) -> requests.Response:
        """The answer of the last of a chain of redirects."""
        current, hops, attempts, commit = url, 0, 0, ""
        while hops < _REDIRECTS:
            self.deadline.check()
            response = self._metered(what, current, headers)
            try:
                self.deadline.check()  # headers that it cut short look like whole ones
            except FetchError:
                response.close()
                raise
            status = response.status_code
            if origin(current) == self._origin:
                commit = response.headers.get(_COMMIT, commit)
            if commit:  # which the host that a file lies on does not say
                response.headers[_COMMIT] = commit
            if status == 200 or (status == 206 and headers):
                return response
            spend(response, self.deadline)
            if status in (301, 302, 303, 307, 308) and "Location" in response.headers:
                target = joined(current, location := response.headers["Location"])
                if target is None:
                    raise FetchError("HubError", f"{what}: redirected to {address(location, 60)}.")
                current, hops = target, hops + 1
            elif status in TRANSIENT and attempts < _ATTEMPTS:
                attempts += 1
                self.deadline.announce(f"{where(current)} ({status}, try {attempts + 1} of {_ATTEMPTS + 1})")
                self.deadline.pause(response.headers, attempts - 1)
            elif status == 416 and headers:
                raise Empty
            else:
                raise self._refusal(response, current, commit)
        raise FetchError("HubError", f"{what}: more than {_REDIRECTS} redirects from {where(url)}.")

    def _refusal(self, response: requests.Response, url: str, commit: str) -> Exception:
        """What an answer that is not the file says."""
        status, at_hub = response.status_code, origin(url) == self._origin
        if status == 403 and not at_hub:
            return _Refused("the signed address was refused (403)")
        text = printable(response.headers.get("X-Error-Message", ""), 160)
        code, signed = response.headers.get("X-Error-Code", ""), at_hub and self._token is not None
        return Denied(status, code, text, commit=commit, server=where(url), at_hub=at_hub, signed=signed)

    def _metered(self, what: str, url: str, headers: Mapping[str, str]) -> requests.Response:
        """One request, counted where the endpoint's quota is shared."""
        meter = self._meter if self._meter and origin(url) == self._origin else None
        if meter is None:
            return self._ask(what, url, headers)
        meter.spend()
        try:
            response = self._ask(what, url, headers)
        except BaseException:
            meter.lose()
            raise
        try:
            meter.hear(response.status_code, response.headers)
        except BaseException:
            response.close()
            raise
        return response

    def _ask(self, what: str, url: str, headers: Mapping[str, str]) -> requests.Response:
        """One request; a redirect is not followed here, since each hop decides anew whether it may see the token."""
        try:
            asked = self._prepared(url, headers)
            place = origin(asked.url or "")
        except (ValueError, requests.RequestException):
            raise FetchError("HubError", f"{what}: {address(url, 60)} is not a valid address.") from None
        if place not in self._settings:  # proxies and certificates, which requests would look up each time
            self._settings[place] = self._session.merge_environment_settings(asked.url, {}, True, None, None)
        left = max(self.deadline.left(), 0.001)
        begun = monotonic()
        answer = self._session.get_adapter(asked.url or "").send(
            asked, timeout=(min(_CONNECT, left), min(_READ, left)), **self._settings[place]
        )
        self.round_trip = min(self.round_trip, monotonic() - begun)
        return answer

    def _prepared(self, url: str, headers: Mapping[str, str]) -> requests.PreparedRequest:
        """A request with the token if it is for the endpoint, by the address as it will be asked.

        Made by hand: the session would look for credentials in ~/.netrc, for cookies, and for what a body could be.

        Raises:
            ValueError, requests.RequestException: that is no address.
        """
        request = requests.PreparedRequest()
        request.prepare_method("GET")
        request.prepare_url(url, None)
        request.prepare_headers({**self._session.headers, **headers})
        if self._token and origin(request.url or "") == self._origin:
            request.headers["Authorization"] = f"Bearer {self._token}"
        return request

    def _pieces(self, raw: BaseHTTPResponse) -> Iterator[bytes]:
        while True:
            self.deadline.check()
            piece = raw.read1(_PIECE, decode_content=False)
            if not piece:
                return
            yield piece

    def _body(self, what: str, response: requests.Response, begin: int, end: int) -> tuple[bytes, int]:
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise FetchError("HubError", f"{what}: the server compresses ranges, which hfcount cannot read.")
        skip = 0
        if response.status_code == 206:
            size = content_range(what, response.headers.get("Content-Range", ""), begin, end)
        else:  # Range was ignored: the beginning of the whole file will do, and the rest is never read
            length = claimed_length(response)
            if length is None:
                raise FetchError("HubError", f"{what}: the server ignores Range and sends no Content-Length.")
            if begin > _SKIPPED:
                raise FetchError("HubError", f"{what}: the server ignores Range, and {begin:,} bytes come before.")
            size, skip = length, begin
        wanted, body, received = min(end, size) - begin + skip, BytesIO(), 0
        while received < wanted:
            self.deadline.check()
            piece = response.raw.read1(min(wanted - received, _PIECE))
            if not piece:
                raise BrokenOff(f"the answer broke off after {received:,} of {wanted:,} bytes")
            received += len(piece)
            body.write(piece[max(len(piece) - max(received - skip, 0), 0) :])
        return body.getvalue(), size


class BrokenOff(Exception):
    """An answer that ended too early."""


class _Refused(BrokenOff):
    """An answer of another host that the Hub's own address should not have led to."""


def _cause(error: BaseException, host: str) -> str:
    """What went wrong at the bottom, without addresses of objects and without the request's URL."""
    if isinstance(error, BrokenOff):
        return f"{error} ({host})"
    reason = getattr(error.args[0] if error.args else None, "reason", None) or error
    return f"{host} cannot be reached ({type(reason).__name__}). Check the network and the proxy"
