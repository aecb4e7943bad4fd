"""What can be asked of a report, by itself: the command line offers it before it imports what answers."""

import re
from typing import Literal

AskedDepth = Literal["auto", "config", "index", "headers", "data"]
"""How far to look; `auto` reads headers where the index does not settle it."""

Depth = Literal["config", "index", "headers", "data"]
"""How far a run looked."""

Expected = Literal["same", "finetune", "cast", "quantised", "merge"]
"""What a checkpoint may be expected to be to another."""

Extra = Literal["tensors", "formula", "layers"]
"""Fields of the report that are filled in where they are asked for."""

DerivedWith = Literal["transformers", "diffusers"]
"""What may give names and shapes of a type that no family describes."""

CACHE_DTYPES = ("float32", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2", "int8")
"""What keys and values may be cached in."""

CACHE_ALIASES = {
    "fp32": "float32",
    "bf16": "bfloat16",
    "fp16": "float16",
    "half": "float16",
    "fp8": "float8_e4m3fn",
    "fp8_e4m3": "float8_e4m3fn",
    "fp8_e5m2": "float8_e5m2",
}
"""What engines call them: vLLM's --kv-cache-dtype, SGLang's, llama.cpp's."""

_UNITS = {
    f"{letter}{suffix}": (1024 if suffix.startswith("i") else 1000) ** power
    for power, letter in enumerate("kmgt", 1)
    for suffix in ("", "b", "i", "ib")
} | {"b": 1}


def bytes_in(text: str) -> int | None:
    """The bytes of an amount such as 80GiB, 80 GB, 80G (both of 10^9) or 24576MiB, or of a device such as H100.

    None if it is neither; a number without a unit is none.
    """
    amount = re.fullmatch(r"(\d{1,15}(?:\.\d{1,9})?) ?([a-z]+)", text.lower().replace(",", "").replace("_", ""))
    if amount:
        return int(float(amount[1]) * _UNITS.get(amount[2], 0)) or None
    from hfcount.devices import memory_of  # mostly an amount is given

    return memory_of(text)


def devices_in(text: str) -> tuple[int, int] | None:
    """The number of devices and the bytes of each, of `2xH100`, `4 x 80GiB` or of one; None if it is none of these."""
    several = re.fullmatch(r" *([1-9]\d{0,4}) ?[x×*] ?(.+)", text, re.IGNORECASE)
    size = bytes_in(several[2] if several else text)
    return None if size is None else (int(several[1]) if several else 1, size)


def ranks_on(devices: int, ranks: tuple[int, ...]) -> tuple[int, ...]:
    """The numbers of ranks that are asked for, where the memory is that of so many devices.

    Raises:
        ValueError: other numbers are asked for, too.
    """
    if devices > 1 and ranks not in ((), (devices,)):
        said = ", ".join(map(str, ranks))
        raise ValueError(
            f"the memory is that of {devices} devices, and ranks are {said}: give the memory of one device"
        )
    return (devices,) if devices > 1 else ranks
