"""Estimators of depth: how they join features of several layers (arXiv:2103.13413)."""

from hfcount.keys.sizes import sized
from hfcount.mapper import Config


def reassembled(c: Config) -> dict[str, int]:
    """The traits of a neck: the width of each level, by how much it is enlarged (0 if it is made smaller), and more."""
    widths = c.ints("neck_hidden_sizes", default=(96, 192, 384, 768))
    factors = c.entries("reassemble_factors") if c.given("reassemble_factors") else [4, 2, 1, 0.5]
    if any(type(one) not in (int, float) or one <= 0 or (one > 1 and one != int(one)) for one in factors):
        raise c.error("reassemble_factors must be whole numbers, or fractions of 1.", "reassemble_factors")
    traits: dict[str, int] = {"levels": len(widths), "resized": min(len(widths), len(factors))}
    for place, width in enumerate(widths):
        traits[f"neck.{place}"] = sized(f"C{place + 1}", width)
    for place, factor in enumerate(factors):
        traits[f"factor.{place}"] = int(factor)
    normed = c.bool("use_batch_norm_in_fusion_residual", default=False)
    biased = (
        c.bool("use_bias_in_fusion_residual", default=None) if c.given("use_bias_in_fusion_residual") else not normed
    )
    return traits | {
        "fusion_hidden_size": sized("d_f", c.int("fusion_hidden_size")),
        "use_batch_norm_in_fusion_residual": normed,
        "use_bias_in_fusion_residual": biased,
    }
