"""A progress bar on standard error, if that is a terminal and the run takes longer than a moment."""

import sys
from collections.abc import Callable
from threading import Lock, Timer
from types import TracebackType
from typing import TYPE_CHECKING

from hfcount.text import printable

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE = 1.0
"""Seconds before the bar appears."""


class Bar:
    """A context manager that shows the current model and how much of it is read."""

    def __init__(self, models: int) -> None:
        self._models, self._place, self._model = models, 0, ""
        self._total: int | None = None
        self._done = 0
        self._of_bytes = False
        self._bar: Progress | None = None
        self._lock = Lock()
        self._timer = Timer(PATIENCE, self._show)
        self._timer.daemon = True

    def __enter__(self) -> "Bar":
        if sys.stderr.isatty():
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            if self._bar is not None:
                self._bar.stop()

    def model(self, name: str) -> None:
        """Starts the next model."""
        self._place += 1
        count = f" ({self._place}/{self._models})" if self._models > 1 else ""
        self._model, self._total, self._done = printable(name, 40) + count, None, 0
        self._kind(of_bytes=False)

    def waiting(self, what: str) -> None:
        """Says what is waited for: in the bar, or in a line of its own."""
        text = printable(what, 200)
        with self._lock:
            if self._bar is None:
                sys.stderr.write(f"{text}\n")
                return
        self._bar.console.print(text, markup=False, highlight=False)

    def files(self, count: int) -> Callable[[], None]:
        """Sets how many files are to be read, and returns what to call after each."""
        self._total = count
        return lambda: self._step(1)

    def bytes(self, size: int) -> Callable[[int], None]:
        """Sets how many bytes of data are to be read, and returns what any thread calls with those of a chunk."""
        self._total, self._done = size, 0
        self._kind(of_bytes=True)
        return self._step

    def _step(self, more: int) -> None:
        with self._lock:
            self._done += more
        self._refresh()

    def _kind(self, of_bytes: bool) -> None:
        """Shows files, or bytes with their rate and the time that is left."""
        changed, self._of_bytes = self._of_bytes != of_bytes, of_bytes
        if changed and self._bar is not None:
            self._bar.stop()
            self._show()
        self._refresh()

    def _show(self) -> None:
        from rich import progress
        from rich.console import Console

        with self._lock:
            shown = (progress.TextColumn("{task.description}", markup=False), progress.BarColumn())
            columns: tuple[progress.ProgressColumn, ...] = (progress.MofNCompleteColumn(), progress.TimeElapsedColumn())
            if self._of_bytes:
                rate, rest = progress.TransferSpeedColumn(), progress.TimeRemainingColumn()
                columns = (progress.DownloadColumn(), rate, rest)
            self._bar = progress.Progress(*shown, *columns, console=Console(stderr=True), transient=True)
            self._bar.add_task(self._model, total=self._total, completed=self._done)
            self._bar.start()

    def _refresh(self) -> None:
        if self._bar is not None:
            task = self._bar.task_ids[0]
            self._bar.update(task, description=self._model, total=self._total, completed=self._done)
