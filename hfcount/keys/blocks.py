"""Networks whose every block the config spells out."""

from collections.abc import Sequence
from typing import Any

from hfcount.keys.sizes import rounded, sized
from hfcount.mapper import Config
from hfcount.tree.dims import Dim

BLOCK = ("side", "in", "out", "plain", "squeezed")
"""A block: its kernel, its channels before and after, whether it keeps places as they are, whether it is squeezed."""


def spelled_out(c: Config, usual: Sequence[Sequence[Any]], scaled: bool = True) -> dict[str, int]:
    """The traits of block_configs: for each stage lists of kernel, channels before and after, stride, squeezing.

    They are `stages`, `depth.STAGE`, `features.STAGE`, and NAME.STAGE.PLACE for each name of BLOCK.

    Args:
        usual: what it is where the key is absent.
        scaled: whether channels are multiplied by scale and rounded to divisor.
    """
    stages, factor, step = c.entries("block_configs") or usual, 1.0, 1
    if scaled:
        factor, step = c.number("scale", default=1), c.int("divisor", default=8)
    times = f" · {c.path('scale')}, rounded" if c.given("scale") and scaled else ""
    usually = "" if c.given("block_configs") else ", by default"

    def written(*places: int) -> str:
        return c.path("block_configs") + "".join(f"[{number}]" for number in places)

    traits, count = {"stages": len(stages)}, 0
    for number, stage in enumerate(stages):
        blocks = stage if isinstance(stage, list) else []
        traits[f"depth.{number}"] = len(blocks)
        for place, one in enumerate(blocks):
            if not (isinstance(one, list) and len(one) == 5 and all(_is_size(size) for size in one[:3])):
                said = "block_configs must name five values for each block: its kernel, channels, stride and squeezing."
                raise c.error(said, "block_configs", code="HF001")
            count += 1
            before, after = (
                Dim.named(
                    f"{name}{count}",
                    rounded(one[side] * factor, step),
                    written(number, place, side) + (times or usually),
                )
                for side, name in enumerate("ab", 1)
            )
            values = (one[0], before, after, one[3] == 1, bool(one[4]))
            traits |= {f"{name}.{number}.{place}": value for name, value in zip(BLOCK, values, strict=True)}
        if blocks:
            made = Dim.named(f"f{number}", blocks[-1][2], written(number, len(blocks) - 1, 2) + usually)
            # As the model around it takes them: not rounded to divisor.
            traits[f"features.{number}"] = sized(f"f{number}", c.times("scale", made, default=1)) if scaled else made
        else:
            raise c.error(f"block_configs names no block for stage {number}.", "block_configs")
    return traits


def _is_size(size: Any) -> bool:
    return type(size) is int and 0 < size < 2**32
