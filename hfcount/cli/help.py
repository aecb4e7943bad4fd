"""`hfcount help`: all options, or those of one command."""

import click

from hfcount.cli.commands import COMMANDS, find
from hfcount.cli.suggestions import hint


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("name", metavar="[COMMAND]", default="verify", shell_complete=lambda *_: [*COMMANDS])
def command(name: str) -> None:
    """Show the commands and all options, or those of one COMMAND."""
    if name not in COMMANDS:
        raise click.UsageError(hint(name) or f"there is no command {name}. Commands: {', '.join(COMMANDS)}.")
    asked = find(name)
    prog = "hfcount" if name == "verify" else f"hfcount {name}"
    click.echo(asked.get_help(click.Context(asked, info_name=prog, **asked.context_settings)))
