"""Headers over HTTP: what is asked, what counts as an answer, how often it is asked again, and who sees the token."""

import io
import json
import re
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import responses
from conftest import CLOSED
from loopback import Fault, Hub
from requests import PreparedRequest

from hfcount.errors import FetchError
from hfcount.fetcher.client import Client
from hfcount.fetcher.ranges import PREFETCH, Headers
from hfcount.fetcher.retry import Deadline
from hfcount.formats.safetensors import Shard

HUB, CDN = "https://hub.test", "https://cdn.test"
TOKEN, SIGNATURE = "hf_ATokenNobodyMaySee", "Signature=0a1b2c3d"
NAME = "model.safetensors"
URL = f"{HUB}/org/tiny/resolve/main/{NAME}"
SIGNED = f"{CDN}/blob?{SIGNATURE}"
BEARER = f"Bearer {TOKEN}"

Answer = Callable[[PreparedRequest], tuple[int, Mapping[str, str], Any]]


def file_of(header_bytes: int | None = None) -> bytes:
    """A file of one tensor and four bytes of data, its header padded to so many bytes."""
    header = json.dumps({"x": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}}).encode()
    header = header.ljust(header_bytes or len(header))
    return len(header).to_bytes(8, "little") + header + b"\0" * 4


FILE = file_of()
SIZE = len(FILE)
LONG = file_of(PREFETCH + 1_000)
DIGITS = "9" * 5_000  # more than Python turns into a number


# What a server answers


def ranged(file: bytes = FILE, *, body: bytes | None = None, **headers: str | None) -> Answer:
    """206 with the range that was asked for, another `body` in its place, or other headers; None leaves one out."""

    def answer(request: PreparedRequest) -> tuple[int, Mapping[str, str], bytes]:
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", request.headers["Range"])
        assert asked is not None
        begin, end = int(asked[1]), min(int(asked[2]) + 1, len(file))
        facts = {"Content_Range": f"bytes {begin}-{end - 1}/{len(file)}"} | headers
        return 206, _headers(facts), file[begin:end] if body is None else body

    return answer


def whole(file: Any = FILE, **headers: str | None) -> Answer:
    """200 with the whole file, whatever was asked for."""
    return lambda request: (200, _headers({"Content_Length": str(len(file))} | headers), file)


def status(code: int, **headers: str | None) -> Answer:
    return lambda request: (code, _headers(headers), b"{}")


def to(location: str) -> Answer:
    return status(302, Location=location)


def _headers(given: Mapping[str, str | None]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in given.items() if value is not None}


class Servers(responses.RequestsMock):
    """Servers by their origin; each gives the answers it is told, one after another, and the last of them for ever."""

    def tell(self, origin: str, *answers: Answer, path: str = "") -> None:
        left = list(answers)
        self.add_callback(
            responses.GET,
            re.compile(re.escape(origin) + r"(?=/).*" + re.escape(path)),
            lambda request: left.pop(0)(request) if len(left) > 1 else left[0](request),
            content_type=None,
        )

    @property
    def bearers(self) -> list[tuple[str, str | None]]:
        """Origin and credentials of each request."""
        requests = [call.request for call in self.calls]
        return [("/".join(str(one.url).split("/")[:3]), one.headers.get("Authorization")) for one in requests]


@pytest.fixture
def servers() -> Iterator[Servers]:
    mocked = Servers(assert_all_requests_are_fired=False)
    with mocked:
        yield mocked


class Reader:
    """What reads headers with a client of its own."""

    def __init__(self, endpoint: str, token: str | None, limit: Deadline) -> None:
        self.client = Client(endpoint, {"User-Agent": "hfcount/test"}, token, limit)

    def read(self, urls: Mapping[str, str], done: Callable[[], None]) -> Mapping[str, Shard]:
        with closing(self.client) as client:
            return Headers(client, urls).collect(urls, done)


class Hasty(Deadline):
    """Does not wait where a real one would."""

    def wait(self, seconds: float) -> None:
        self.check()


def reader(endpoint: str = HUB, token: str | None = TOKEN, limit: Deadline | None = None) -> Reader:
    return Reader(endpoint, token, limit or Hasty(5.0))


def read(url: str = URL, token: str | None = TOKEN) -> Shard | None:
    """The shard behind a URL; None when it is not there."""
    return reader(token=token).read({NAME: url}, lambda: None).get(NAME)


def assert_good(shard: Shard | None, file: bytes = FILE) -> None:
    assert shard is not None
    assert (shard.problem, shard.size) == (None, len(file))
    assert shard.header is not None
    assert (shard.header.file_bytes, list(shard.header.tensors)) == (len(file), ["x"])


def assert_tells_no_secret(error: BaseException) -> None:
    """Neither in its message nor in what a traceback would show."""
    text = "".join(traceback.format_exception(error))
    assert TOKEN not in text
    assert SIGNATURE not in text


# A good answer, at once or after a while


@pytest.mark.parametrize(
    ("answers", "file", "requests"),
    [
        pytest.param([ranged()], FILE, 1, id="206"),
        pytest.param([ranged(Content_Encoding="identity")], FILE, 1, id="said not to be compressed"),
        pytest.param([ranged(LONG)], LONG, 2, id="a long header"),
        pytest.param([whole()], FILE, 1, id="200"),
        pytest.param([whole(LONG)], LONG, 2, id="200 and a long header"),
        pytest.param([ranged(LONG), whole(LONG)], LONG, 2, id="206 and then 200"),
        pytest.param([ranged(body=FILE[:20]), ranged()], FILE, 2, id="broken off once"),
        pytest.param([ranged(body=b""), ranged()], FILE, 2, id="broken off once before the first byte"),
        pytest.param([whole(FILE[:20], Content_Length=str(SIZE)), whole()], FILE, 2, id="200, broken off once"),
        pytest.param([ranged(LONG), ranged(LONG, body=b"{"), ranged(LONG)], LONG, 3, id="the rest broken off once"),
        pytest.param([status(500), ranged()], FILE, 2, id="500 once"),
        pytest.param([status(408), status(502), status(504), ranged()], FILE, 4, id="408, 502, 504"),
        pytest.param([status(429, Retry_After="0"), ranged()], FILE, 2, id="429 once"),
        pytest.param([ranged(LONG), status(503), ranged(LONG)], LONG, 3, id="503 between the two requests"),
        pytest.param([to("/elsewhere"), ranged()], FILE, 2, id="redirected within the host"),
        pytest.param([to("../a"), to("/b"), to("?c=1"), to(f"{HUB}/d"), ranged()], FILE, 5, id="four redirects"),
    ],
)
def test_a_header_is_read(servers: Servers, answers: list[Answer], file: bytes, requests: int) -> None:
    servers.tell(HUB, *answers)
    assert_good(read(), file)
    assert len(servers.calls) == requests


@pytest.mark.parametrize("spare", range(-9, 2))
def test_a_header_around_the_first_request_is_read(servers: Servers, spare: int) -> None:
    """With its length it takes 8 bytes more, and the first request brings PREFETCH."""
    file = file_of(PREFETCH + spare)
    servers.tell(HUB, ranged(file))
    assert_good(read(), file)
    first, *rest = [call.request.headers["Range"] for call in servers.calls]
    assert first == f"bytes=0-{PREFETCH - 1}"
    assert rest == ([f"bytes={PREFETCH}-{PREFETCH + spare + 7}"] if spare > -8 else [])


def test_every_request_refuses_compression(servers: Servers) -> None:
    servers.tell(HUB, to(SIGNED))
    servers.tell(CDN, ranged(LONG))
    assert_good(read(), LONG)
    assert {call.request.headers["Accept-Encoding"] for call in servers.calls} == {"identity"}
    assert {call.request.headers["User-Agent"] for call in servers.calls} == {"hfcount/test"}


class Endless(io.RawIOBase):
    """A file, then zeros for ever; `given` bytes were read of it."""

    def __init__(self, file: bytes) -> None:
        self.file, self.given = file, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = len(buffer)
        buffer[:] = self.file[self.given : self.given + size].ljust(size, b"\0")
        self.given += size
        return size


@pytest.mark.parametrize(
    ("file", "most"), [pytest.param(FILE, PREFETCH, id="short"), pytest.param(LONG, 2 * PREFETCH + 1_008, id="long")]
)
def test_a_whole_file_is_read_no_further_than_needed(servers: Servers, file: bytes, most: int) -> None:
    """A server that ignores Range would send 5 GB."""
    bodies = [Endless(file), Endless(file)]
    rest = iter(bodies)
    servers.tell(HUB, lambda request: (200, {"Content-Length": str(5 * 10**9)}, io.BufferedReader(next(rest))))
    shard = read()
    assert shard is not None
    assert shard.header is not None
    assert (shard.size, shard.header.file_bytes) == (5 * 10**9, len(file))
    assert 0 < sum(body.given for body in bodies) <= most + 2 * io.DEFAULT_BUFFER_SIZE


# A file that is not there, or is none


def test_404_is_left_out(servers: Servers) -> None:
    servers.tell(HUB, status(404, X_Error_Code="EntryNotFound"))
    assert read() is None


@pytest.mark.parametrize(
    ("answer", "size", "says"),
    [
        pytest.param(status(416, Content_Range="bytes */0"), 0, "0 bytes", id="empty"),
        pytest.param(whole(b""), 0, "0 bytes", id="empty, 200"),
        pytest.param(ranged(b"PK\3\4"), 4, "4 bytes", id="four bytes"),
        pytest.param(ranged(FILE[:30]), 30, "cut off", id="ends within its header"),
        pytest.param(ranged(b"version https://git-lfs.github.com/spec/v1\n"), 43, "Git LFS", id="Git LFS pointer"),
        pytest.param(whole(b"<!DOCTYPE html><title>Log in</title>"), 36, "HTML", id="HTML page"),
        pytest.param(ranged(LONG[: PREFETCH + 500]), PREFETCH + 500, "cut off", id="ends within a long header"),
    ],
)
def test_what_is_no_weight_file_is_a_problem_of_that_file(
    servers: Servers, answer: Answer, size: int, says: str
) -> None:
    servers.tell(HUB, answer)
    shard = read()
    assert shard is not None
    assert (shard.size, shard.header, len(servers.calls)) == (size, None, 1)
    assert says in (shard.problem or "")


# What is no answer


def content_range(value: str | None) -> Answer:
    return ranged(Content_Range=value)


@pytest.mark.parametrize(
    ("answers", "kind", "says"),
    [
        pytest.param([content_range(None)], "HubError", "Content-Range", id="no Content-Range"),
        pytest.param([content_range("")], "HubError", "Content-Range", id="empty Content-Range"),
        pytest.param([content_range(f"bytes 1-{SIZE - 1}/{SIZE}")], "HubError", "Content-Range", id="begins later"),
        pytest.param([content_range(f"bytes 0-{SIZE - 2}/{SIZE}")], "HubError", "Content-Range", id="ends before"),
        pytest.param([content_range(f"bytes 0-{SIZE - 1}/*")], "HubError", "Content-Range", id="of unknown size"),
        pytest.param([content_range(f"bytes 0-{SIZE - 1}/9")], "HubError", "Content-Range", id="of a smaller size"),
        pytest.param([content_range(f"items 0-{SIZE - 1}/{SIZE}")], "HubError", "Content-Range", id="of another unit"),
        pytest.param([content_range("bytes 0-9/10\x1b[31m")], "HubError", "Content-Range", id="Content-Range in red"),
        pytest.param([content_range(f"bytes 0-9/{DIGITS}")], "HubError", "Content-Range", id="of 5,000 digits"),
        pytest.param(
            [ranged(LONG), content_range("bytes 0-9/10")], "HubError", "Content-Range", id="the rest begins at 0"
        ),
        pytest.param([ranged(Content_Encoding="gzip")], "HubError", "compress", id="compressed"),
        pytest.param([whole(Content_Encoding="br")], "HubError", "compress", id="200 and compressed"),
        pytest.param([whole(Content_Length=None)], "HubError", "Content-Length", id="200 without Content-Length"),
        pytest.param([whole(Content_Length="many")], "HubError", "Content-Length", id="200 of unknown length"),
        pytest.param([whole(Content_Length=DIGITS)], "HubError", "Content-Length", id="200 of 5,000 digits"),
        pytest.param([ranged(body=FILE[:20])], "NoNetwork", "20 of", id="always broken off"),
        pytest.param([ranged(body=b"")], "NoNetwork", "0 of", id="always empty"),
        pytest.param([ranged(LONG), ranged(LONG, body=b"{")], "NoNetwork", "1 of", id="the rest always broken off"),
        pytest.param([status(401)], "HubError", "401", id="401"),
        pytest.param([status(403)], "HubError", "403", id="403"),
        pytest.param([status(401, X_Error_Code="GatedRepo")], "GatedRepo", "HF_TOKEN", id="401, gated"),
        pytest.param([status(403, X_Error_Code="GatedRepo")], "GatedRepo", "terms", id="403, gated"),
        pytest.param([status(418)], "HubError", "418", id="a status without a meaning"),
        pytest.param([status(204)], "HubError", "204", id="no content"),
        pytest.param([status(304)], "HubError", "304", id="not modified"),
        pytest.param([status(503)], "HubError", "503", id="always 503"),
        pytest.param([status(429)], "HubError", "429", id="always 429"),
        pytest.param([status(302)], "HubError", "302", id="redirected nowhere"),
        pytest.param([to(URL)], "HubError", "redirects", id="redirected in a circle"),
        pytest.param([to("/a"), to("/b")], "HubError", "redirects", id="redirected to and fro"),
        pytest.param([to("file:///etc/passwd")], "HubError", "redirect", id="redirected to a file"),
        pytest.param([to("ftp://hub.test/blob")], "HubError", "redirect", id="redirected to FTP"),
        pytest.param([to("data:,blob")], "HubError", "redirect", id="redirected to data"),
        pytest.param([to(f"http://[::1?{SIGNATURE}")], "HubError", "redirect", id="redirected to half an address"),
        pytest.param([to(f"{HUB}:99999/?{SIGNATURE}")], "HubError", "redirect", id="redirected to no port"),
        pytest.param([to(f"http:///x?{SIGNATURE}")], "HubError", "redirect", id="redirected to no host"),
    ],
)
def test_what_is_no_answer_is_named(servers: Servers, answers: list[Answer], kind: str, says: str) -> None:
    servers.tell(HUB, *answers)
    with pytest.raises(FetchError, match=re.escape(says)) as caught:
        read()
    assert caught.value.kind == kind
    assert "\x1b" not in str(caught.value)
    assert_tells_no_secret(caught.value)


@pytest.mark.parametrize(
    ("answers", "requests"),
    [
        pytest.param([status(503)], 6, id="a server that is not well is asked six times"),
        pytest.param([ranged(body=b"")], 2, id="a body that breaks off twice"),
        pytest.param([status(403)], 1, id="a refusal is final"),
        pytest.param([ranged(Content_Encoding="gzip")], 1, id="so is compression"),
        pytest.param([to(URL)], 5, id="a circle is left after five rounds"),
    ],
)
def test_asking_again_has_an_end(servers: Servers, answers: list[Answer], requests: int) -> None:
    servers.tell(HUB, *answers)
    with pytest.raises(FetchError):
        read()
    assert len(servers.calls) == requests


# Another host


def test_a_signed_address_that_has_expired_is_asked_for_anew(servers: Servers) -> None:
    servers.tell(HUB, to(SIGNED))
    servers.tell(CDN, status(403), ranged())
    assert_good(read())
    assert [origin for origin, _ in servers.bearers] == [HUB, CDN, HUB, CDN]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        pytest.param(status(403), "403", id="a signed address that is always refused"),
        pytest.param(status(400), "400", id="400"),
        pytest.param(status(503), "503", id="503"),
        pytest.param(ranged(body=b""), "broke off", id="broken off"),
        pytest.param(ranged(Content_Range=None), "Content-Range", id="no Content-Range"),
    ],
)
def test_no_message_holds_a_secret(servers: Servers, answer: Answer, says: str) -> None:
    """Neither the token nor the signature of an address."""
    servers.tell(HUB, to(SIGNED))
    servers.tell(CDN, answer)
    with pytest.raises(FetchError, match=says) as caught:
        read()
    assert_tells_no_secret(caught.value)


@pytest.mark.parametrize(
    ("endpoint", "location", "sent"),
    [
        pytest.param(HUB, "/elsewhere", BEARER, id="the same origin"),
        pytest.param(HUB, "https://hub.test:443/blob", BEARER, id="the same port, spelt out"),
        pytest.param(HUB, "https://cdn.test/blob", None, id="another host"),
        pytest.param(HUB, "//cdn.test/blob", None, id="another host by two slashes"),
        pytest.param(HUB, "http://hub.test/blob", None, id="without TLS"),
        pytest.param("http://hub.test", "https://hub.test/blob", None, id="with TLS"),
        pytest.param(HUB, "https://hub.test:8443/blob", None, id="another port"),
        pytest.param(HUB, "https://cdn.hub.test/blob", None, id="a host below"),
        pytest.param(HUB, "https://hub.test.evil.test/blob", None, id="a host that begins alike"),
        pytest.param(HUB, "https://hub.test@evil.test/blob", None, id="a user called like the host"),
        pytest.param(HUB, "https://user:password@cdn.test/blob", None, id="credentials in the address"),
        pytest.param(HUB, r"https://evil.test\@hub.test/blob", None, id="a backslash"),
    ],
)
def test_only_the_endpoints_own_origin_sees_the_token(
    servers: Servers, endpoint: str, location: str, sent: str | None
) -> None:
    asked = []

    def answer(request: PreparedRequest) -> tuple[int, Mapping[str, str], Any]:
        asked.append(request.headers.get("Authorization"))
        return (to(location) if len(asked) == 1 else ranged())(request)

    servers.add_callback(responses.GET, re.compile(".*"), answer)
    assert_good(reader(endpoint).read({NAME: URL.replace(HUB, endpoint)}, lambda: None)[NAME])
    assert asked == [BEARER, sent]


def test_the_token_does_not_come_back_through_another_host(servers: Servers) -> None:
    """The endpoint may see it at every hop; the host between may not."""
    servers.tell(HUB, to(SIGNED), ranged())
    servers.tell(CDN, to(URL))
    assert_good(read())
    assert servers.bearers == [(HUB, BEARER), (CDN, None), (HUB, BEARER)]


@pytest.mark.parametrize("token", [TOKEN, None], ids=["token", "no token"])
def test_netrc_is_not_consulted(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token: str | None
) -> None:
    """requests would put its entry in the token's place."""
    netrc = tmp_path / "netrc"
    netrc.write_text("".join(f"machine {host} login me password secret\n" for host in ("hub.test", "cdn.test")))
    monkeypatch.setenv("NETRC", str(netrc))
    servers.tell(HUB, to(SIGNED))
    servers.tell(CDN, ranged())
    assert_good(read(token=token))
    assert servers.bearers == [(HUB, BEARER if token else None), (CDN, None)]


def test_cookies_are_not_kept(servers: Servers) -> None:
    cookie = "id=1; Path=/; Domain=hub.test"
    servers.tell(HUB, status(302, Location="/elsewhere", Set_Cookie=cookie), ranged(LONG, Set_Cookie=cookie))
    assert_good(read(), LONG)
    assert len(servers.calls) == 3
    assert not any("Cookie" in call.request.headers for call in servers.calls)


# Several files


def test_each_file_is_answered_for_itself(servers: Servers) -> None:
    servers.tell(HUB, ranged(), path="a.safetensors")
    servers.tell(HUB, status(404), path="b.safetensors")
    servers.tell(HUB, ranged(LONG), path="c.safetensors")
    done: list[None] = []
    shards = reader().read({name: f"{HUB}/{name}.safetensors" for name in "abc"}, lambda: done.append(None))
    assert sorted(shards) == ["a", "c"]
    assert_good(shards["a"])
    assert_good(shards["c"], LONG)
    assert len(done) == 3


def test_one_that_fails_fails_all_and_leaves_no_thread(servers: Servers) -> None:
    servers.tell(HUB, status(418), path="/0.safetensors")
    servers.tell(HUB, ranged(), path=".safetensors")
    before = set(threading.enumerate())
    with pytest.raises(FetchError, match="418"):
        reader().read({f"{number}": f"{HUB}/{number}.safetensors" for number in range(40)}, lambda: None)
    assert set(threading.enumerate()) <= before  # those of other tests may end meanwhile


# Waiting, which only a real server shows


@pytest.fixture
def url(hub: Hub, tmp_path: Path) -> str:
    """A file on a loopback Hub."""
    (tmp_path / NAME).write_bytes(FILE)
    hub.publish("org/tiny", tmp_path)
    return f"{hub.url}/org/tiny/resolve/main/{NAME}"


def patient(url: str, deadline: float) -> Shard:
    return reader(url.partition("/org/")[0], limit=Deadline(deadline)).read({NAME: url}, lambda: None)[NAME]


RETRY_AT_ONCE, PAST = {"Retry-After": "0"}, "Wed, 21 Oct 2015 07:28:00 GMT"


@pytest.mark.parametrize(
    ("fault", "requests"),
    [
        pytest.param(Fault(status=429, headers=RETRY_AT_ONCE, times=1), 2, id="429"),
        pytest.param(Fault(status=429, headers=RETRY_AT_ONCE, times=4), 5, id="429, four times"),
        pytest.param(Fault(status=503, headers=RETRY_AT_ONCE, times=5), 6, id="503, five times"),
        pytest.param(Fault(status=500, times=1), 2, id="500"),
        pytest.param(Fault(status=504, headers={"Retry-After": PAST}, times=2), 3, id="504 until a date"),
        pytest.param(Fault(cut=0.5, times=1), 2, id="closed half-way"),
        pytest.param(Fault(cut=0.0, times=1), 2, id="closed before the first byte"),
        pytest.param(Fault(whole=True), 1, id="200"),
    ],
)
def test_a_fault_that_passes_changes_nothing(hub: Hub, url: str, fault: Fault, requests: int) -> None:
    hub.faults[NAME] = [fault]
    assert_good(patient(url, deadline=60))
    assert len(hub.requests) == requests


@pytest.mark.parametrize(
    ("fault", "deadline", "kind", "says"),
    [
        pytest.param({"Retry-After": "3600"}, 300, "HubError", "3,600 seconds", id="Retry-After of an hour"),
        pytest.param({"Retry-After": "2"}, 1, "HubError", "2 seconds", id="Retry-After beyond the deadline"),
        pytest.param({"Retry-After": DIGITS}, 300, "HubError", "wait", id="Retry-After of 5,000 digits"),
        pytest.param({"RateLimit": '"resolvers";r=0;t=55'}, 10, "HubError", "56 seconds", id="RateLimit"),
        pytest.param({"RateLimit": '"resolvers"; r=0; t=400'}, 300, "HubError", "401 seconds", id="RateLimit, spaced"),
        pytest.param({"RateLimit": '"resolvers";r=7;t=55'}, 0.3, "NoNetwork", "longer", id="RateLimit with some left"),
        pytest.param({}, 0.3, "NoNetwork", "longer", id="until the deadline"),
        pytest.param(RETRY_AT_ONCE, 10, "HubError", "429", id="again and again"),
    ],
)
def test_waiting_has_an_end(hub: Hub, url: str, fault: dict[str, str], deadline: float, kind: str, says: str) -> None:
    hub.faults[NAME] = [Fault(status=429, headers=fault)]
    began = time.monotonic()
    with pytest.raises(FetchError, match=says) as caught:
        patient(url, deadline)
    assert caught.value.kind == kind
    assert time.monotonic() - began < 60
    assert_tells_no_secret(caught.value)


def test_a_rate_limit_is_waited_for(hub: Hub, url: str) -> None:
    """One second more than the server says, as huggingface_hub does."""
    hub.faults[NAME] = [Fault(status=429, headers={"RateLimit": '"resolvers";r=0;t=0'}, times=1)]
    began = time.monotonic()
    assert_good(patient(url, deadline=60))
    assert time.monotonic() - began >= 1


class Told(Deadline):
    """What it is asked to wait, without waiting."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.waits: list[float] = []

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)


def test_without_a_word_of_when_it_waits_twice_as_long_each_time() -> None:
    deadline = Told(60)
    for attempt in range(6):
        deadline.pause({}, attempt)
    deadline.pause(RETRY_AT_ONCE, 3)
    assert deadline.waits == [0.5, 1, 2, 4, 8, 8, 0]


def test_one_that_fails_ends_the_waiting_of_all(hub: Hub, url: str) -> None:
    hub.faults = {"refused": [Fault(status=403)], NAME: [Fault(status=503, headers={"Retry-After": "300"})]}
    began = time.monotonic()
    with pytest.raises(FetchError, match="403"):
        reader(hub.url, limit=Deadline(600.0)).read(
            {"a": url.replace(NAME, "refused")} | dict.fromkeys("bcd", url), lambda: None
        )
    assert time.monotonic() - began < 60


def test_no_server_is_no_network() -> None:
    with pytest.raises(FetchError) as caught:
        patient(f"{CLOSED}/org/tiny/resolve/main/{NAME}", deadline=0.3)
    assert caught.value.kind == "NoNetwork"
    assert_tells_no_secret(caught.value)
