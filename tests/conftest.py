"""Fixtures for all tests: no access to the network, a loopback Hub, the command as a user runs it."""

import atexit
import gc
import json
import os
import pickle
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import pytest
import tables
from filelock import FileLock
from hypothesis import settings

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

from forking import Forks  # noqa: E402 - what it starts is given the environment set above
from loopback import Hub  # noqa: E402 - what it imports reads the environment set above

SHORT = "not long"
"""What pyproject.toml gives -m: the tests that every change has to pass."""

LONG = {
    "test_adapters_oracle.py",
    "test_cards_oracle.py",
    "test_derive.py",
    "test_diffusers_oracle.py",
    "test_fix_oracle.py",
    "test_linear_oracle.py",
    "test_loader_differences_oracle.py",
    "test_mergeable_oracle.py",
    "test_names_oracle.py",
    "test_oracle.py",
    "test_pickles_oracle.py",
    "test_recipes.py",
    "test_saves_oracle.py",
    "test_serving_oracle.py",
    "test_soundness.py",
    "test_varied.py",
}
"""Files of which every test is long: in a short run they are not even imported, nor are torch and transformers."""

# The same examples in every run; --hypothesis-profile=default draws others.
settings.register_profile("fixed", derandomize=True, database=None, deadline=None)
settings.load_profile("fixed")

T = TypeVar("T")


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
        self, *args: str | Path, endpoint: str | None = None, env: dict[str, str] | None = None, timeout: float = 600
    ) -> Result: ...


Command = Callable[..., Result]


def pytest_addoption(parser: pytest.Parser) -> None:
    said = "of a test with over 100 cases each N-th alone, as where every type of transformers is built"
    parser.addoption("--every", type=int, default=1, metavar="N", help=said)


def pytest_configure(config: pytest.Config) -> None:
    """A file that is named on the command line is run whole, be its tests long or not, unless -m is there as well."""
    config.addinivalue_line("markers", "slow: takes seconds, for it waits as huggingface_hub waits")
    config.pluginmanager.register(tables)
    config.addinivalue_line("markers", "over: has a row for each of many cases, as tables.py says")
    config.addinivalue_line("markers", "sampled(every): a short run takes each so many-th row")
    config.addinivalue_line("markers", "long: only with -m '' or -m long, or where its file is named")
    given = list(map(str, config.invocation_params.args))
    named = any(".py" in arg and Path(config.invocation_params.dir, arg.partition("::")[0]).is_file() for arg in given)
    if config.option.markexpr == SHORT and named and not any(arg.startswith("-m") for arg in given):
        config.option.markexpr = ""


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    # Every worker must call a case by the same name, and no name is read that is made of a file's bytes.
    return argname if isinstance(val, bytes) else None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Whether a file is passed over, unread; None leaves that to others."""
    return True if config.option.markexpr == SHORT and collection_path.name in LONG else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keeps the garbage collector from walking through all tests again and again: they stay until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def _sample(items: list[pytest.Item]) -> None:
    """Leaves to long runs all but each so many-th row of the tests that are marked `sampled(every)`."""
    rows = Counter[str]()
    for item in items:
        if (mark := item.get_closest_marker("sampled")) is not None:
            name = item.nodeid.partition("[")[0]
            if rows[name] % mark.args[0]:
                item.add_marker("long")
            rows[name] += 1


def _thinned(rows: list[pytest.Item]) -> bool:
    """Whether --every leaves out rows of a test: of a long table, unless a short run has left out most of them."""
    return len(rows) > 100 and rows[0].get_closest_marker("sampled") is None


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.name in LONG or "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("long")
    _sample(items)
    every: int = items[0].config.option.every if items else 1
    if every > 1:
        cases: dict[str, list[pytest.Item]] = {}
        for item in items:
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
        items[:] = [item for some in cases.values() for item in some[:: every if _thinned(some) else 1]]
    items.sort(key=lambda item: item.path.name != "test_gates.py")  # which take longest of all: they begin


def shared(factory: pytest.TempPathFactory, name: str, make: Callable[[], T]) -> T:
    """What `make` returns, made by the first process of a run that asks for it, for all of them.

    `name` is that of one thing in all of the run; what is made is written to a file, as pickle does it.
    """
    base = factory.getbasetemp()
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with FileLock(folder / f"{name}.lock"):
        path = folder / f"{name}.made"
        if not path.exists():
            made = pickle.dumps(make())
            path.write_bytes(made)
        found: T = pickle.loads(path.read_bytes())
        return found


@contextmanager
def interruptible() -> Iterator[None]:
    """Processes that are started meanwhile can be interrupted, though Ctrl-C is ignored here, as in a script's job."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def _forks() -> Iterator[Forks]:
    forks = Forks()
    yield forks
    forks.close()


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
def run(hub: Hub, tmp_path: Path, _forks: Forks) -> Run:
    """Runs the command against the loopback Hub; runs of one test share a cache."""
    folder = tmp_path / "here"
    folder.mkdir()

    def command(
        *args: str | Path, endpoint: str | None = None, env: dict[str, str] | None = None, timeout: float = 600
    ) -> Result:
        given = {"HF_ENDPOINT": endpoint or hub.url, "HF_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
        words = ["--format", "json", *map(str, args)]
        return Result(*_forks.run(words, folder, os.environ | given | (env or {}), timeout))

    return command


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs `hfcount *args` in a folder whose `fixtures` hold one checkpoint of each outcome."""
    from build import TINY, config, index, save

    from hfcount.cli.dispatch import run

    tied = config("llama", tie_word_embeddings=True)
    copied = {
        "metadata": {"total_size": 9480},
        "weight_map": {**index(tied)["weight_map"], "lm_head.weight": "model.safetensors"},
    }
    checkpoints: dict[str, tuple[Any, Any]] = {
        "verified": (TINY["llama"], index(TINY["llama"])),
        "explained": (tied, copied),
        "mismatch": (config("llama", num_hidden_layers=4), index(TINY["llama"])),
        "malformed": (b"[]", None),
        "unverified": (TINY["llama"], {**index(TINY["llama"]), "metadata": {}}),
        "unindexed": (TINY["llama"], None),
        "unknown": (config("llama", model_type="unheard-of"), None),
    }
    for name, documents in checkpoints.items():
        save(tmp_path / "fixtures" / "org" / name, *documents)
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)

    def run_it(*args: str | Path) -> Result:
        monkeypatch.setattr(sys, "argv", ["hfcount", *map(str, args)])
        with pytest.raises(SystemExit) as ended:
            run()
        assert isinstance(ended.value.code, int)
        return Result(ended.value.code, *capsys.readouterr())

    return run_it
