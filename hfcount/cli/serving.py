"""Options for serving: context, batch, ranks and memory."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from hfcount.cli.option_types import COUNT
from hfcount.options import CACHE_ALIASES, CACHE_DTYPES

_RANKS = 2**16

if TYPE_CHECKING:
    Devices = click.ParamType[tuple[int, int]]
else:
    Devices = click.ParamType  # which older versions cannot subscript


class _Size(Devices):
    """A number of devices and the bytes of each, such as 80GiB, 80 GB, 24576MiB, H100 or 2xH100."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, context: click.Context | None) -> tuple[int, int]:
        from hfcount.serving.devices import devices_in  # only where memory is given

        text = str(value)
        devices = devices_in(text)
        if devices is None:
            from hfcount.serving.devices import why_not

            self.fail(why_not(text), param, context)
        return devices


def _ranks(context: click.Context, option: click.Parameter, values: Sequence[str]) -> tuple[int, ...]:
    """Distinct numbers of ranks; a value may list several, separated by commas."""
    parts = [part.strip() for value in values for part in value.split(",")]
    for part in parts:
        if not (part.isascii() and part.isdigit() and 1 <= int(part[:9]) <= _RANKS):
            text = f"{part or 'nothing'} is not a whole number from 1 to {_RANKS:,}; several are written 2,4,8."
            raise click.BadParameter(text, context, option)
    return tuple(dict.fromkeys(map(int, parts)))


def _ranks_on(devices: int, ranks: tuple[int, ...]) -> tuple[int, ...]:
    """The numbers of ranks for the memory of several devices."""
    from hfcount.serving.devices import ranks_on  # only where memory of several is given

    try:
        return ranks_on(devices, ranks)
    except ValueError as error:
        raise click.UsageError(f"--memory and --tp do not go together: {error}.") from None


class _CacheDtype(click.Choice[str]):
    """A cache dtype, by its name or an engine's alias."""

    def convert(self, value: str, param: click.Parameter | None, context: click.Context | None) -> str:
        if value == "auto":
            self.fail("auto is the default (the config's dtype): leave out --kv-dtype.", param, context)
        return super().convert(CACHE_ALIASES.get(value, value), param, context)


def _engine(context: click.Context, option: click.Parameter, name: str) -> str:
    """The name of an engine, or raw, after a check that its share is known."""
    if name != "vllm":
        from hfcount.serving.engines import engine_share  # rarely another one

        try:
            engine_share(name)
        except ValueError as error:
            raise click.BadParameter(str(error), context, option) from None
    return name


_OPTIONS = (
    click.option(
        "--context",
        type=COUNT,
        metavar="TOKENS",
        help="Tokens of each sequence, for the size of the cache, such as 32k.",
    ),
    click.option(
        "--full-context",
        is_flag=True,
        help="Without --context: use the longest context that the config allows, as engines do by default.",
    ),
    click.option(
        "--batch", type=COUNT, default=1, metavar="N", help="Number of sequences at once, of --context tokens each."
    ),
    click.option(
        "--kv-dtype",
        "dtype",
        type=_CacheDtype(CACHE_DTYPES),
        help="Dtype of the KV cache, such as fp8 or bf16 (default: the config's).",
    ),
    click.option(
        "--tp",
        "ranks",
        callback=_ranks,
        multiple=True,
        metavar="N,...",
        help="Split it over N GPUs by tensor parallelism: is that possible, and what does each hold? (several: 2,4,8)",
    ),
    click.option(
        "--memory",
        type=_Size(),
        metavar="SIZE",
        help="Memory of each GPU, such as 80GiB, H100 or 2xH100: do weights and cache fit, and how many tokens?",
    ),
    click.option(
        "--engine",
        callback=_engine,
        default="vllm",
        show_default=True,
        metavar="NAME",
        help="How much of --memory may be used: vllm (its default share), vllm:0.9 (that --gpu-memory-utilization),"
        " or raw (all).",
    ),
)


_VALUES = ("context", "full_context", "batch", "dtype", "ranks", "memory", "engine")


def serving(command: Callable[..., int]) -> Callable[..., int]:
    """Adds these options to a command and passes their values as `load`."""

    @wraps(command)
    def wrapped(**values: Any) -> int:
        load = {name: values.pop(name) for name in _VALUES}
        load["longest"] = load.pop("full_context")
        if load["batch"] > 1 and load["context"] is None and load["memory"] is None:
            raise click.UsageError("--batch needs --context or --memory: how many tokens has each sequence?")
        devices, load["memory"] = load["memory"] or (1, None)
        if devices > 1:
            load["ranks"] = _ranks_on(devices, load["ranks"])
        return command(load=load, **values)

    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped
