"""A server on raw sockets that answers as no server should, and the scenarios that it plays.

A scenario is a function of a `Wire`: it writes what it likes instead of one of the answers that a run asks for.
"""

import json
import socket
import struct
import time
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from re import fullmatch, search
from threading import Thread
from typing import NamedTuple
from urllib.parse import unquote

STEPS = ("listing", "config", "index", "header")
"""What a run at depth headers asks for, in order."""

COMMIT = "0123456789abcdef0123456789abcdef01234567"
_LONGEST = 20.0  # seconds that a scenario goes on


class Wire(NamedTuple):
    """A connection on which a scenario answers one request.

    Args:
        path: of the request, and `asked` the range of bytes, where one is given.
        good: what a server that means well would answer.
        here, there: the address of this server, and of another one.
    """

    socket: socket.socket
    path: str
    asked: tuple[int, int] | None
    good: bytes
    here: str
    there: str

    def send(self, *lines: str, body: bytes = b"") -> None:
        """Lines, and then a body after an empty one."""
        self.socket.sendall("".join(f"{line}\r\n" for line in (*lines, "")).encode("latin-1") + body)

    def answer(self, *headers: str, body: bytes | None = None, length: str | None = None, status: str = "") -> None:
        """What would be right, with further headers, or with another body, length or status line."""
        right = 200 if self.asked is None else 206
        body = self.good if body is None else body
        first, size = self.asked[0] if self.asked else 0, len(self.good)
        lines = [f"HTTP/1.1 {status or right}", f"X-Repo-Commit: {COMMIT}", *headers]
        if self.asked is not None and not search(r"(?im)^content-range:", "\n".join(headers)):
            body = body[slice(*self.asked)]
            lines.append(f"Content-Range: bytes {first}-{first + len(body) - 1}/{size}")
        self.send(*lines, f"Content-Length: {len(body) if length is None else length}", body=body)

    def trickle(self, text: bytes) -> None:
        """A byte at a time, over and over."""
        end = time.monotonic() + _LONGEST
        while time.monotonic() < end:
            for byte in text:
                self.socket.sendall(bytes([byte]))
                time.sleep(0.2)

    def flood(self, piece: bytes) -> None:
        """The same again and again, as fast as it is read."""
        end = time.monotonic() + _LONGEST
        while time.monotonic() < end:
            self.socket.sendall(piece)

    def reset(self) -> None:
        """Ends the connection as a crash does."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


Scenario = Callable[[Wire], None]


class HostileHub:
    """A Hub with one checkpoint, in repos called org/<step>: there the scenario is played in the place of that step.

    Args:
        files: what the checkpoint holds, by name.
    """

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files, self.scenario, self.sized = files, Wire.answer, True
        self.requests: list[tuple[str, bytes]] = []
        self.other = "http://localhost:9"
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self.listener.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(_LONGEST)
            head = b""
            while b"\r\n\r\n" not in head:
                if not (piece := connection.recv(65_536)):
                    return
                head += piece
            path = unquote(head.split(b" ", 2)[1].decode("latin-1"))
            self.requests.append((path, head))
            asked = search(rb"(?i)\r\nrange: *bytes=(\d+)-(\d+)", head)
            span = (int(asked[1]), int(asked[2]) + 1) if asked else None
            step, good = self._meant(path)
            wire = Wire(connection, path, span, good, self.url, self.other)
            if step is not None and f"/org/{step}/" in path:
                self.scenario(wire)
            else:
                wire.answer("Connection: close")

    def _meant(self, path: str) -> tuple[str | None, bytes]:
        if found := fullmatch(r"/org/[\w-]+/resolve/[^/]+/([^?]*).*", path):
            name = found[1]
            step = {"config.json": "config", "model.safetensors.index.json": "index"}.get(name, "header")
            return step, self.files.get(name, b"")
        if not path.startswith("/api/models/"):
            return None, b"{}"
        siblings = [
            {"rfilename": name, "size": len(content) if self.sized else None} for name, content in self.files.items()
        ]
        return "listing", json.dumps({"sha": COMMIT, "siblings": siblings}).encode()


def _slow_headers(wire: Wire) -> None:
    wire.socket.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    wire.trickle(b"abcdefgh")


def _slow_status(wire: Wire) -> None:
    wire.trickle(b"HTTP/1.1 200 OK and so on")


def _slow_body(wire: Wire) -> None:
    wire.answer(*(["Content-Range: bytes 0-4095/4096"] if wire.asked else []), body=b"", length="4096")
    wire.trickle(b" ")


def _silence(wire: Wire) -> None:
    time.sleep(_LONGEST)


def _endless_headers(wire: Wire) -> None:
    wire.socket.sendall(b"HTTP/1.1 200 OK\r\n")
    wire.flood(b"X-More: of the same\r\n")


def _long_header(wire: Wire) -> None:
    wire.socket.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
    wire.flood(b"a" * 65_536)


def _many_headers(wire: Wire) -> None:
    wire.answer(*[f"X-Number-{number}: {number}" for number in range(10_000)])


def _flood_of(status: str) -> Scenario:
    return lambda wire: wire.flood(f"HTTP/1.1 {status}\r\n\r\n".encode() * 100)


def _headed_flood(wire: Wire) -> None:
    wire.flood(b"HTTP/1.1 100 Continue\r\nX-More: a\r\n\r\n" * 100)


def _with(*headers: str, status: str = "", body: bytes | None = None, length: str | None = None) -> Scenario:
    """What would be right but for this; {here} and {there} in a header are the addresses."""
    return lambda wire: wire.answer(
        *(header.format(here=wire.here, there=wire.there, host=wire.there.partition("//")[2]) for header in headers),
        status=status,
        body=body,
        length=length,
    )


def _redirect(location: str, status: int = 302) -> Scenario:
    return _with(f"Location: {location}", status=f"{status} Found", body=b"")


def _redirect_to_itself(wire: Wire) -> None:
    wire.answer(f"Location: {wire.path}", status="302 Found", body=b"")


def _redirect_on_and_on(wire: Wire) -> None:
    wire.answer(f"Location: {wire.path}{'&' if '?' in wire.path else '?'}on", status="307 On", body=b"")


def _chunked(chunk: bytes, *headers: str, again: bool = True) -> Scenario:
    def play(wire: Wire) -> None:
        begin, end = wire.asked or (0, 0)
        kind = ["HTTP/1.1 206 Partial", f"Content-Range: bytes {begin}-{end - 1}/{10**12}"]
        right = kind if wire.asked else ["HTTP/1.1 200 OK", f"X-Repo-Commit: {COMMIT}"]
        wire.send(*right, *headers, "Transfer-Encoding: chunked")
        (wire.flood if again else wire.socket.sendall)(chunk)

    return play


_CHUNKS = "Transfer-Encoding: chunked"


def _redirect_with(body: bytes, *headers: str, slow: bool = False) -> Scenario:
    """A redirect to another host; its body over and over, or slow."""

    def play(wire: Wire) -> None:
        wire.send("HTTP/1.1 302 Found", f"Location: {wire.there}/elsewhere", *headers)
        if slow:
            wire.trickle(body or b" ")
        elif body:
            wire.flood(body)
        else:
            time.sleep(_LONGEST)

    return play


def _bomb(wire: Wire) -> None:
    packer = zlib.compressobj(9, wbits=31)
    packed = b"".join([packer.compress(b" " * (1 << 20)) for _ in range(1_000)]) + packer.flush()
    wire.answer("Content-Encoding: gzip", body=packed, length=str(len(packed)))


def _huge_error(status: str, *headers: str) -> Scenario:
    def play(wire: Wire) -> None:
        wire.send(f"HTTP/1.1 {status}", *headers, f"Content-Length: {10**12}")
        wire.flood(b"x" * 65_536)

    return play


def _whole(length: int) -> Scenario:
    """The whole file in place of a range, and very long."""

    def play(wire: Wire) -> None:
        wire.send("HTTP/1.1 200 OK", f"X-Repo-Commit: {COMMIT}", f"Content-Length: {length}")
        wire.socket.sendall((90_000_000).to_bytes(8, "little"))
        wire.flood(b" " * 65_536)

    return play


def _long_header_of_a_shard(content: bytes) -> Scenario:
    """Ranges of a file that declares a header of 99 MB and repeats `content`."""

    def play(wire: Wire) -> None:
        begin, end = wire.asked or (0, 10**12)
        wire.send(
            "HTTP/1.1 206 Partial", f"Content-Range: bytes {begin}-{end - 1}/{10**12}",
            f"Content-Length: {end - begin}",
        )  # fmt: skip
        if begin == 0:
            wire.socket.sendall((99_000_000).to_bytes(8, "little"))
        wire.flood(content * 4096)

    return play


def _long(begin: bytes, piece: bytes, end: bytes, size: int) -> Scenario:
    """A document of about so many bytes, the piece over and over."""

    def play(wire: Wire) -> None:
        many = size // len(piece % 0)
        whole = len(begin) + many * len(piece % 0) + len(end)
        wire.send("HTTP/1.1 200 OK", f"X-Repo-Commit: {COMMIT}", f"Content-Length: {whole}", body=begin)
        for start in range(0, many, 10_000):
            wire.socket.sendall(b"".join(piece % number for number in range(start, min(start + 10_000, many))))
        wire.socket.sendall(end)

    return play


def _truncated(wire: Wire) -> None:
    wire.answer(*_said(wire), body=wire.good[: len(wire.good) // 2], length=str(len(wire.good)))


def _said(wire: Wire) -> list[str]:
    return [f"Content-Range: bytes 0-{len(wire.good) - 1}/{len(wire.good)}"] if wire.asked else []


def _raw(content: bytes) -> Scenario:
    return lambda wire: wire.socket.sendall(content)


def _listing(body: bytes) -> Scenario:
    """This in place of the listing."""
    return _with(body=body)


def _siblings(entries: bytes) -> Scenario:
    return _listing(b'{"sha": "%s", "siblings": [%s]}' % (COMMIT.encode(), entries))


def _endless_pages(wire: Wire) -> None:
    page, _, number = wire.path.rpartition("cursor=")
    following = f"{wire.here}{page or wire.path + '&'}cursor={int(number) + 1 if page else 1}"
    wire.answer(f'Link: <{following}>; rel="next"')


def _large_pages(wire: Wire) -> None:
    entries = b",".join(b'{"rfilename": "%s%d"}' % (b"n" * 900, number) for number in range(20_000))
    body = b'{"sha": "%s", "siblings": [%s]}' % (COMMIT.encode(), entries)
    wire.answer(f'Link: <{wire.here}{wire.path}>; rel="next"', body=body)


class Case(NamedTuple):
    """A scenario, and how a run must end.

    Args:
        says: a regular expression that is in `verdict: message`, at each step.
        steps: in the place of which answers it is played.
        sized: whether the listing says how long the files are.
    """

    play: Scenario
    says: str = "."
    steps: tuple[str, ...] = STEPS
    sized: bool = True


_LISTING = ("listing",)
_HEADER = ("header",)
_TIME = "longer than"
_SOUND = "^verified"
_DOCUMENTS = STEPS[:3]

CASES: dict[str, Case] = {
    "slow headers": Case(_slow_headers, _TIME),
    "slow status line": Case(_slow_status, _TIME),
    "slow body": Case(_slow_body, _TIME),
    "silence": Case(_silence, _TIME),
    "endless headers": Case(_endless_headers),
    "endless header": Case(_long_header),
    "10,000 headers": Case(_many_headers),
    "flood of 100": Case(_flood_of("100 Continue"), _TIME),
    "flood of 100 with headers": Case(_headed_flood, _TIME),
    "flood of 103": Case(_flood_of("103 Early Hints"), "103"),
    "503 and an hour": Case(_with("Retry-After: 3600", status="503 Busy"), "3,600 seconds"),
    "503 and an endless number": Case(_with("Retry-After: " + "9" * 5_000, status="503 Busy"), "an unreadable time"),
    "503 and an odd date": Case(
        _with("Retry-After: Mon, 01 Jan 99999999999 00:00:00 GMT", status="503 Busy"), "asks to wait|503"
    ),
    "429 and a limit": Case(_with('RateLimit: "api";r=0;t=3000', status="429 Many"), "3,001 seconds"),
    "redirect to itself": Case(_redirect_to_itself, "more than 5 redirects"),
    "redirects on and on": Case(_redirect_on_and_on, "more than 5 redirects"),
    "redirect to another host": Case(_redirect("{there}/elsewhere"), "."),
    "redirect without a scheme": Case(_redirect("//{host}/elsewhere"), "."),
    "redirect to a user's host": Case(_redirect("http://user:secret@{host}/elsewhere"), "."),
    "redirect that looks like home": Case(_redirect("{here}@{host}/elsewhere"), "."),
    "redirect with a backslash": Case(_redirect("{here}\\\\@{host}/elsewhere"), "."),
    "redirect to a file": Case(_redirect("file:///etc/passwd"), "redirected to"),
    "redirect to data": Case(_redirect("data:application/json,{{}}"), "redirected to"),
    "redirect to a port that is none": Case(_redirect("http://127.0.0.1:99999/"), "redirected to"),
    "redirect to half an address": Case(_redirect("http://[::1"), "redirected to"),
    "redirect to a long label": Case(_redirect("http://" + "a" * 300 + ".example/"), "."),
    "redirect to nothing": Case(_redirect(""), "."),
    "redirect whose body never comes": Case(_redirect_with(b"", "Content-Length: 900"), _TIME),
    "redirect whose body trickles": Case(_redirect_with(b"", "Content-Length: 900", slow=True), _TIME),
    "redirect with an endless body": Case(_redirect_with(b"10000\r\n" + b" " * 65_536 + b"\r\n", _CHUNKS), "."),
    "redirect with small chunks": Case(_redirect_with(b"1\r\n \r\n", _CHUNKS, slow=True), _TIME),
    "redirect with a second answer": Case(
        _redirect_with(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "Content-Length: 0"), "."
    ),
    "endless chunked body": Case(_chunked(b"10000\r\n" + b" " * 65_536 + b"\r\n")),
    "endless small chunks": Case(_chunked(b"1\r\n \r\n" * 1_000), "."),
    "chunk of a negative length": Case(_chunked(b"-5\r\n" + b" " * 65_536)),
    "chunk of no length": Case(_chunked(b"length\r\n", again=False)),
    "chunk of a huge length": Case(_chunked(b"f" * 60_000 + b"\r\n" + b" " * 65_536)),
    "endless trailers": Case(_chunked(b"2\r\n{}\r\n0\r\n" + b"X-More: a\r\n" * 100_000, again=False), "."),
    "shorter Content-Length": Case(_with(length="5")),
    "longer Content-Length": Case(_with("Connection: close", length="70000")),
    "negative Content-Length": Case(_with(length="-5"), "."),
    "Content-Length of 18 digits": Case(_with("Connection: close", length="9" * 18)),
    "Content-Length of 5,000 digits": Case(_with("Connection: close", length="9" * 5_000), "."),
    "Content-Length that is no number": Case(_with("Connection: close", length="five"), "."),
    "two Content-Lengths": Case(_with("Content-Length: 1")),
    "gzip bomb": Case(_bomb),
    "not gzip": Case(_with("Content-Encoding: gzip"), "gzip|compresses"),
    "Brotli": Case(_with("Content-Encoding: br"), "br|compresses"),
    "gzip twice": Case(_with("Content-Encoding: gzip, gzip"), "gzip|compresses"),
    "an unheard-of encoding": Case(_with("Transfer-Encoding: gzip"), "."),
    "ETag with a path": Case(_with('ETag: "/hostile"', 'X-Linked-ETag: "../../../hostile"'), _SOUND),
    "commit with a path": Case(_with("X-Repo-Commit: ../../../../hostile"), _SOUND),
    "xet at another origin": Case(
        _with(
            "X-Xet-Hash: " + "0" * 64,
            'Link: <{there}/xet>; rel="xet-auth"',
            "X-Xet-Refresh-Route: {there}/xet",
        ),
        _SOUND,
    ),
    "cookies": Case(_with(*[f"Set-Cookie: a{n}={'b' * 4000}; Max-Age={'9' * 5000}" for n in range(9)]), _SOUND),
    "quadratic Link": Case(_with("Link: " + "<>;" * 20_000), _SOUND),
    "empty reply": Case(_raw(b"")),
    "reset": Case(Wire.reset),
    "not HTTP": Case(_raw(b"SSH-2.0-OpenSSH_9.6\r\n")),
    "binary": Case(_raw(bytes(range(256)) * 4)),
    "HTTP/0.9": Case(_raw(b"<html>hello</html>")),
    "HTTP/9.9": Case(_raw(b"HTTP/9.9 200 OK\r\n\r\n{}")),
    "status 999": Case(_with(status="999 What")),
    "status 0": Case(_with(status="000 What")),
    "401 with a body": Case(_huge_error("401 Unauthorized"), "."),
    "403 with a body": Case(_huge_error("403 Forbidden"), "403"),
    "404 with a body": Case(_huge_error("404 Not Found")),
    "500 with a body": Case(_huge_error("500 Error", "Retry-After: 0"), "500"),
    "418 with a message": Case(_huge_error("418 Teapot", "X-Error-Message: \x9b2J" + "a" * 60_000), "418"),
    "416": Case(_with("Content-Range: bytes */0", status="416 No", body=b""), "."),
    "206 of something else": Case(_with("Content-Range: bytes 7-9/10", body=b"abc"), "Content-Range", _HEADER),
    "206 of a negative size": Case(_with("Content-Range: bytes 0-65535/-1"), "Content-Range", _HEADER),
    "206 without a size": Case(_with("Content-Range: bytes 0-65535/*"), "Content-Range", _HEADER),
    "206 of a huge size": Case(_with("Content-Range: bytes 0-65535/" + "9" * 5_000), "Content-Range", _HEADER),
    "truncated 206": Case(_truncated, ".", ("config", "index", "header")),
    "206 unasked": Case(_with("Content-Range: bytes 0-1/2", status="206 Partial", body=b"{}"), "206", _DOCUMENTS),
    "the whole of 5 GB": Case(_whole(5_000_000_000)),
    "a header of 99 MB of blanks": Case(_long_header_of_a_shard(b" "), ".", _HEADER),
    "a header of 99 MB of lists": Case(_long_header_of_a_shard(b"[],"), ".", _HEADER),
    "a body of another size than listed": Case(_with(body=b'{"model_type": "llama"}'), ".", ("config", "index")),
    "10 MB of lists": Case(_with(body=b"[" + b"[]," * 3_300_000 + b"[]]"), ".", _DOCUMENTS, sized=False),
    "10 MB of brackets": Case(_with(body=b"[" * 9_999_999), ".", _DOCUMENTS, sized=False),
    "10 MB of one text": Case(_long(b'{"a": "', b"%08d", b'"}', 9_900_000), ".", ("config",), sized=False),
    "10 MB of numbers": Case(_long(b"[", b"%08d1,", b"1]", 9_900_000), ".", ("config", "listing"), sized=False),
    "80 MB of one text": Case(_long(b'{"a": "', b"%08d", b'"}', 79_000_000), ".", ("index",), sized=False),
    "80 MB of names": Case(
        _long(
            b'{"weight_map": {',
            b'"model.layers.%08d.weight": "model-00001-of-00002.safetensors", ',
            b'"": ""}}',
            79_000_000,
        ),
        ".",
        ("index",),
        sized=False,
    ),
    "32 MB of files": Case(
        _long(
            b'{"sha": "%s", "siblings": [' % COMMIT.encode(), b'{"rfilename": "%08d", "size": 0},', b"{}]}", 31_000_000
        ),
        ".",
        _LISTING,
    ),
    "listing of numbers": Case(_listing(b"[1,2,null]"), _SOUND, _LISTING),
    "listing of no names": Case(_listing(b'[{"type":"file"}]'), _SOUND, _LISTING),
    "listing of nulls": Case(_siblings(b"null, 1"), _SOUND, _LISTING),
    "listing of nothing": Case(_listing(b"{}"), _SOUND, _LISTING),
    "listing that is empty": Case(_listing(b""), _SOUND, _LISTING),
    "listing of a page": Case(_listing(b"<!DOCTYPE html>"), _SOUND, _LISTING),
    "listing without files": Case(_siblings(b""), "no config", _LISTING),
    "listing of a million": Case(
        _long(b'{"sha": "%s", "siblings": [' % COMMIT.encode(), b'{"rfilename":"x%08d"},', b"{}]}", 25_000_000),
        ".",
        _LISTING,
    ),
    "listing of paths": Case(
        _siblings(b'{"rfilename": "../../../x.safetensors"}, {"rfilename": "config.json"}'), ".", _LISTING
    ),
    "listing of huge numbers": Case(
        _siblings(b'{"rfilename": "config.json", "size": %s}' % (b"9" * 4_000)), ".", _LISTING
    ),
    "listing of longer numbers": Case(
        _siblings(b'{"rfilename": "config.json", "size": %s}' % (b"9" * 5_000)), _SOUND, _LISTING
    ),
    "listing of a commit with a path": Case(_listing(b'{"sha": "../../x", "siblings": []}'), _SOUND, _LISTING),
    "endless pages": Case(_endless_pages, "pages|" + _TIME, _LISTING),
    "large pages": Case(_large_pages, ".", _LISTING),
    "next at another origin": Case(_with('Link: <{there}/next>; rel="next"'), "another host", _LISTING),
    "next at a file": Case(_with('Link: <file:///etc/passwd>; rel="next"'), "another host", _LISTING),
    "next at half an address": Case(_with('Link: <http://[::1>; rel="next"'), "another host", _LISTING),
}
