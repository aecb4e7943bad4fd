"""Servers that mean harm: a run ends in time, says what is wrong, and gives nothing away."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from forking import Forks
from hostile import CASES, STEPS, Case, HostileHub
from loopback import write_checkpoint
from spread import spread
from test_hub import CONFIG

TOKEN = "hf_NobodyElseMaySeeThis"
_DEADLINE = 2.0  # seconds
_MEMORY = 300  # MB

# One process for all steps of a scenario; where each ends, and what they took together.
_CHILD = r"""
import json, re, sys, time
from hfcount.errors import HfcountError
from hfcount.fetcher import Request
from hfcount.checkpoints.inspect import Options, inspect
for step in sys.argv[2:]:
    begin = time.monotonic()
    try:
        report = inspect(Request(f"org/{step}", timeout=float(sys.argv[1])), Options("headers"))
        said = report.error and report.error.message or "; ".join(one.message for one in report.findings)
        verdict = report.verdict
    except HfcountError as error:
        said, verdict = str(error), "unverified"
    print(json.dumps([step, verdict, said, time.monotonic() - begin]))
print(int(re.search(r"VmHWM:\s*(\d+)", open("/proc/self/status").read())[1]) // 1024)
"""


@pytest.fixture(scope="module")
def hubs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[HostileHub, HostileHub]]:
    """A hostile Hub, and another origin that must not see the token."""
    folder = write_checkpoint(tmp_path_factory.mktemp("tiny"), CONFIG)
    hub, other = (HostileHub({one.name: one.read_bytes() for one in folder.iterdir()}) for _ in range(2))
    hub.other = f"http://localhost:{other.port}"
    yield hub, other
    hub.close()
    other.close()


def _environment(home: Path, endpoint: str) -> dict[str, str]:
    own = {"HF_ENDPOINT": endpoint, "HF_HOME": str(home / "hf"), "HF_TOKEN": TOKEN, "HOME": str(home / "me")}
    return os.environ | own | {"TMPDIR": str(home / "tmp")}


def _play(forks: Forks, home: Path, hub: HostileHub, case: Case) -> tuple[list[Any], int, str]:
    """How each step ended, the memory that the process took in MB, and what it printed besides."""
    for name in ("hf", "me", "tmp", "here"):
        (home / name).mkdir()
    hub.scenario, hub.sized = case.play, case.sized
    words = [str(_DEADLINE), *case.steps]
    code, out, err = forks.run(words, home / "here", _environment(home, hub.url), 1200, _CHILD)
    assert (code, err) == (0, "")
    *lines, memory = out.splitlines()
    return [json.loads(line) for line in lines], int(memory), out


@pytest.mark.parametrize("case", spread(CASES.values(), 6), ids=CASES)
def test_a_hostile_server_gets_nothing(
    tmp_path: Path, hubs: tuple[HostileHub, HostileHub], _forks: Forks, case: Case
) -> None:
    hub, other = hubs
    other.requests.clear()
    ended, memory, printed = _play(_forks, tmp_path, hub, case)
    assert [step for step, *_ in ended] == list(case.steps)
    for step, verdict, said, seconds in ended:
        assert seconds < _DEADLINE + 120, step  # a server that is waited for without end, not a machine that is busy
        assert re.search(case.says, f"{verdict}: {said}"), (step, said)
        assert (said or "").isprintable()
        assert len(said or "") < 700, step
    assert memory < _MEMORY
    assert TOKEN not in printed
    assert "secret" not in printed
    assert not [head for _, head in other.requests if b"authorization" in head.lower()]
    written = {path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("*") if path.is_file()}
    assert written <= {"hf"}


def test_the_token_goes_to_the_endpoint(tmp_path: Path, hubs: tuple[HostileHub, HostileHub], _forks: Forks) -> None:
    """So that the other tests show something."""
    hub, _ = hubs
    hub.requests.clear()
    _play(_forks, tmp_path, hub, Case(lambda wire: wire.answer()))
    assert {f"Bearer {TOKEN}".encode() in head for _, head in hub.requests} == {True}
    assert {f"/org/{step}/" in path for step in STEPS for path, _ in hub.requests} == {True, False}


@pytest.mark.parametrize(
    "name",
    ["503 and an hour", "redirect to a file", pytest.param("gzip bomb", marks=pytest.mark.long), "reset", "not HTTP"],
)
@pytest.mark.parametrize("step", ["listing", "header"])
def test_the_command_ends_with_3(
    tmp_path: Path, hubs: tuple[HostileHub, HostileHub], _forks: Forks, name: str, step: str
) -> None:
    hub, _ = hubs
    hub.scenario, hub.sized = CASES[name].play, True
    words = [f"org/{step}", "--depth", "headers", "--format", "json"]
    code, out, err = _forks.run(words, tmp_path, _environment(tmp_path, hub.url), 1200)
    assert (code, err) == (3, "")
    assert json.loads(out)["error"]["kind"] in ("HubError", "NoNetwork", "UnreadableFile")
