"""A loopback Hub with many repos: listings in pages, a quota in windows, repos that change or vanish.

As a script, `manyhub.py ROOT REPOS API FILES WINDOW`, it serves until its standard input closes, and prints its port
and at the end what it was asked, as JSON. ROOT has the folders of checkpoints that its repos take turns to be.
"""

import json
import re
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha1, sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

_FILE = re.compile(r"/(org/[\w.-]+)/resolve/([^/]+)/(.+)")
_REPO = re.compile(r"/api/models/(org/[\w.-]+)/revision/([^/]+)")


@dataclass
class Window:
    """Requests of one kind: `quota` in each `seconds`, from the first on."""

    kind: str
    quota: int
    seconds: float
    began: float = 0.0
    used: int = 0
    most: int = 0
    refused: int = 0
    made: int = 0
    stolen: int = 0

    def take(self, lock: Lock) -> tuple[bool, dict[str, str]]:
        with lock:
            now = time.time()
            if now - self.began >= self.seconds:
                self.began, self.used = now, self.stolen  # by somebody else
            self.made += 1
            passed = self.used < self.quota
            self.used += passed
            self.refused += not passed
            self.most = max(self.most, self.used)
            left = max(1, round(self.began + self.seconds - now + 0.499))
            return passed, {
                "RateLimit": f'"{self.kind}";r={self.quota - self.used};t={left}',
                "RateLimit-Policy": f'"fixed window";"{self.kind}";q={self.quota};w={round(self.seconds)}',
            }


@dataclass
class Hub:
    """The repos, by name: a commit and the folder that it is."""

    folders: list[Path]
    count: int
    api: Window
    files: Window
    asked: Counter[str] = field(default_factory=Counter)
    repos: dict[str, tuple[str, Path, str]] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    tags: dict[str, list[str]] = field(default_factory=dict)
    page: int = 100
    lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        for number in range(self.count):
            self.push(f"org/m{number:05}", self.folders[number % len(self.folders)], 0, number)

    def push(self, name: str, folder: Path, turn: int, second: int) -> None:
        """Publishes a commit."""
        when = f"2026-01-{turn + 1:02}T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000Z"
        self.repos[name] = (sha1(f"{name} {turn}".encode()).hexdigest(), folder, when)

    def answer(self, path: str, query: dict[str, list[str]], host: str) -> tuple[int, dict[str, str], bytes]:
        if path == "/api/models":
            names = sorted(set(self.repos) - self.gone)
            if query.get("sort") == ["lastModified"]:
                names.sort(key=lambda name: self.repos[name][2], reverse=True)
            start, size = int(query.get("cursor", ["0"])[0]), min(self.page, int(query["limit"][0]))
            entries = [self.entry(name) for name in names[start : start + size]]
            given = "&".join(
                f"{name}={value}" for name, values in query.items() for value in values if name != "cursor"
            )
            following = f'<{host}/api/models?{given}&cursor={start + size}>; rel="next"'
            return 200, {"Link": following} if start + size < len(names) else {}, json.dumps(entries).encode()
        found = _REPO.fullmatch(path) or _FILE.fullmatch(path)
        if not found or found[1] not in self.repos or found[1] in self.gone:
            return 404, {"X-Error-Code": "RepoNotFound"}, b"{}"
        commit, folder, _ = self.repos[found[1]]
        if "/resolve/" not in path:
            siblings = [_sibling(one) for one in sorted(folder.iterdir())]
            listing = {"id": found[1], "sha": commit, "siblings": siblings, "tags": self.tags.get(found[1], [])}
            return 200, {}, json.dumps(listing).encode()
        file = folder / unquote(found[3])
        if not file.is_file():
            return 404, {"X-Error-Code": "EntryNotFound"}, b"{}"
        return 200, {"X-Repo-Commit": commit}, file.read_bytes()

    def entry(self, name: str) -> dict[str, Any]:
        commit, folder, when = self.repos[name]
        files = [{"rfilename": one.name} for one in sorted(folder.iterdir())]
        config = json.loads((folder / "config.json").read_bytes()) if (folder / "config.json").exists() else {}
        short = {key: config[key] for key in ("architectures", "model_type", "quantization_config") if key in config}
        about = {"id": name, "sha": commit, "lastModified": when, "tags": self.tags.get(name, [])}
        return about | {"siblings": files, "config": short, "gated": False}

    def serve(self) -> ThreadingHTTPServer:
        """Starts a server."""
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = -1

            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                passed, headers = (hub.api if parts.path.startswith("/api/") else hub.files).take(hub.lock)
                status, more, body = 429, {}, b""
                if passed:
                    with hub.lock:
                        hub.asked[parts.path.rpartition("/")[2] if "/resolve/" in parts.path else "api"] += 1
                        hub.asked[parts.path] += 1
                    host = f"http://{self.headers['Host']}"
                    status, more, body = hub.answer(parts.path, parse_qs(parts.query), host)
                wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
                if wanted and status == 200:
                    first, last, size = int(wanted[1]), min(int(wanted[2]), len(body) - 1), len(body)
                    status, more, body = (
                        206,
                        {**more, "Content-Range": f"bytes {first}-{last}/{size}"},
                        body[first : last + 1],
                    )
                self.send_response(status)
                for name, value in {**headers, **more, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        return server

    def told(self) -> dict[str, Any]:
        """What it was asked."""
        configs = [count for path, count in self.asked.items() if path.endswith("/config.json") and "/" in path]
        return {
            "api": [self.api.made, self.api.most, self.api.refused],
            "files": [self.files.made, self.files.most, self.files.refused],
            "configs": max(configs, default=0),
        }


def _sibling(file: Path) -> dict[str, Any]:
    """A file as a repo's listing has it, weights with their checksum."""
    entry: dict[str, Any] = {"rfilename": file.name, "size": file.stat().st_size}
    if file.suffix == ".safetensors":
        entry["lfs"] = {"sha256": sha256(file.read_bytes()).hexdigest(), "size": file.stat().st_size}
    return entry


if __name__ == "__main__":
    root, repos, api, files, seconds = sys.argv[1:]
    hub = Hub(
        sorted(Path(root).iterdir()),
        int(repos),
        Window("api", int(api), float(seconds)),
        Window("resolvers", int(files), float(seconds)),
    )
    print(hub.serve().server_port, flush=True)
    sys.stdin.read()
    print(json.dumps(hub.told()), flush=True)
