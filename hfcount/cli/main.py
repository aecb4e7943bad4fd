"""`hfcount [verify] MODEL...` as click reads it: every option, help, errors and completion."""

import sys
from pathlib import Path
from typing import Any, NoReturn

import click

from hfcount.cli import option_types as read
from hfcount.cli import shared_options, verify
from hfcount.cli.examples import EPILOG
from hfcount.cli.option_groups import GroupedCommand, grouped
from hfcount.cli.output import ended
from hfcount.cli.verify_options import OPTIONS
from hfcount.errors import BadSetting


@click.command(
    cls=GroupedCommand,
    epilog=EPILOG,
    options_metavar="[COMMAND] [OPTIONS]",
    context_settings={"help_option_names": ["--help"], "max_content_width": 100},
)
@click.argument("models", nargs=-1, metavar="MODEL...", shell_complete=read.some_model)
@grouped(OPTIONS)
def main(*, locked: Path | None, debug: bool, **values: Any) -> int:
    """Check a checkpoint against its config: every tensor, and no other.

    Each MODEL is a local folder or file if there is one, otherwise a repo on the Hugging Face Hub: org/name,
    org/name@REV, hf://org/name@REV/DIR or the address of its page. hfcount derives every tensor from config.json, and
    compares names, shapes and sizes with the index and, where needed, with the headers of the weight files. It runs no
    code and downloads no weights.
    """
    del debug  # whoever reports a crash looks for it
    context = click.get_current_context()
    if locked is not None:
        from hfcount.cli.lock import check_locked  # most runs have none

        return check_locked(context, locked)
    given = frozenset(shared_options.given("depth", "strict", "no_config"))
    arguments = verify.Arguments(style=read.chosen_format(context), surface=context.obj, given=given, **values)
    try:
        return verify.run(arguments)
    except BadSetting as error:
        raise click.BadParameter(str(error), param_hint="--set") from None


def run() -> NoReturn:
    """Runs the command and exits with its code."""
    sys.exit(ended(lambda: main(standalone_mode=False)))
