"""Single sizes that several groups of keys need."""

import re

from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec.tree.dims import Dim, stated

_BRACED = re.compile(r"\{(\w+)\}")


def divides(c: Config, name: str, part: int, whole_name: str, whole: int, *, built: bool = False) -> int:
    """`whole` / `part`, by the names of their keys. A remainder is dropped if a model is `built` all the same.

    Raises:
        ConfigError: there is a remainder, and no model is built.
    """
    if whole % part:
        said = f"{whole_name} is {whole:,}, which is not a multiple of {name}, {part:,}."
        if not built:
            raise c.error("not-divisible", said, whole_name, "Correct one of them.", observed=int(whole))
        c.cannot_run("not-divisible", said, whole_name, "Correct one of them.", observed=int(whole))
    return whole // part


def dim(symbol: str, value: int) -> Dim:
    """A size that only one architecture has, with a symbol of its own."""
    return Dim.named(symbol, value)


def derived_dim(c: Config, symbol: str, value: int, source: str) -> Dim:
    """A size by a rule of one architecture; `source` says it as in `Atom`, with each key of `c` in braces."""
    remark = "" if ", " in source or all(map(c.given, _BRACED.findall(source))) else ", by default"
    return Dim.named(symbol, value, _BRACED.sub(lambda key: c.path(key[1]), source) + remark)


def inverse(c: Config, symbol: str, key: str, default: float) -> Dim:
    """How often the number that the key gives, mostly a fraction, goes into 1."""
    return Dim.named(symbol, int(1 / c.number(key, default=default)), f"1 / {c.path(key)}" if c.given(key) else "")


def computed(c: Config, symbol: str, key: str, value: int) -> int:
    """A size that the class makes of other keys, and that a key of its own, if there is one, takes the place of.

    With another value a model is built and loaded, and what it multiplies has other sizes.
    """
    given = c.int(key, default=value)
    if given != value:
        said = f"{key} is {given:,}, and what other keys say of it is {value:,}."
        c.cannot_run(
            "contradiction", said, key, "Correct it, or leave it out.", expected=int(value), observed=int(given)
        )
    return given if given is value else Dim.named(symbol, given)


def layer_count(c: Config, *names: str) -> int:
    """The number of layers, by default num_hidden_layers; `names` are aliases of another key.

    A list of each layer's kind must have that length, even if the kinds do not affect shapes; what is listed of their
    networks matters only beside that.
    """
    count = c.int(*(names or ("num_hidden_layers",)), maximum=MAX_LAYERS)
    for key in ("layer_types", "mlp_layer_types") if not names else ():
        length = c.length(key)
        if length is None:
            break
        if length != count:
            raise c.unequal(key, length, "num_hidden_layers", count)
    c.layer_count = count
    return count


def channels(step: int, least: int | None = None) -> str:
    """The rule of `rounded` as legends name it."""
    return f"in channels of {stated(step)}" + ("" if least is None else f" from {stated(least)}")


def rounded(value: float, divisor: int, least: int | None = None) -> int:
    """The multiple of `divisor` next to `value`, not below `least` nor more than a tenth below `value`.

    Source: arXiv:1801.04381, whose code rounds numbers of channels so; `least` is by default the divisor.
    """
    near = max(divisor if least is None else least, int(value + divisor / 2) // divisor * divisor)
    return int(near + divisor if near < 0.9 * value else near)
