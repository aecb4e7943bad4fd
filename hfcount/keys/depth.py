"""Estimators of depth: how they join features of several layers (arXiv:2103.13413)."""

from hfcount.keys.sizes import sized
from hfcount.mapper import MAX_SIZE, Config


def leveled(c: Config) -> dict[str, int]:
    """The traits of levels: the width of each, its factor (0 if it is made smaller), and the width all get."""
    widths = c.ints("neck_hidden_sizes", default=(96, 192, 384, 768), minimum=0)
    factors = c.entries("reassemble_factors") if c.given("reassemble_factors") else [4, 2, 1, 0.5]
    if any(type(one) not in (int, float) or not 0 < one <= MAX_SIZE or (one > 1 and one % 1) for one in factors):
        raise c.error("reassemble_factors must be whole numbers, or fractions of 1.", "reassemble_factors")
    traits: dict[str, int] = {"levels": len(widths), "resized": min(len(widths), len(factors))}
    for place, width in enumerate(widths):
        traits[f"neck.{place}"] = sized(f"C{place + 1}", width)
    for place, factor in enumerate(factors):
        traits[f"factor.{place}"] = int(factor)
    return traits | {"fusion_hidden_size": sized("d_f", c.int("fusion_hidden_size"))}


def reassembled(c: Config) -> dict[str, int]:
    """The traits of a neck: its levels, and how it joins them."""
    normed = c.bool("use_batch_norm_in_fusion_residual", default=False)
    biased = (
        c.bool("use_bias_in_fusion_residual", default=None) if c.given("use_bias_in_fusion_residual") else not normed
    )
    return leveled(c) | {
        "use_batch_norm_in_fusion_residual": normed,
        "use_bias_in_fusion_residual": biased,
    }
