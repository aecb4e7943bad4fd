"""A Hub on the loopback interface, with a CDN on another host, and the checkpoints they serve.

>>> hub = Hub()
>>> hub.start()  # and hub.cdn.start(), where hub.on_cdn is used
>>> commit = hub.publish("org/name", write_checkpoint(folder, config))
>>> hub.faults["config.json"] = [Fault(status=429, times=2), Fault(cut=0.5, method="GET", times=1)]
"""

import gzip
import json
import re
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from hashlib import sha1, sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from math import ceil, prod
from pathlib import Path
from threading import Lock, Thread
from typing import Any, BinaryIO, Literal, NamedTuple
from urllib.parse import unquote, urlsplit

import hfcount

WIDTHS = {
    "BOOL": 1,
    "U8": 1,
    "I8": 1,
    "F8_E4M3": 1,
    "I16": 2,
    "F16": 2,
    "U32": 4,
    "BF16": 2,
    "I32": 4,
    "F32": 4,
    "I64": 8,
    "F64": 8,
    "C64": 8,
}
"""Bytes of one element."""

_PIECE = 1 << 16
_ROUTE = re.compile(r"/(?:api/models/)?([\w.-]+(?:/[\w.-]+)?)/(resolve|tree|revision)/([^/]+)/?(.*)")

Access = Literal["public", "private", "gated"]


class HeaderView(NamedTuple):
    """One request as the server received it."""

    method: str
    path: str
    headers: Message


@dataclass(frozen=True)
class Fault:
    """What is wrong with the answers for one file; the fields combine.

    Args:
        times: how many answers it spoils, for ever when None; method: HEAD or GET alone.
        delay: seconds until the answer.
        status: an error, or a redirect with its Location among the headers, in place of the file.
        headers: added or, with None, left out, last of all.
        body: in place of the file's bytes.
        spaces: in place of the file's bytes, so many spaces, which are not held before they are asked for.
        whole: answer a Range with the whole file.
        gzip: compress, asked or not.
        short: the share of the body that is sent and announced.
        cut: the share of the body after which the connection closes.
    """

    times: int | None = None
    method: Literal["HEAD", "GET"] | None = None
    delay: float = 0.0
    status: int | None = None
    headers: Mapping[str, str | None] = field(default_factory=dict)
    body: bytes | None = None
    spaces: int = 0
    whole: bool = False
    gzip: bool = False
    short: float = 1.0
    cut: float | None = None


@dataclass
class Repo:
    """Folders by commit; each look at a ref takes its next commit, and the last one stays."""

    access: Access = "public"
    commits: dict[str, Path] = field(default_factory=dict)
    refs: dict[str, list[str]] = field(default_factory=dict)


@dataclass
class Answer:
    """What a server says when nothing is wrong with it."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: Path | bytes = b""


class Server(ThreadingHTTPServer):
    """One origin: it records every request and applies the faults, given by the end of the path they are for."""

    daemon_threads = True

    def __init__(self, host: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://{host}:{self.server_port}"
        self.lock = Lock()
        self.reset()

    def reset(self) -> None:
        """Forgets requests, connections and faults."""
        self.requests: list[HeaderView] = []
        self.connections = 0
        self.faults: dict[str, list[Fault]] = {}
        self._spent: Counter[tuple[str, int]] = Counter()

    def start(self) -> None:
        Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def stop(self) -> None:
        self.shutdown()
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self.lock:
            self.connections += 1
        super().process_request(request, client_address)

    def paths(self, method: str = "GET") -> list[str]:
        """The paths that were asked for."""
        return [seen.path for seen in self.requests if seen.method == method]

    def note(self, seen: HeaderView) -> Fault:
        """Records a request; the fault that its answer is due."""
        with self.lock:
            self.requests.append(seen)
            for end, faults in self.faults.items():
                if not urlsplit(seen.path).path.endswith(f"/{end}"):
                    continue
                for number, fault in enumerate(faults):
                    spent = fault.times is not None and self._spent[end, number] >= fault.times
                    if not spent and fault.method in (None, seen.method):
                        self._spent[end, number] += 1
                        return fault
        return Fault()

    def answer(self, path: str, headers: Message) -> Answer:
        raise NotImplementedError  # abstract: every server defines its answers


class Hub(Server):
    """`/{repo}/resolve/{revision}/{file}` and `/api/models/{repo}/tree/{revision}`, answered as the Hub does."""

    token = "hf_TheLoopbackToken"

    def __init__(self) -> None:
        self.cdn = Cdn("localhost")
        super().__init__("127.0.0.1")

    def reset(self) -> None:
        """Forgets repos, requests and faults; `on_cdn` and `lfs` hold ends of names: on the CDN, with checksums."""
        super().reset()
        self.cdn.reset()
        self.repos: dict[str, Repo] = {}
        self.on_cdn: tuple[str, ...] = ()
        self.lfs: tuple[str, ...] = ()

    def publish(self, name: str, folder: Path, ref: str = "main", access: Access = "public") -> str:
        """Pushes a folder to a repo and returns its commit: whoever looks at `ref` again sees it."""
        commit = sha1(f"{name} {folder}".encode()).hexdigest()
        repo = self.repos.setdefault(name, Repo(access))
        repo.commits[commit] = folder
        repo.refs.setdefault(ref, []).append(commit)
        return commit

    def answer(self, path: str, headers: Message) -> Answer:
        route = _ROUTE.fullmatch(path)
        if not route or route[1] not in self.repos:
            return _error(404, "RepoNotFound", "Repository not found")
        repo, tree = self.repos[route[1]], route[2] == "tree"
        revision, name = unquote(route[3]), unquote(route[4]).lstrip("/")
        if repo.access != "public" and headers["Authorization"] != f"Bearer {self.token}":
            return _error(401, "GatedRepo" if repo.access == "gated" else "RepoNotFound", f"{repo.access} repository")
        with self.lock:
            commits = repo.refs.get(revision, [revision])
            commit = commits.pop(0) if len(commits) > 1 else commits[0]
        if commit not in repo.commits:
            return _error(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        if route[2] == "revision":
            root = repo.commits[commit]
            siblings = [
                {"rfilename": one.relative_to(root).as_posix(), "size": one.stat().st_size, **_sums(one, self.lfs)}
                for one in sorted(root.rglob("*"))
                if one.is_file()
            ]
            listing = {"id": route[1], "sha": commit, "siblings": siblings}
            return Answer(headers={"Content-Type": "application/json"}, body=json.dumps(listing).encode())
        file, facts = repo.commits[commit] / name, {"X-Repo-Commit": commit}
        if not (file.is_dir() if tree else file.is_file()):
            return _error(404, "EntryNotFound", "Entry not found", **facts)
        if tree:
            entries = [_entry(one, repo.commits[commit]) for one in sorted(file.iterdir())]
            return Answer(headers={"Content-Type": "application/json"}, body=json.dumps(entries).encode())
        facts |= {"ETag": f'"{_digest(file)}"', "Accept-Ranges": "bytes"}
        if name.endswith((".safetensors", *self.on_cdn)):
            facts |= {"X-Linked-ETag": facts["ETag"], "X-Linked-Size": str(file.stat().st_size)}
        if name.endswith(self.on_cdn):
            return Answer(302, facts | {"Location": self.cdn.offer(file)})
        return Answer(headers=facts, body=file)


class Cdn(Server):
    """The files it was offered, by their digest."""

    def reset(self) -> None:
        super().reset()
        self.files: dict[str, Path] = {}

    def offer(self, file: Path) -> str:
        """The URL that has the file from now on."""
        path = f"/{_digest(file)}/{file.name}"
        self.files[path] = file
        return f"{self.url}{path}?signature=loopback"

    def answer(self, path: str, headers: Message) -> Answer:
        if path not in self.files:
            return _error(403, None, "AccessDenied")
        return Answer(headers={"Accept-Ranges": "bytes"}, body=self.files[path])


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def do_GET(self) -> None:
        fault = self.server.note(HeaderView(self.command, self.path, self.headers))
        time.sleep(fault.delay)
        answer = self.server.answer(urlsplit(self.path).path, self.headers)
        if fault.status:
            answer = _error(fault.status, None, f"fault {fault.status}")
            answer.body = answer.body if fault.body is None else fault.body
        elif fault.body is not None or fault.spaces:
            answer = Answer(200, answer.headers, b" " * fault.spaces if fault.body is None else fault.body)
        try:
            with answer.body.open("rb") if isinstance(answer.body, Path) else BytesIO(answer.body) as stream:
                self._send(answer, fault, stream)
        except ConnectionError:  # the client has read as much as it wants
            self.close_connection = True

    do_HEAD = do_GET

    def _send(self, answer: Answer, fault: Fault, stream: BinaryIO) -> None:
        size = stream.seek(0, 2)
        status, headers, start, end = answer.status, dict(answer.headers), 0, size
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers["Range"] or "")
        if wanted and status == 200 and not fault.whole:
            start, end = int(wanted[1]), min(int(wanted[2] or size) + 1, size)
            status = 206 if start < end else 416
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}" if start < end else f"bytes */{size}"
            start = min(start, end)
        stream.seek(start)
        if fault.gzip:
            stream = BytesIO(gzip.compress(stream.read(end - start)))
            start, end = 0, len(stream.getvalue())
            headers["Content-Encoding"] = "gzip"
        length = int((end - start) * fault.short)
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(length)} | dict(fault.headers)).items():
            if value is not None:
                self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        if fault.cut is not None:
            length, self.close_connection = int(length * fault.cut), True
        while length > 0:
            length -= self.wfile.write(stream.read(min(_PIECE, length)))

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _error(status: int, code: str | None, message: str, **headers: str) -> Answer:
    headers |= {"X-Error-Message": message} | ({"X-Error-Code": code} if code else {})
    return Answer(status, headers, json.dumps({"error": message}).encode())


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return sha256(stream.read(1 << 20) + str(file.stat().st_size).encode()).hexdigest()


def _sums(file: Path, lfs: tuple[str, ...]) -> dict[str, Any]:
    """What a listing says of a file's content, as the Hub does: of large files their sha256, and of all git's own."""
    if not lfs:
        return {}
    raw = file.read_bytes()
    git = {"blobId": sha1(b"blob %d\0" % len(raw) + raw).hexdigest()}
    return git | ({"lfs": {"sha256": sha256(raw).hexdigest(), "size": len(raw)}} if file.name.endswith(lfs) else {})


def _entry(path: Path, root: Path) -> dict[str, Any]:
    name = path.relative_to(root).as_posix()
    if path.is_dir():
        return {"type": "directory", "path": name, "oid": sha1(name.encode()).hexdigest()}
    return {"type": "file", "path": name, "oid": _digest(path), "size": path.stat().st_size}


def write_shard(path: Path, tensors: Mapping[str, tuple[str, tuple[int, ...]]]) -> int:
    """Writes a safetensors file of zeros, sparse however large, and returns the bytes of its tensors."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, (dtype, shape) in tensors.items():
        start, end = end, end + WIDTHS[dtype] * prod(shape)
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [start, end]}
    raw = json.dumps(header).encode()
    raw += b" " * (-len(raw) % 8)
    with path.open("wb") as file:
        file.write(len(raw).to_bytes(8, "little") + raw)
        file.truncate(8 + len(raw) + end)
    return end


def write_checkpoint(folder: Path, config: Mapping[str, Any], shards: int = 2, dtype: str = "BF16") -> Path:
    """Writes config.json, the index and the shards that a config describes; one shard has no index."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    tensors = list(hfcount.blueprint(config).tensors())
    weight_map: dict[str, str] = {}
    total, share = 0, ceil(len(tensors) / shards)
    for number in range(shards):
        part = tensors[number * share : (number + 1) * share]
        file = f"model-{number + 1:05}-of-{shards:05}.safetensors" if shards > 1 else "model.safetensors"
        total += write_shard(folder / file, {one.name: (dtype, tuple(map(int, one.shape))) for one in part})
        weight_map |= {one.name: file for one in part}
    if shards > 1:
        index = {"metadata": {"total_size": total}, "weight_map": weight_map}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder
