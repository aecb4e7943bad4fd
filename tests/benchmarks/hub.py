"""A loopback Hub for one checkpoint, as a child process: sparse shards with the headers that the real ones have.

As a script, `hub.py FOLDER [SECONDS]`, it serves a folder laid out as <org>/<name>/<file> until its standard input
closes, and prints its port; with SECONDS over TLS, so far away, and with a redirect to another host for weight files.
"""

import json
import re
import ssl
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import groupby
from pathlib import Path
from threading import Thread
from typing import IO, Any

from delay import forward

CERTIFICATE = Path(__file__).resolve().parents[1] / "support" / "certificates" / "here.pem"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
_REVISION = re.compile(r"/api/models/(?P<repo>[^/]+/[^/]+)/revision/[^/?]+(\?.*)?")
_FACTS = re.compile(r"/api/models/(?P<repo>[^/?]+/[^/?]+)(?P<tree>/tree/[^?]+)?(\?.*)?")
_RESOLVE = re.compile(r"/(?P<repo>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<file>[^?]+)(\?.*)?")


class _Handler(SimpleHTTPRequestHandler):
    """HEAD and GET of a repo's listing and of its files, with Range, as the Hub answers them."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else the client waits for a delayed acknowledgement
    wbufsize = -1  # headers and body in one write
    files: int | None = None
    """The port that has the weight files, where that is another one."""

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""

    def _answer(self, with_body: bool) -> None:
        if listed := _REVISION.fullmatch(self.path):
            files = sorted(Path(self.directory, listed["repo"]).iterdir())
            siblings = [{"rfilename": path.name, "size": path.stat().st_size} for path in files]
            self._send(200, {}, json.dumps({"sha": COMMIT, "siblings": siblings}).encode(), with_body)
            return
        if found := _FACTS.fullmatch(self.path):  # which other clients ask for
            self._tell(found["repo"], found["tree"] is not None, with_body)
            return
        asked = _RESOLVE.fullmatch(self.path)
        path = Path(self.directory, asked["repo"], asked["file"]) if asked else None
        if path is None or not path.is_file():
            self._send(404, {"X-Error-Code": "EntryNotFound"}, b"Entry not found", with_body)
            return
        if self.files and path.suffix == ".safetensors":
            place = f"https://127.0.0.1:{self.files}{self.path}?{'signature=' + 900 * 'a'}"
            self._send(302, {"Location": place}, f"Found. Redirecting to {place}".encode(), with_body)
            return
        size = path.stat().st_size
        headers = {"ETag": f'"{path.name}-{size}"', "Accept-Ranges": "bytes"}
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        first, last = (int(wanted[1]), min(int(wanted[2]), size - 1)) if wanted else (0, size - 1)
        if wanted:
            headers["Content-Range"] = f"bytes {first}-{last}/{size}"
        body = b""
        if with_body:
            with path.open("rb") as file:
                file.seek(first)
                body = file.read(last - first + 1)
        self._send(206 if wanted else 200, headers, body, with_body, last - first + 1)

    def _tell(self, repo: str, tree: bool, with_body: bool) -> None:
        """A repo's facts, or its files with their sizes."""
        files = sorted(Path(self.directory, repo).iterdir())
        facts: Any = {"id": repo, "sha": COMMIT, "tags": [], "library_name": "transformers", "downloads": 1}
        facts |= {"config": {"model_type": "qwen3"}, "siblings": [{"rfilename": path.name} for path in files]}
        if tree:
            facts = [{"type": "file", "path": path.name, "size": path.stat().st_size, "oid": "0"} for path in files]
        self._send(200, {"Content-Type": "application/json"}, json.dumps(facts).encode(), with_body)

    def _send(
        self, status: int, headers: Mapping[str, str], body: bytes, with_body: bool, length: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in {"X-Repo-Commit": COMMIT, **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if with_body:
            self.wfile.write(body)
        self.wfile.flush()


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # as many connections may wait for their turn


def lay_out(folder: Path, config: bytes, index: bytes, shapes: Mapping[str, tuple[int, ...]], dtype: str) -> None:
    """Writes a checkpoint whose shards are as long as the real ones and hold nothing but their headers.

    Args:
        folder: where to.
        config: config.json.
        index: model.safetensors.index.json.
        shapes: of every tensor that the index names, in elements.
        dtype: of all tensors, by the format's name; two bytes an element.
    """
    folder.mkdir(parents=True)
    (folder / "config.json").write_bytes(config)
    (folder / "model.safetensors.index.json").write_bytes(index)
    weight_map = json.loads(index)["weight_map"]
    for shard, names in groupby(sorted(weight_map, key=weight_map.__getitem__), key=weight_map.__getitem__):
        header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
        end = 0
        for name in names:
            start, size = end, 2
            for side in shapes[name]:
                size *= side
            end += size
            header[name] = {"dtype": dtype, "shape": list(shapes[name]), "data_offsets": [start, end]}
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        with (folder / shard).open("wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            file.truncate(8 + len(text) + end)


@contextmanager
def serving(root: Path, seconds: float | None = None) -> Iterator[dict[str, str]]:
    """A running server over `root`; yields the environment in which huggingface_hub takes it for the Hub.

    Args:
        seconds: away, over TLS and with redirects to another host; plain and here if None.
    """
    command = [sys.executable, __file__, str(root), *([] if seconds is None else [str(seconds)])]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        port = _stream(process.stdout).readline().strip()
        yield {
            "HF_ENDPOINT": f"http{'' if seconds is None else 's'}://127.0.0.1:{port}",
            "REQUESTS_CA_BUNDLE": str(CERTIFICATE),
            "SSL_CERT_FILE": str(CERTIFICATE),
            "HF_HOME": str(root / ".home"),
            "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "NO_PROXY": "127.0.0.1",
        }
    finally:
        _stream(process.stdin).close()
        process.wait()
        _stream(process.stdout).close()


def _stream(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def _serve(root: str, seconds: float | None) -> None:
    class Redirecting(_Handler):
        files = None if seconds is None else _start(_Handler, root, seconds)

    print(_start(Redirecting, root, seconds), flush=True)
    sys.stdin.read()


def _start(answering: type[_Handler], root: str, seconds: float | None) -> int:
    """Starts a server in the background; the port where it is met."""
    server = _Server(("127.0.0.1", 0), partial(answering, directory=root))
    if seconds is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    Thread(target=server.serve_forever, daemon=True).start()
    return forward(server.server_port, seconds) if seconds else server.server_port


if __name__ == "__main__":
    _serve(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else None)
