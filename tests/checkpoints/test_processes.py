"""Processes that read files: what they find, and what becomes of them when something goes wrong."""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from errno import EAGAIN
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import pytest
from conftest import interruptible
from valued import VALUED

import hfcount
from hfcount.checkpoints.data import processes
from hfcount.checkpoints.data.pool import Worker
from hfcount.checkpoints.data.processes import run_apart
from hfcount.errors import FetchError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there are threads")

Work = Callable[[Worker], Any]


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "cores", lambda: 2)


def _number(number: int, worker: Worker) -> tuple[int, int, bytes]:
    worker.went(number)
    worker.went(0)
    return number, os.getpid(), bytes(1000)


def _refuse(worker: Worker) -> NoReturn:
    raise FetchError("UnreadableFile", "shard.safetensors was changed while hfcount read it. Run again.")


def _killed(worker: Worker) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _endless(worker: Worker) -> None:
    while True:
        worker.went(1)


def _children() -> list[str]:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


def test_results_are_in_order_and_all_bytes_are_said() -> None:
    works: list[Work] = [partial(_number, number) for number in range(300)]
    said: list[int] = []
    before = _children()
    found = list(run_apart(works, said.append))
    assert [number for number, _, _ in found] == list(range(300))
    assert os.getpid() not in {pid for _, pid, _ in found}
    assert sum(said) == sum(range(300))
    assert _children() == before


def test_one_piece_of_work_is_done_here() -> None:
    ((_, pid, _),) = run_apart([partial(_number, 1)], lambda size: None)
    assert pid == os.getpid()


@pytest.mark.parametrize(
    ("works", "said"),
    [
        ([_refuse, _endless], "^shard.safetensors was changed while hfcount read it. Run again.$"),
        ([_killed, _endless], r"^A process that read files ended early \(signal 9\). Run again.$"),
    ],
)
def test_the_first_failure_ends_all(works: list[Work], said: str) -> None:
    before = _children()
    with pytest.raises(FetchError, match=said):
        list(run_apart(works, lambda size: None))
    assert _children() == before


def test_ctrl_c_ends_all() -> None:
    before, pressed = _children(), iter([signal.SIGINT])

    def press(size: int) -> None:
        for one in pressed:
            signal.raise_signal(one)

    with interruptible(), pytest.raises(KeyboardInterrupt):
        list(run_apart([_endless] * 3, press))
    assert _children() == before


def test_few_bytes_are_read_here() -> None:
    said: list[int] = []
    found = list(run_apart([partial(_number, number) for number in range(5)], said.append, size=5_000))
    assert [(number, pid) for number, pid, _ in found] == [(number, os.getpid()) for number in range(5)]
    assert sum(said) == sum(range(5))


@pytest.mark.parametrize("name", ["sound values", "one value that is not a number"])
def test_processes_find_what_is_found_here(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sound, folder = VALUED["sound values"].write(tmp_path / "a"), VALUED[name].write(tmp_path / "b")
    answers = []
    for few in (processes._FEW, -1):  # below which nothing is
        monkeypatch.setattr(processes, "_FEW", few)
        report, difference = hfcount.verify(folder, depth="data"), hfcount.diff(sound, folder)
        answers.append((report.to_json(), difference.to_json()))
    assert answers[0] == answers[1]
    assert (name == "sound values") == (report.verdict == "verified")


@pytest.mark.parametrize("name", ["fork", "pipe"])
def test_where_there_can_be_no_processes_there_are_threads(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> NoReturn:
        raise OSError(EAGAIN, os.strerror(EAGAIN))

    monkeypatch.setattr(os, name, refused)
    found = list(run_apart([partial(_number, number) for number in range(5)], lambda size: None))
    assert [(number, pid) for number, pid, _ in found] == [(number, os.getpid()) for number in range(5)]


_PARENT = """
import os
from hfcount.checkpoints.data import processes

def endless(worker):
    while True:
        worker.went(1)

processes.cores = lambda: 2
for _ in processes.run_apart([endless] * 2, lambda size: print(os.getpid(), flush=True)):
    pass
"""


_UNHEARD = """
import os
from hfcount.checkpoints.data import processes

team = processes._Team([lambda worker: bytes(1 << 20)] * 2, 2)  # more than a pipe holds
team.begin()
print(os.getpid(), flush=True)
os.read(0, 1)
"""


def test_processes_that_nobody_listens_to_end_as_well() -> None:
    with subprocess.Popen([sys.executable, "-c", _UNHEARD], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout and int(parent.stdout.readline()) == parent.pid
        parent.kill()
        parent.stdout.read()


@pytest.mark.parametrize("within", ["parent", "child"])
def test_ctrl_c_at_once_ends_all_and_is_seen_here_alone(within: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, parent, fork = _children(), os.getpid(), os.fork

    def pressed() -> int:
        pid = fork()
        if bool(pid) is (within == "parent"):
            signal.raise_signal(signal.SIGINT)
        return pid

    monkeypatch.setattr(os, "fork", pressed)
    try:
        with interruptible():
            found = list(run_apart([partial(_number, number) for number in range(5)], lambda size: None))
        assert within == "child"
        assert [number for number, _, _ in found] == list(range(5))
    except KeyboardInterrupt:
        if os.getpid() != parent:
            os._exit(0)
        assert within == "parent"
    assert _children() == before


def test_where_nobody_is_told_of_ends_the_first_failure_is_said() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        team = processes._Team([_refuse, _refuse], 2)
        assert team.begin()
        for pid in team._left.values():
            with pytest.raises(ChildProcessError):
                os.waitpid(pid, 0)  # which waits all the same
        with pytest.raises(FetchError, match=r"^shard.safetensors was changed"):
            list(team.results(lambda size: None))
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_what_was_sent_in_part_is_said() -> None:
    team = processes._Team([], 0)
    reading, writing = os.pipe()
    os.close(writing)
    pid = os.fork()
    if not pid:
        os._exit(0)
    team._left[reading] = pid
    with pytest.raises(FetchError, match=r"^A process that read files ended early"):
        team._ended(reading, pickle.dumps({0: 1})[:-3])


def test_processes_end_with_the_one_that_started_them() -> None:
    with subprocess.Popen([sys.executable, "-c", _PARENT], stdout=subprocess.PIPE) as parent:
        assert parent.stdout and int(parent.stdout.readline()) == parent.pid
        assert len(Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()) == 2
        parent.kill()
        parent.stdout.read()  # which ends when no process is left that could write
