"""Chooses the settings that hold for a checkpoint, from the nearest file."""

import os
from collections.abc import Collection, Iterable
from datetime import date
from typing import NamedTuple, TypeVar

from hfcount.checkpoints.inspection import Options
from hfcount.checkpoints.settings.parse import Table, tables
from hfcount.checkpoints.settings.paths import matches
from hfcount.fetcher.interface import Request, early
from hfcount.fetcher.settings_file import SettingsFile, folder_of
from hfcount.options import AskedDepth
from hfcount.verifier.loaders.catalogue import loader
from hfcount.verifier.waivers import Waiver

_Value = TypeVar("_Value")


class Settings(NamedTuple):
    """What a settings file sets for one checkpoint.

    Args:
        file: the file, as messages call it.
        waivers: those that are for this checkpoint, over or not.
        loaders: names of loaders whose verdict it is; none where the file leaves that open.
        base: what the checkpoint was made of; one of a form without a base does not take it.
        strict, depth: None where the file leaves them open.
    """

    file: str
    waivers: tuple[Waiver, ...] = ()
    loaders: tuple[str, ...] = ()
    base: str | None = None
    strict: bool | None = None
    depth: AskedDepth | None = None

    def without(self, given: Collection[str]) -> "Settings":
        """The same without fields that were given otherwise, as on the command line."""
        return self._replace(**{name: self._field_defaults[name] for name in given if name in self._field_defaults})

    def applied_to_request(self, request: Request) -> Request:
        """The request with the base and the depth of the file, where it has none of its own."""
        if self.base is not None and request.base is None:
            request = request.replace(base=self.base)
        return request.replace(headers=early(self.depth)) if self.depth is not None else request

    def applied_to(self, options: Options, today: date | None = None) -> Options:
        """The options with what the file sets; waivers count until their last day."""
        today = today or date.today()
        counting = tuple(waiver for waiver in self.waivers if not waiver.is_over(today))
        strict = options.policy.strict if self.strict is None else self.strict
        policy = options.policy._replace(waivers=counting, strict=strict)
        return options._replace(
            policy=policy,
            depth=self.depth or options.depth,
            loaders=options.loaders or tuple(dict.fromkeys(map(loader, self.loaders))),
            settings=self,
        )


class SettingsChooser:
    """Chooses settings of checkpoints; each file is parsed once."""

    def __init__(self) -> None:
        self._tables: dict[str, list[Table]] = {}

    def settings(self, file: SettingsFile, request: Request) -> Settings:
        """What a file sets for a checkpoint: the tables that are for it, a later one before an earlier.

        Raises:
            SettingsError: the file is wrong.
        """
        if file.path not in self._tables:
            self._tables[file.path] = tables(file)
        paths = _paths(file, request)
        fitting = [table for table in self._tables[file.path] if _is_for(table.path, paths)]
        waivers = [
            waiver._replace(file=file.shown)
            for table in fitting
            for waiver in table.allow
            if _is_for(waiver.path, paths)
        ]
        return Settings(
            file.shown,
            tuple(waivers),
            _last((table.loaders for table in fitting), ()),
            _base(file, _last((table.base for table in fitting), None)),
            _last((table.strict for table in fitting), None),
            _last((table.depth for table in fitting), None),
        )


def _last(values: "Iterable[_Value | None]", absent: "_Value") -> "_Value":
    return next((value for value in reversed([*values]) if value is not None), absent)


def _is_for(pattern: str | None, paths: Iterable[str]) -> bool:
    return pattern is None or any(matches(pattern, path) for path in paths)


def _paths(file: SettingsFile, request: Request) -> list[str]:
    """What patterns are held against: the path of a local checkpoint from the file's folder, or the name of a repo."""
    folder, names = folder_of(request), [] if request.fixtures is None else [request.path]
    if folder is None:
        return [request.path]
    relative = os.path.relpath(folder, os.path.dirname(file.path)).replace(os.sep, "/")
    path = "" if relative == "." else relative
    return [path, *names, *([f"{path}/{request.file}".lstrip("/")] if request.file else [])]


def _base(file: SettingsFile, base: str | None) -> str | None:
    """The base as a request names it; a relative path is from the folder of the file."""
    if base is None:
        return None
    path = os.path.join(os.path.dirname(file.path), os.path.expanduser(base))
    if base.startswith((".", "/", "~")) or os.path.lexists(path):
        return os.path.normpath(path)
    return base
