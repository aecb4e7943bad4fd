"""Layers whose numbers a config lists."""

import re
from collections.abc import Sequence
from dataclasses import replace

from hfcount.architectures.keys.sizes import layer_count
from hfcount.mapper import Config
from hfcount.spec.tree.dims import Dim, origin
from hfcount.spec.tree.indices import Indices, intersection

_KEY = r"[A-Za-z_][\w.]*"


def numbered(c: Config, key: str) -> Indices:
    """The layers whose numbers the config lists under `key`; numbers beyond the last layer are ignored."""
    given, count = c.ints(key), layer_count(c)
    return among(c, key, given, count)


def among(c: Config, key: str, given: Sequence[int], count: int) -> Indices:
    """The layers, of so many, whose numbers `given` has; the count says that they are the entries of `key`."""
    found = intersection(Indices.of(given), Indices.below(count))
    limit, _, remark = origin(count).partition(", ")
    if len({*given}) != len(given) or min(given, default=0) < 0:
        return found  # not each of its entries is a layer
    source, _, default = c.source(key).partition(", ")
    said, absent = f"entries of {source}", bool(default) or not c.given(key)
    if found.count < len(given):
        if absent or not re.fullmatch(_KEY, limit):
            return found
        said, absent = f"{said} below {limit}", bool(remark)
    return replace(found, count=Dim.named("", int(found.count), f"{said}, by default" if absent else said))
