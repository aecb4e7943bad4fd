"""Single sizes read from a config: counts of layers, widths by a rule."""

import re

from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec.tree.dims import Dim, stated

_BRACED = r"\{(\w+)\}"


def divides(c: Config, name: str, part: int, whole_name: str, total: int, *, built: bool = False) -> int:
    """`total` / `part`; a remainder is dropped if the class builds a model anyway (`built`).

    Raises:
        ConfigError: there is a remainder, and no model is built.
    """
    if total % part:
        text = f"{whole_name} is {total:,}, which is not a multiple of {name}, {part:,}."
        if not built:
            raise c.error("not-divisible", text, whole_name, "Correct one of them.", observed=int(total))
        c.cannot_run("not-divisible", text, whole_name, "Correct one of them.", observed=int(total))
    return total // part


def dim(symbol: str, value: int) -> Dim:
    """A size with a symbol, for sizes of a single architecture."""
    return Dim.named(symbol, value)


def derived_dim(c: Config, symbol: str, value: int, source: str) -> Dim:
    """A size that an architecture computes; `source` is the rule as in `Atom`, with keys of `c` in braces."""
    remark = "" if ", " in source or all(map(c.given, re.findall(_BRACED, source))) else ", by default"
    return Dim.named(symbol, value, re.sub(_BRACED, lambda key: c.path(key[1]), source) + remark)


def inverse(c: Config, symbol: str, key: str, default: float) -> Dim:
    """1 divided by the value of the key, mostly a fraction, rounded down."""
    return Dim.named(symbol, int(1 / c.number(key, default=default)), f"1 / {c.path(key)}" if c.given(key) else "")


def computed(c: Config, symbol: str, key: str, value: int) -> int:
    """A size that the class computes from other keys, unless `key` is present.

    If `key` has another value, the model is built and loaded but cannot run.
    """
    given = c.int(key, default=value)
    if given != value:
        text = f"{key} is {given:,}, and what other keys say of it is {value:,}."
        c.cannot_run(
            "contradiction", text, key, "Correct it, or leave it out.", expected=int(value), observed=int(given)
        )
    return given if given is value else Dim.named(symbol, given)


def layer_count(c: Config, *names: str) -> int:
    """The number of layers, by default num_hidden_layers; `names` are aliases of another key.

    layer_types must have that length, even if the kinds do not affect shapes; mlp_layer_types only if there is a
    layer_types.
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
    """The multiple of `divisor` nearest to `value`, not below `least` nor more than a tenth below `value`.

    Source: arXiv:1801.04381, whose code rounds numbers of channels so; `least` is by default the divisor.
    """
    near = max(divisor if least is None else least, int(value + divisor / 2) // divisor * divisor)
    return int(near + divisor if near < 0.9 * value else near)
