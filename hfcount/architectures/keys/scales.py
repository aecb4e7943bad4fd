"""How a tower of projections grows from pixels to a patch, scale by scale."""

from itertools import accumulate
from math import log
from operator import mul
from typing import NamedTuple

from hfcount.architectures.keys.sizes import derived_dim
from hfcount.mapper import Config

_MULTIPLE = 64
_MOST = 4_096  # layers, whose widths are found one by one


class Scale(NamedTuple):
    """A grid of frames and pixels, and the channels that each of its cells has."""

    frames: int
    side: int
    channels: int

    @property
    def cells(self) -> int:
        """Pixels that one cell stands for."""
        return self.frames * self.side * self.side


def scales(c: Config) -> list[Scale]:
    """The scale before each layer and after the last: as even a way as the prime factors of a patch allow.

    Source: transformers 5.23, modeling_inkling.py, plan_out_scales.
    """
    channels, count = c.int("num_channels", default=3), c.int("num_hidden_layers", "n_layers", maximum=_MOST)
    sides = list(accumulate(_factors(c.int("patch_size", minimum=1)), mul))
    spans = list(accumulate(_factors(c.int("temporal_patch_size", minimum=1)), mul))
    side = sides[-1] if sides else 1
    known = [Scale(1, 1, channels)]
    known += [Scale(1, one, _rounded(one * one * channels)) for one in sides]
    known += [Scale(one, side, _MULTIPLE * side * side * channels * one) for one in spans]  # which are not rounded
    whole = log(max(1, known[-1].cells * channels))
    costs = [[abs(whole * place / max(1, count) - log(one.cells)) for one in known] for place in range(count + 1)]
    chosen = _nearest(costs) if count >= len(known) else _distinct(costs)
    return [known[0], *(known[place] for place in chosen[1:-1]), known[-1]]


def _nearest(costs: list[list[float]]) -> list[int]:
    return [min(range(len(row)), key=row.__getitem__) for row in costs]


def _distinct(costs: list[list[float]]) -> list[int]:
    """A scale of its own for each row, at the least cost; the order is kept, as it is best for distances."""
    width = len(costs[0])
    best: list[tuple[float, tuple[int, ...]]] = [(0.0, ())] * (width + 1)
    for row in costs:
        found: list[tuple[float, tuple[int, ...]]] = [(float("inf"), ())]
        for place in range(width):
            cost, way = best[place]
            taken = (cost + row[place], (*way, place)) if cost < float("inf") else (float("inf"), ())
            found.append(min(found[-1], taken, key=lambda one: one[0]))
        best = found
    return list(best[-1][1])


def _rounded(channels: int) -> int:
    return -(-channels // _MULTIPLE) * _MULTIPLE


def _factors(number: int) -> list[int]:
    """The prime factors, from the greatest on."""
    found, rest, factor = list[int](), int(number), 2
    while factor * factor <= rest:
        if rest % factor:
            factor += 1
        else:
            found.append(factor)
            rest //= factor
    return sorted([*found, rest] if rest > 1 else found, reverse=True)


def channels(c: Config, scale: Scale, place: int) -> int:
    """The channels of a scale as a size with a symbol, by the number of the layer that gives it."""
    return derived_dim(c, f"C{place}", scale.channels, "{patch_size}, by its factors")
