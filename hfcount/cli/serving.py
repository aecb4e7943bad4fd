"""The options that say what is to be served, and on what."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import click

from hfcount.choices import CACHE_ALIASES, CACHE_DTYPES, bytes_in
from hfcount.cli.options import COUNT, Number

_NEITHER = "is neither an amount of memory, such as 80GiB, nor a device, such as H100."


class _Size(Number):
    """Bytes, such as 80GiB, 80 GB, 24576MiB or H100."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, context: click.Context | None) -> int:
        text = str(value)
        number = bytes_in(text)
        if number is None:
            bare = text.strip().replace(".", "", 1).isdigit()
            hint = f"has no unit. Write {text.strip()}GiB, or {text.strip()}GB." if bare else _NEITHER
            self.fail(f"{text} {hint}", param, context)
        return number


def _ranks(context: click.Context, option: click.Parameter, values: Sequence[str]) -> tuple[int, ...]:
    """Numbers of ranks, each once; one value may give several, separated by commas."""
    number: Callable[..., int] = click.IntRange(1, 2**16)
    parts = [part.strip() for value in values for part in value.split(",")]
    return tuple(dict.fromkeys(number(part, option, context) for part in parts))


class _CacheDtype(click.Choice[str]):
    """A dtype of the cache, also by the name that an engine gives it."""

    def convert(self, value: str, param: click.Parameter | None, context: click.Context | None) -> str:
        return super().convert(CACHE_ALIASES.get(value, value), param, context)


_OPTIONS = (
    click.option(
        "--context", type=COUNT, metavar="TOKENS", help="Count cache and multiply-adds at this context length."
    ),
    click.option("--batch", type=COUNT, default=1, metavar="N", help="Number of sequences of --context tokens."),
    click.option(
        "--kv-dtype",
        "dtype",
        type=_CacheDtype(CACHE_DTYPES),
        help="Dtype of cached keys and values; fp8, bf16 and fp16 are understood (default: the config's).",
    ),
    click.option(
        "--tp",
        "ranks",
        callback=_ranks,
        multiple=True,
        metavar="N,...",
        help="Can N tensor-parallel ranks share it, and what does each hold? (several: 2,4,8)",
    ),
    click.option(
        "--memory",
        type=_Size(),
        metavar="SIZE",
        help="Memory per GPU, such as 80GiB or H100: do weights and cache fit, and with how long a context?",
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
