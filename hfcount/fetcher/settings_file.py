"""Finds and reads the settings file of a checkpoint: hfcount.toml, or pyproject.toml with a table for hfcount."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress

from hfcount.errors import SettingsError
from hfcount.fetcher.interface import SHORT, Request
from hfcount.text import printable

OWN, PROJECT = "hfcount.toml", "pyproject.toml"

# A table, a dotted key or an inline table `tool`: whatever could hold one for hfcount. Only then is TOML parsed.
_TABLE = rb"""(?m)^[ \t]*(\[{1,2}[ \t]*)?["']?tool["']?[ \t]*(\.[ \t]*["']?hfcount["']?[ \t]*[].=]|\]|=)"""
_HEADER = rb"""(?m)^[ \t]*\[{1,2}[ \t]*["']?tool["']?[ \t]*\.[ \t]*["']?hfcount["']?[ \t]*[].]"""


class SettingsFile:
    """A settings file, as it was read."""

    def __init__(self, path: str, raw: bytes) -> None:
        self.path, self.raw = path, raw

    @property
    def shown(self) -> str:
        """Its path from the current folder, if it is in or below that."""
        with suppress(OSError, ValueError):  # the current folder is gone, or on another drive
            relative = os.path.relpath(self.path)
            return printable(self.path if relative.startswith(os.pardir) else relative)
        return printable(self.path)


class SettingsFinder:
    """Finds the nearest settings file of checkpoints; remembers each folder for as long as it lives."""

    def __init__(self) -> None:
        self._nearest: dict[str, SettingsFile | None] = {}

    def file_for(self, request: Request) -> SettingsFile | None:
        """The nearest file: above the folder of a local checkpoint, or from the current folder up for any other.

        A checkpoint's own folder, which came with it where it was downloaded, is passed over unless it is the current
        one. The search ends at the home folder, and elsewhere below the root of the file system.

        Raises:
            SettingsError: hfcount.toml is there and cannot be read.
        """
        try:
            places = _places(request)
        except OSError:  # the current folder is gone
            return None
        passed: list[str] = []
        file = None
        for place in places:
            if place in self._nearest:
                file = self._nearest[place]
                break
            passed.append(place)
            if (file := _within(place)) is not None:
                break
        self._nearest.update(dict.fromkeys(passed, file))
        return file


def folder_of(request: Request) -> str | None:
    """The absolute path of the folder of a checkpoint that is on disk, recorded ones included; None of any other."""
    model = os.path.join(request.fixtures or "", os.path.expanduser(request.model))
    path = os.path.abspath(os.path.join(model, request.subfolder or ""))
    if os.path.isdir(path):
        return path
    return os.path.dirname(path) if os.path.isfile(path) else None


def _places(request: Request) -> Iterator[str]:
    """The folders in which the settings file of a checkpoint may be, the nearest first."""
    current = os.getcwd()
    own = folder_of(request.replace(subfolder=None))
    places = _upwards(own or current)
    if own is not None and os.path.realpath(own) != os.path.realpath(current):
        next(places)
    return places


def _upwards(folder: str) -> Iterator[str]:
    """A folder and those that it is in, up to the home folder, or to the last one below the root."""
    home = os.path.expanduser("~")
    yield folder
    while folder != home and os.path.dirname(above := os.path.dirname(folder)) != above:
        yield above
        folder = above


def _within(folder: str) -> SettingsFile | None:
    """The settings file in a folder; a pyproject.toml that cannot be read, or has no table for hfcount, is none."""
    own, project = os.path.join(folder, OWN), os.path.join(folder, PROJECT)
    if os.path.isfile(own):
        return read(own)
    if not os.path.isfile(project):
        return None
    with suppress(SettingsError):
        file = read(project)
        return file if b"hfcount" in file.raw and re.search(_TABLE, file.raw) and _has_table(file.raw) else None
    return None


def _has_table(raw: bytes) -> bool:
    """Whether a pyproject.toml has a table for hfcount; one that is no TOML, if a line is the header of that table."""
    import tomllib  # few projects have one

    try:
        tool = tomllib.loads(raw.decode()).get("tool")
    except (ValueError, RecursionError):
        return re.search(_HEADER, raw) is not None
    return isinstance(tool, dict) and "hfcount" in tool


def read(path: str | os.PathLike[str]) -> SettingsFile:
    """A settings file by its path.

    Raises:
        SettingsError: it cannot be read, or is too long to be one.
    """
    shown = printable(os.fspath(path))
    try:
        with open(path, "rb") as file:
            raw = file.read(SHORT + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise SettingsError(f"{shown} cannot be read: {why}.") from None
    if len(raw) > SHORT:
        raise SettingsError(f"{shown} has more than {SHORT:,} bytes, and is no settings file.")
    return SettingsFile(os.path.abspath(path), raw)
