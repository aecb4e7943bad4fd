"""What a command line asks for: the models, the request for each, and the what-ifs."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hfcount.errors import HfcountError
from hfcount.fetcher import Request, begin
from hfcount.fetcher.fixtures import all_fixtures
from hfcount.fetcher.folder import checkpoints_below
from hfcount.fetcher.names import understood

if TYPE_CHECKING:
    from hfcount.mapper.whatif import Changes


def models(
    named: tuple[str, ...], recursive: Path | None, fixtures: Path | None, everything: bool, of_a_repo: bool
) -> tuple[str, ...]:
    """The models that are named, or those in a folder.

    Args:
        of_a_repo: whether an option is given that only repos have.

    Raises:
        HfcountError: the folder cannot be read.
    """
    if recursive and (named or fixtures or everything or of_a_repo):
        raise click.UsageError("--recursive goes without MODEL, --fixtures, --all, --revision and --subfolder.")
    if everything and (fixtures is None or named):
        raise click.UsageError("--all goes with --fixtures DIR and without MODEL.")
    if recursive:
        return tuple(checkpoints_below(recursive))
    return tuple(all_fixtures(fixtures)) if everything and fixtures else named


def what_ifs(settings: "Sequence[Changes]", schemes: "Sequence[Changes]", compared: bool) -> "Sequence[Changes]":
    """The changes to the config that are asked for: each setting, in each scheme."""
    if schemes:
        settings = [{**setting, **scheme} for setting in settings or [{}] for scheme in schemes]
    if settings and compared:
        raise click.UsageError(
            "--set and --quantize count what was never published: leave out --depth index or headers, and --save."
        )
    return settings


def requests(models: Sequence[str], make: Callable[[str], Request]) -> list[Request | HfcountError]:
    """What is asked for each model, or why that is nothing; the first is begun."""
    try:
        found = [_request(make(model)) for model in models]
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if isinstance(found[0], Request):
        begin(found[0])
    return found


def _request(request: Request) -> Request | HfcountError:
    """What MODEL and the options ask for, or why that is nothing."""
    try:
        return understood(request)
    except HfcountError as error:
        return error
