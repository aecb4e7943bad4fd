"""Runs of `python -m hfcount`, or of code that uses it, each in a process of its own, without what imports cost.

`python forking.py` imports what most runs need and then forks for each line that it reads: a JSON object with the
arguments, the folder, the environment and the files to write to. It answers with the exit code, a line each. What reads
the environment as it is imported (huggingface_hub) is left to the runs. Where nothing can fork, a run starts Python.
"""

import json
import os
import select
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from runpy import run_module
from typing import NoReturn

LEFT = (
    "hfcount.__main__",
    "hfcount.architectures.",
    "hfcount.report.renderers.",
    "hfcount.serving.sharding",
    "hfcount.sweeping",
)
"""What a run imports only if it needs it; the rest is imported once."""


Ended = tuple[int, str, str]
"""The exit code of a run, and what it printed: output, errors."""


class Forks:
    """Starts the server with the first run, and ends it with `close`."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[bytes] | None = None

    def run(
        self, args: Sequence[str], folder: Path, environment: Mapping[str, str], timeout: float, code: str | None = None
    ) -> Ended:
        """What `python -m hfcount *args` does in `folder`, or `python -c code *args`.

        Raises:
            subprocess.TimeoutExpired: it has not ended after `timeout` seconds.
        """
        if not hasattr(os, "fork"):
            return started(args, folder, environment, timeout, code)
        if self._server is None:
            self._server = subprocess.Popen(
                [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
            )
        assert self._server.stdin and self._server.stdout
        with tempfile.TemporaryDirectory() as place:
            out, err = Path(place) / "out", Path(place) / "err"
            os.umask(umask := os.umask(0))  # to know it is to set it
            asked = {
                "args": [*args],
                "folder": str(folder),
                "environment": dict(environment),
                "umask": umask,
                "code": code,
            }
            self._server.stdin.write(json.dumps(asked | {"files": [str(out), str(err)]}).encode() + b"\n")
            if not select.select([self._server.stdout], [], [], timeout)[0]:
                self.close()
                raise subprocess.TimeoutExpired(["hfcount", *args], timeout)
            code = self._server.stdout.readline()
            if not code:
                raise RuntimeError(f"{__file__} has ended: what it printed says why")
            return int(code), out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8")

    def close(self) -> None:
        """Ends the server, and a run that has not ended."""
        if self._server:
            self._server.terminate()
            self._server.communicate()
            self._server = None


def started(
    args: Sequence[str], folder: Path, environment: Mapping[str, str], timeout: float, code: str | None
) -> Ended:
    """The same by a start of Python."""
    command = [sys.executable, *(["-m", "hfcount"] if code is None else ["-c", code]), *args]
    done = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, encoding="utf-8", timeout=timeout, check=False
    )
    return done.returncode, done.stdout, done.stderr


def serve() -> None:
    """Forks for each line of stdin."""
    import hfcount

    import_module("requests")  # which runs import late

    for module in walk_packages(hfcount.__path__, "hfcount."):
        if not module.name.startswith(LEFT):
            import_module(module.name)
    assert "huggingface_hub" not in sys.modules  # it would keep this environment
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            os.umask(asked["umask"])
            _become(asked["folder"], asked["environment"], asked["files"])
            _run(asked["args"], asked["code"])
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.write(1, f"{code}\n".encode())


def _become(folder: str, environment: dict[str, str], files: list[str]) -> None:
    """Takes the place of a process that was started in `folder`, with this environment and these files to write to."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for place, path in enumerate(files, 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), place)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115 - open until the process ends
        for number, mode in ((0, "r"), (1, "w"), (2, "w"))
    )


def _run(args: list[str], code: str | None) -> NoReturn:
    """`python -m hfcount *args`, or `python -c code *args`; it never returns."""
    sys.argv = ["hfcount", *args]
    if code is None:
        run_module("hfcount", run_name="__main__", alter_sys=True)
        os._exit(99)  # run() ends the process by itself
    try:
        exec(code, {"__name__": "__main__"})
        status = 0
    except Exception:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    os._exit(status)


if __name__ == "__main__":
    serve()
