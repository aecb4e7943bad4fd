"""Reads the settings files of a project, and chooses what holds for each checkpoint."""

import os
from collections.abc import Collection
from typing import TYPE_CHECKING

from hfcount.fetcher import Request, settings_file
from hfcount.text import typed

if TYPE_CHECKING:
    from hfcount.checkpoints.inspection import Options
    from hfcount.checkpoints.settings.choose import Settings, SettingsChooser


class ProjectSettings:
    """The settings files of a run.

    Args:
        file: the one that holds for all models, in place of the nearest of each.
        off: whether none is looked for.
        given: fields of Settings that were given on the command line, which goes before a file.

    Raises:
        SettingsError: the file cannot be read.
    """

    def __init__(
        self, file: str | os.PathLike[str] | None = None, off: bool = False, given: Collection[str] = ()
    ) -> None:
        self._file = None if file is None else settings_file.read(file)
        self._off, self._given = off, given
        self._finder = settings_file.SettingsFinder()
        self._chooser: SettingsChooser | None = None

    def check(self) -> None:
        """Raises SettingsError if the file of the current folder is wrong."""
        self.chosen(Request(os.curdir))

    def chosen(self, request: Request) -> "Settings | None":
        """What holds for a checkpoint; raises SettingsError for a file that is wrong."""
        file = self._file or (None if self._off else self._finder.file_for(request))
        if file is None:
            return None
        if self._chooser is None:
            from hfcount.checkpoints.settings.choose import SettingsChooser  # few runs have a file

            self._chooser = SettingsChooser()
        return self._chooser.settings(file, request).without(self._given)

    def applied(self, request: Request, options: "Options", given: Collection[str] = ()) -> "tuple[Request, Options]":
        """A request and options with what holds for the checkpoint; raises SettingsError for a file that is wrong."""
        settings = self.chosen(request)
        if settings is None:
            return request, options
        settings = settings.without(given)
        return settings.applied_to_request(request), settings.applied_to(options)


def project_of(settings: str | os.PathLike[str] | None) -> ProjectSettings | None:
    """The settings that a Python program asks for: those of a file, or of the nearest for `auto`; None for none.

    Raises:
        SettingsError: the file cannot be read.
        TypeError: it is no path.
    """
    if settings is None:
        return None
    if not isinstance(settings, str | os.PathLike):
        raise TypeError(f"settings is {typed(settings)}, and must be a path, `auto` or None.")
    return ProjectSettings(None if settings == "auto" else settings)
