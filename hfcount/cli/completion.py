"""Installs shell completion for --install-completion."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import click

from hfcount.cli.output import written
from hfcount.text import printable

_SHELLS = ("bash", "zsh", "fish")
_MARK = "# completion of hfcount"


class _Place(NamedTuple):
    """The script's file, and the lines in a startup file that make the shell read it."""

    script: Path
    startup: Path | None = None
    lines: str = ""


def _places(home: Path, environment: Mapping[str, str]) -> Mapping[str, _Place]:
    settings = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    bash, zsh = home / ".bash_completions" / "hfcount.sh", home / ".zfunc" / "_hfcount"
    return {
        "bash": _Place(bash, home / ".bashrc", f'source "{bash}"'),
        "zsh": _Place(
            zsh,
            Path(environment.get("ZDOTDIR") or home) / ".zshrc",
            f'fpath=("{zsh.parent}" $fpath)\nautoload -Uz compinit && compinit',
        ),
        "fish": _Place(settings / "fish" / "completions" / "hfcount.fish"),
    }


def install(command: click.Command, shell: str) -> None:
    """Writes the completion script of a shell ($SHELL for "") and adds it to the startup file if needed."""
    shell = shell or Path(os.environ.get("SHELL", "")).name
    if shell not in _SHELLS:
        raise click.BadParameter(f"name the shell: --install-completion SHELL, with one of {', '.join(_SHELLS)}.")
    place = _places(Path.home(), os.environ)[shell]
    try:
        place.script.parent.mkdir(parents=True, exist_ok=True)
        before = place.startup.read_text(encoding="utf-8") if place.startup and place.startup.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise click.ClickException(f"completion is not installed: {printable(str(error))}") from None
    written(place.script, lambda: _script(command, shell).encode())
    click.echo(f"Wrote {place.script}")
    if place.startup and place.lines not in before:
        gap = "\n" if before and not before.endswith("\n") else ""
        written(place.startup, lambda: f"{before}{gap}{_MARK}\n{place.lines}\n".encode())
        click.echo(f"Added to {place.startup}: {'; '.join(place.lines.splitlines())}")
    click.echo(f"Start a new {shell} for it to take effect.")


def _script(command: click.Command, shell: str) -> str:
    from click.shell_completion import ShellComplete, get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None, shell
    return ShellComplete.source(kind(command, {}, "hfcount", "_HFCOUNT_COMPLETE"))
