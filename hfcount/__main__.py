"""The entry point of `python -m hfcount` and of the command `hfcount`."""

from __future__ import annotations

import _thread
import gc
import os
import sys
import time

TYPE_CHECKING = False  # nothing that takes time is imported before Ctrl-C is seen to
if TYPE_CHECKING:
    from typing import Any, NoReturn


def run() -> NoReturn:
    """The command line, from the first import to the last byte; Ctrl-C at any moment is one line and exit code 130.

    The garbage collector stays off: a short run makes no garbage, and looking for it takes a fifth. Nor is anything
    taken down at the end, where another Ctrl-C would show: once all is written, the process ends.
    """
    code: object = 130
    try:
        sys.unraisablehook = _unraisable
        gc.disable()
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's threads would only wait, and busily
        for name in ("stdin", "stdout", "stderr"):
            if getattr(sys, name) is None:  # closed, and the next file that is opened would take its place
                setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), "r" if name == "stdin" else "w"))
        import signal

        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # and not ignored, as under nohup
            signal.signal(signal.SIGINT, _interrupt)
        from hfcount.cli.dispatch import run as command

        command()
    except SystemExit as ended:
        code = ended.code
    except KeyboardInterrupt:
        pass
    except BaseException as error:
        code = 3
        os.write(2, f"hfcount cannot start: {type(error).__name__}: {str(error)!a}\n".encode())
    finally:
        _end(code)


def _interrupt(*_: object) -> NoReturn:
    """Unwinds the run; where something swallows that or waits for a server, the process ends a moment later anyway.

    Libraries know KeyboardInterrupt and say something of their own about it, so this is another exception.
    """
    _thread.start_new_thread(_end_soon, ())
    raise SystemExit(130)


def _end_soon() -> None:
    time.sleep(0.5)
    _end(130)


def _unraisable(raised: Any) -> None:
    """Handles exceptions that Python can only print, such as Ctrl-C while it releases a module's lock."""
    if issubclass(raised.exc_type, (SystemExit, KeyboardInterrupt)):
        _end(130)
    sys.__unraisablehook__(raised)


def _end(code: object) -> NoReturn:
    if code == 130:
        os.write(2, b"interrupted\n")
    os._exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    run()
