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
    """A context manager that shows the current model and how many of its files are read."""

    def __init__(self, models: int) -> None:
        self._models, self._place, self._model = models, 0, ""
        self._total: int | None = None
        self._done = 0
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
        self._refresh()

    def files(self, count: int) -> Callable[[], None]:
        """Sets how many files are to be read, and returns what to call after each."""
        self._total = count

        def step() -> None:
            self._done += 1
            self._refresh()

        return step

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        with self._lock:
            columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
            self._bar = Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True)
            self._bar.add_task(self._model, total=self._total, completed=self._done)
            self._bar.start()

    def _refresh(self) -> None:
        if self._bar is not None:
            task = self._bar.task_ids[0]
            self._bar.update(task, description=self._model, total=self._total, completed=self._done)
