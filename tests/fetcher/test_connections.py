"""Connections to a Hub: kept where they can be, as many as serve, and over TLS only with who is trusted."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from math import inf
from pathlib import Path
from ssl import PROTOCOL_TLS_SERVER, SSLContext
from typing import Any

import pytest
from loopback import Answer, Fault, Hub, Server, write_shard
from paths import SUPPORT
from urllib3.util import parse_url

from hfcount.errors import FetchError
from hfcount.fetcher.client import Client
from hfcount.fetcher.connections import FEWEST, MOST, _Trusted, workers
from hfcount.fetcher.ranges import PREFETCH, Headers, likely_length
from hfcount.fetcher.response_bodies import _SPENT
from hfcount.fetcher.retry import Deadline
from hfcount.formats.safetensors import Shard

MODEL, NAME = "org/tiny", "model.safetensors"

# For the loopback alone, and one of the same key for another host; both until 2120.
HERE, ELSEWHERE = ((SUPPORT / "certificates" / f"{name}.pem").read_text() for name in ("here", "elsewhere"))


@pytest.fixture
def address(hub: Hub, tmp_path: Path) -> str:
    """Of a weight file on a loopback Hub."""
    (tmp_path / "repo").mkdir()
    write_shard(tmp_path / "repo" / NAME, {"x": ("BF16", (2,))})
    return f"{hub.url}/{MODEL}/resolve/{hub.publish(MODEL, tmp_path / 'repo')}/{NAME}"


def client(endpoint: str, seconds: float = 60.0) -> Client:
    return Client(endpoint, {}, None, Deadline(seconds))


def _read(asked: Client, urls: Mapping[str, str], likely: int = PREFETCH) -> dict[str, Shard]:
    return Headers(asked, urls, likely=likely).collect(urls, lambda: None)


def read(asked: Client, address: str, times: int) -> list[bytes]:
    """A file's beginning, again and again."""
    return [asked.range(NAME, address, 0, 8)[0] for _ in range(times)]


# Connections that are kept


@pytest.mark.parametrize(
    ("body", "to_the_hub"),
    [
        pytest.param(0, 1, id="no body"),
        pytest.param(1_000, 1, id="a short body"),
        pytest.param(_SPENT, 1, id="the longest that is read"),
        pytest.param(_SPENT + 1, 4, id="a longer one"),
        pytest.param(50_000_000, 4, id="50 MB"),
    ],
)
def test_a_connection_serves_again_after_a_redirect_with_a_short_body(
    hub: Hub, address: str, tmp_path: Path, body: int, to_the_hub: int
) -> None:
    location = {"Location": hub.cdn.offer(tmp_path / "repo" / NAME)}
    hub.faults[NAME] = [Fault(status=302, headers=location, body=bytes(body))]
    with closing(client(hub.url)) as asked:
        assert len(set(read(asked, address, 4))) == 1
    assert (hub.connections, hub.cdn.connections) == (to_the_hub, 1)
    assert len(hub.requests) == len(hub.cdn.requests) == 4


@pytest.mark.parametrize("status", [404, 503])
def test_a_connection_serves_again_after_an_error(hub: Hub, address: str, status: int) -> None:
    hub.faults[NAME] = [Fault(status=status, headers={"Retry-After": "0"}, body=b"{}", times=1)]
    hub.faults["absent"] = [Fault(status=404)]
    with closing(client(hub.url)) as asked:
        assert _read(asked, {"absent": f"{address[: -len(NAME)]}absent"}) == {}
        assert _read(asked, {NAME: address}).keys() == ({NAME} if status == 503 else set())
    assert hub.connections == 1


def test_what_is_waited_for_is_said(hub: Hub, address: str) -> None:
    lines: list[str] = []
    hub.faults[NAME] = [Fault(status=503, headers={"Retry-After": "0"}, body=b"{}", times=2)]
    with closing(Client(hub.url, {}, None, Deadline(60, lines.append))) as asked:
        assert _read(asked, {NAME: address}).keys() == {NAME}
    assert lines == [f"waiting for {hub.url} (503, try {number} of 6)" for number in (2, 3)]


def test_a_redirect_whose_body_does_not_come_is_followed(hub: Hub, address: str, tmp_path: Path) -> None:
    """After a moment, and over a new connection the next time."""
    location = {"Location": hub.cdn.offer(tmp_path / "repo" / NAME), "Content-Length": "900"}
    hub.faults[NAME] = [Fault(status=302, headers=location, body=b"", times=1)]
    with closing(client(hub.url)) as asked:
        assert len(set(read(asked, address, 2))) == 1
    assert hub.connections == 2


# How many


@pytest.mark.parametrize(
    ("round_trip", "several"),
    [(0.0, FEWEST), (0.001, FEWEST), (0.04, 16), (0.08, MOST), (0.5, MOST), (30.0, MOST), (inf, MOST)],
)
def test_as_many_are_opened_as_the_distance_asks_for(round_trip: float, several: int) -> None:
    assert workers(round_trip) == several


def test_no_more_are_opened_than_there_are_workers(hub: Hub, address: str) -> None:
    with closing(client(hub.url)) as asked:
        asked.round_trip = 0.0
        found = _read(asked, {f"{number}": f"{address}?{number}" for number in range(60)})
    assert (len(found), len(hub.requests)) == (60, 60)
    assert hub.connections <= FEWEST


# How much is asked for


@pytest.mark.parametrize(
    ("index", "shards", "likely"),
    [
        pytest.param(None, 1, PREFETCH, id="no index"),
        pytest.param(60_000, 0, PREFETCH, id="no shards"),
        pytest.param(60_000, 17, 8_192, id="32B"),
        pytest.param(0, 1, 8_192, id="an index of nothing"),
        pytest.param(400_000, 10, 80_000, id="long headers"),
        pytest.param(10**18, 1, 262_144, id="an index that nobody reads"),
    ],
)
def test_the_index_says_how_long_headers_are(index: int | None, shards: int, likely: int) -> None:
    assert likely_length(index, shards) == likely


@pytest.mark.parametrize("likely", [8, 8_192, PREFETCH, 262_144])
@pytest.mark.parametrize("tensors", [1, 100, 1_500])
def test_a_header_is_read_whole_however_much_was_expected(
    hub: Hub, address: str, tmp_path: Path, likely: int, tensors: int
) -> None:
    names = [f"model.layers.{number}.weight" for number in range(tensors)]
    path = tmp_path / "repo" / NAME
    write_shard(path, dict.fromkeys(names, ("BF16", (2, 3))))
    with path.open("rb") as file:
        end = 8 + int.from_bytes(file.read(8), "little")
    with closing(client(hub.url)) as asked:
        shard = _read(asked, {NAME: address}, likely)[NAME]
    assert shard.header is not None
    assert list(shard.header.tensors) == names
    assert len(hub.requests) == (1 if end <= likely else 2)


# Over TLS


class Certified(Server):
    """Answers everything with the same, over TLS."""

    def __init__(self, certificate: Path) -> None:
        context = SSLContext(PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        super().__init__("127.0.0.1")
        self.url = self.url.replace("http:", "https:")
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def answer(self, path: str, headers: Any) -> Answer:
        return Answer(body=b"12345678")

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that trusts nobody here goes away."""


@pytest.fixture(params=[HERE, ELSEWHERE], ids=["of this host", "of another host"])
def certified(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Certified, bool]]:
    """A server, and whether its certificate, which is in server.pem, is its own."""
    (tmp_path / "server.pem").write_text(request.param)
    server = Certified(tmp_path / "server.pem")
    server.start()
    yield server, request.param == HERE
    server.stop()


@pytest.mark.parametrize("trusted", ["its certificate", "another", "none", "no file", "no certificate"])
def test_a_server_is_read_only_with_a_certificate_of_its_own_that_is_trusted(
    certified: tuple[Certified, bool], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, trusted: str
) -> None:
    """However many connections share what is trusted."""
    server, own = certified
    places = {"its certificate": "server.pem", "another": "other.pem", "no file": "gone.pem", "no certificate": "x.pem"}
    (tmp_path / "other.pem").write_text(ELSEWHERE if own else HERE)
    (tmp_path / "x.pem").write_text("no certificate")
    if trusted in places:
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / places[trusted]))
    addresses = {f"{number}": f"{server.url}/{number}" for number in range(5)}
    with closing(client(server.url, 20.0)) as asked:
        if own and trusted == "its certificate":
            assert len(_read(asked, addresses)) == 5
            return
        with pytest.raises(FetchError) as caught:
            asked.document("x", addresses["0"], 100)
        assert caught.value.kind == "NoNetwork"
    assert server.requests == []


REQUIRED: dict[str, Any] = {"host": "a", "cert_reqs": "CERT_REQUIRED", "ca_certs": None, "ca_cert_dir": None}


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"cert_reqs": "CERT_NONE", "ca_certs": "server.pem"}, id="whoever answers is trusted"),
        pytest.param({"cert_file": "own.pem", "ca_certs": "server.pem"}, id="a certificate of its own"),
        pytest.param({"ssl_context": object(), "ca_certs": "server.pem"}, id="a context of its own"),
        pytest.param({"proxy": parse_url("https://a"), "ca_certs": "server.pem"}, id="a proxy that is met over TLS"),
        pytest.param({}, id="the system's certificates"),
    ],
)
def test_other_connections_keep_their_settings(settings: dict[str, Any]) -> None:
    given = REQUIRED | settings
    assert _Trusted().shared(given) == given


def test_certificates_are_read_once_for_each_place(tmp_path: Path) -> None:
    trusted, contexts = _Trusted(), []
    for name in ("a.pem", "b.pem", "a.pem"):
        (tmp_path / name).write_text(HERE)
        contexts.append(trusted.shared(REQUIRED | {"ca_certs": str(tmp_path / name)})["ssl_context"])
    assert contexts[0] is contexts[2] is not contexts[1]
