"""Turns arguments into models, requests and what-ifs."""

import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hfcount.checkpoints.settings import ProjectSettings
from hfcount.cli.output import WrongUsage
from hfcount.errors import HfcountError
from hfcount.fetcher import Request, begin
from hfcount.fetcher.fixtures import all_fixtures
from hfcount.fetcher.folder import local_path
from hfcount.fetcher.model_names import understood

if TYPE_CHECKING:
    from hfcount.checkpoints.inspection import Options
    from hfcount.checkpoints.settings.choose import Settings
    from hfcount.mapper.whatif import Changes


class Missing(NamedTuple):
    """A MODEL without a request, and the reason."""

    model: str
    why: HfcountError


def spelled_out(models: Sequence[str], recorded: bool = False) -> list[str]:
    """Replaces `-` by the models on standard input.

    Args:
        recorded: whether models are paths below --fixtures.

    Raises:
        WrongUsage: one is a mistyped command.
    """
    if not recorded and not all("/" in model or os.path.lexists(model) for model in models):
        from hfcount.cli.suggestions import check

        check(models)
    if "-" not in models:
        return [*models]
    from hfcount.cli.option_types import listed

    return [name for model in models for name in (listed(None, None, [model]) if model == "-" else [model])]


def models(
    named: Sequence[str], below: bool, fixtures: Path | None, everything: bool, of_a_repo: bool
) -> Sequence[str | Missing]:
    """The named models, or those in folders, with folders that have none.

    Args:
        below: whether to search the named folders, or the current one if none is named.
        of_a_repo: whether an option for repos is given.

    Raises:
        HfcountError: the folder of recordings is unreadable or empty.
    """
    if below and (fixtures or everything or of_a_repo):
        raise WrongUsage("--recursive does not go with --fixtures, --all, --revision or --subfolder.")
    if everything and (fixtures is None or named):
        raise WrongUsage("--all needs --fixtures DIR, and no MODEL.")
    if below:
        return list(dict.fromkeys(model for root in named or ["."] for model in _below(root)))
    return all_fixtures(fixtures) if everything and fixtures else named


def _below(root: str) -> Sequence[str | Missing]:
    """Checkpoints in a folder, or the file itself."""
    from hfcount.fetcher.find_checkpoints import checkpoints_below

    try:
        return [root] if os.path.isfile(local_path(root)) else checkpoints_below(local_path(root))
    except HfcountError as error:
        return [Missing(root, error)]


def tree_of(model: str, roots: Sequence[str]) -> str | None:
    """The folder of --recursive that a model was found below."""
    path = os.path.realpath(local_path(model))
    tops = ((root, os.path.realpath(local_path(root))) for root in roots)
    return next((root for root, top in tops if os.path.commonpath((path, top)) == top), None)


def takes_base(model: str) -> bool:
    """Whether --base may be of a local checkpoint."""
    from hfcount.fetcher import base_config  # only where one is given

    return base_config.takes_base(model)


def what_ifs(settings: "Sequence[Changes]", schemes: "Sequence[Changes]", compared: bool) -> "Sequence[Changes]":
    """The product of config changes and schemes."""
    if schemes:
        settings = [{**setting, **scheme} for setting in settings or [{}] for scheme in schemes]
    if settings and compared:
        raise WrongUsage("--set and --quantize only count: leave out --save and --depth index, headers or data.")
    return settings


class Asked(NamedTuple):
    """What is asked of one MODEL: its request or the reason for none, and what its settings file sets."""

    request: Request | Missing
    settings: "Settings | None" = None

    def options(self, options: "Options") -> "Options":
        """The options with what the settings file sets."""
        return options if self.settings is None else self.settings.applied_to(options)


def requests(
    models: Sequence[str | Missing], make: Callable[[str], Request], project: ProjectSettings
) -> Sequence[Asked]:
    """Requests for models, or the reasons for none; starts the first one.

    Raises:
        SettingsError: a settings file is wrong.
    """
    try:
        all_asked = [_asked(model, make, project) for model in models]
    except ValueError as error:
        raise WrongUsage(str(error)) from None
    if isinstance(first := all_asked[0].request, Request):
        begin(first)
    return all_asked


def _asked(model: str | Missing, make: Callable[[str], Request], project: ProjectSettings) -> Asked:
    request = model if isinstance(model, Missing) else requested(make(model))
    settings = None if isinstance(request, Missing) else project.chosen(request)
    if settings is None or isinstance(request, Missing):
        return Asked(request)
    return Asked(settings.applied_to_request(request), settings)


def requested(request: Request) -> Request | Missing:
    """The resolved request, or the reason for none."""
    try:
        return understood(request)
    except HfcountError as error:
        return Missing(request.model, error)


def side(request: Request) -> Request | HfcountError:
    """The resolved request for a checkpoint that is answered for even where it cannot be read, or the error instead.

    Raises:
        WrongUsage: its options do not go together.
    """
    try:
        resolved = requested(request)
    except ValueError as error:
        raise WrongUsage(str(error)) from None
    return resolved.why if isinstance(resolved, Missing) else resolved


def project_settings(
    config: Path | None, no_config: bool, no_config_given: bool, fields: Collection[str] = ()
) -> ProjectSettings:
    """The settings files of a run; --config goes before the variable HFCOUNT_NO_CONFIG.

    Args:
        config, no_config: the values of these options.
        no_config_given: whether the command line gives --no-config.
        fields: of Settings that the command line gives, which goes before a file.

    Raises:
        WrongUsage: both options are given.
        SettingsError: the file cannot be read.
    """
    if config and no_config_given:
        raise WrongUsage("--config names a settings file, and --no-config reads none. Give one.")
    return ProjectSettings(config, no_config and not config, fields)
