"""The options that say what is to be served, and on what."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from hfcount.choices import CACHE_DTYPES, bytes_in
from hfcount.cli.options import COUNT, Number


class _Size(Number):
    """Bytes, such as 80GiB, 80 GB or 24576MiB."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, context: click.Context | None) -> int:
        number = bytes_in(str(value))
        if number is None:
            self.fail(f"{value} is no amount of memory, such as 80GiB, 80GB or 24576MiB.", param, context)
        return number


_OPTIONS = (
    click.option("--context", type=COUNT, metavar="TOKENS", help="Cache and multiply-adds at this context length."),
    click.option("--batch", type=COUNT, default=1, metavar="N", help="Number of sequences of --context tokens."),
    click.option(
        "--kv-dtype",
        "dtype",
        type=click.Choice(CACHE_DTYPES),
        help="The dtype of cached keys and values (default: the config's).",
    ),
    click.option(
        "--tp",
        "ranks",
        type=click.IntRange(1, 2**16),
        multiple=True,
        metavar="N",
        help="Whether N ranks of tensor parallelism can share it, and what each holds (repeatable).",
    ),
    click.option(
        "--memory",
        type=_Size(),
        metavar="SIZE",
        help="Whether weights and cache fit into so much, such as 80GiB, of each rank, and the largest context.",
    ),
)


def serving(command: Callable[..., int]) -> Callable[..., int]:
    """Adds these options to a command, which gets their values as one object, `load`."""

    @wraps(command)
    def wrapped(**values: Any) -> int:
        load = {name: values.pop(name) for name in ("context", "batch", "dtype", "ranks", "memory")}
        if load["batch"] > 1 and load["context"] is None and load["memory"] is None:
            raise click.UsageError("--batch goes with --context or --memory: that many sequences of how many tokens?")
        return command(load=load, **values)

    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped
