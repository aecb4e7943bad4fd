"""Values as text for people: names that are safe on a terminal, numbers with separators, bytes in a unit."""

import re
from typing import Any

_SHOWN = 200  # characters of foreign text that a message repeats
_PLAIN = {"×": "x", "·": "*", "…": "...", "²": "^2", "≥": ">=", "ᵀ": "^T", "π": "pi"}


def printable(text: str, limit: int | None = _SHOWN) -> str:
    """`text` with control, format and surrogate characters and odd spaces escaped, cut to `limit` characters."""
    if not text.isprintable():
        # Bidirectional marks can reorder a line, and control characters can overwrite it.
        text = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
    return text if limit is None or len(text) <= limit else text[: limit - 3] + "..."


def writable(text: str, encoding: str) -> str:
    """`text` in characters of the encoding: formula signs become ASCII, any others a question mark."""
    lacking = {char for char in set(text) if not char.isascii() and not char.encode(encoding, "ignore")}
    return text.translate({ord(char): _PLAIN.get(char, "?") for char in lacking}) if lacking else text


def address(url: str, limit: int | None = 100) -> str:
    """An address without what may be secret: a user, a password, a query."""
    scheme, slashes, rest = re.split(r"[?#]", url, maxsplit=1)[0].rpartition("://")
    return printable(scheme.rpartition("@")[2] + slashes + rest.rpartition("@")[2], limit)


def shown(value: Any) -> str:
    """A foreign JSON value as a message repeats it."""
    if isinstance(value, str):
        return f'"{printable(value, 60)}"'
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        # A 5,000-digit number is legal JSON, but Python refuses to print it.
        return f"{value:,}" if abs(value) < 10**30 else f"a number of {value.bit_length()} bits"
    if isinstance(value, float):
        return repr(value).replace("inf", "Infinity").replace("nan", "NaN")
    return "a list" if isinstance(value, list) else "an object"


def plural(count: int, noun: str) -> str:
    """`1 tensor`, `2 tensors`."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def typed(value: Any) -> str:
    """A wrong argument as an error repeats it: `3 (int)`, `of type list`."""
    name = type(value).__name__
    return f"{shown(value)} ({name})" if isinstance(value, str | int | float) else f"of type {name}"


def is_whole_number(text: str) -> bool:
    """Whether Python takes a text for a whole number."""
    try:
        int(text)
    except ValueError:
        return False
    return True


def is_numeral(text: str) -> bool:
    """Whether a text is a number as JSON writes it, of usual length."""
    return re.fullmatch(r"-?\d{1,15}(\.\d{1,40})?([eE][-+]?\d{1,3})?", text) is not None


def binary(size: int) -> str:
    """Bytes in the largest binary unit of which there is at least one: `61.02 GiB`."""
    amount, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{size:,} B" if unit == "B" else f"{amount:,.2f} {unit}"


def rounded(size: int) -> str:
    """The same without a fraction that is zero: `80 GiB`."""
    return binary(size).replace(".00 ", " ")


def capacity(size: int) -> str:
    """The memory of a device as it is sold: `80 GiB`, `80 GB (74.51 GiB)`."""
    return f"{size // 10**9:,} GB ({binary(size)})" if size % 10**9 == 0 and size % 2**20 else rounded(size)
