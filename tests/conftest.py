"""Fixtures for all tests: no access to the network, a loopback Hub, the command as a user runs it."""

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pytest

CLOSED = "http://127.0.0.1:9"
"""Nothing listens here."""

_HOME = tempfile.mkdtemp(prefix="hfcount-tests-")
atexit.register(shutil.rmtree, _HOME, ignore_errors=True)

# huggingface_hub reads these once, when it is imported. The proxy catches whatever asks for another host.
for _name in list(os.environ):
    if _name.upper().startswith(("HF_", "HUGGING", "TRANSFORMERS_")) or _name.upper().endswith("_PROXY"):
        del os.environ[_name]
for _name in ("FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS"):
    os.environ.pop(_name, None)
os.environ |= {
    "HF_ENDPOINT": CLOSED,
    "HF_HOME": _HOME,
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "NETRC": os.devnull,
    "HTTP_PROXY": CLOSED,
    "HTTPS_PROXY": CLOSED,
    "NO_PROXY": "127.0.0.1,localhost",
    "NO_COLOR": "1",
}

from loopback import Hub  # noqa: E402 - what it imports reads the environment set above


class Result(NamedTuple):
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def reports(self) -> list[dict[str, Any]]:
        """What --format json printed, one object a line."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def report(self) -> dict[str, Any]:
        """The only object that --format json printed."""
        (report,) = self.reports
        return report


class Run(Protocol):
    """`hfcount *args --format json` in an empty folder, with a cache of its own, against `endpoint`."""

    def __call__(
        self, *args: str | Path, endpoint: str | None = None, env: dict[str, str] | None = None, timeout: float = 200
    ) -> Result: ...


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes seconds, for it waits as huggingface_hub waits")


@pytest.fixture(scope="session")
def _servers() -> Iterator[Hub]:
    hub = Hub()
    for server in (hub, hub.cdn):
        server.start()
    yield hub
    for server in (hub, hub.cdn):
        server.stop()


@pytest.fixture
def hub(_servers: Hub) -> Hub:
    """A loopback Hub without repos, faults or requests."""
    _servers.reset()
    return _servers


@pytest.fixture
def run(hub: Hub, tmp_path: Path) -> Run:
    """Runs the command against the loopback Hub; runs of one test share a cache."""
    folder = tmp_path / "here"
    folder.mkdir()

    def command(
        *args: str | Path, endpoint: str | None = None, env: dict[str, str] | None = None, timeout: float = 200
    ) -> Result:
        given = {"HF_ENDPOINT": endpoint or hub.url, "HF_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-m", "hfcount", "--format", "json", *map(str, args)],
            env=os.environ | given | (env or {}),
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
            timeout=timeout,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    return command
