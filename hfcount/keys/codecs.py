"""Codecs: networks that turn a waveform into codes and back."""

from collections.abc import Sequence

from hfcount.keys.sizes import sized
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.tree.dims import Dim, scaled

_DEEPEST = 32  # a width that is doubled more often holds more than any size may


def ratios(c: Config, key: str, default: Sequence[int] | None = None) -> list[int]:
    """By how much each of a codec's blocks shortens the waveform; the widths double or halve as often."""
    found = c.ints(key) or list(default or ())
    if not 0 < len(found) <= _DEEPEST or any(ratio < 1 for ratio in found):
        raise c.error(f"{key} must name 1 to {_DEEPEST} ratios, of 1 and more.", key, "Correct it.")
    return [sized(f"r{number + 1}", ratio) for number, ratio in enumerate(found)]


def seanet(c: Config, default: Sequence[int] | None = None) -> dict[str, int]:
    """The traits of SEANet: its ratios by number, kernels, and residual layers."""
    found: dict[str, int] = {"ratios": len(every := ratios(c, "upsampling_ratios", default))}
    found |= {f"ratio.{number}": ratio for number, ratio in enumerate(every)}
    for key, symbol in _SEANET.items():
        found[key] = sized(symbol, c.int(key, maximum=MAX_LAYERS))
    return found | {"use_conv_shortcut": c.bool("use_conv_shortcut", default=False)}


_SEANET = {
    "audio_channels": "C_a",
    "num_filters": "F",
    "num_residual_layers": "N_r",
    "kernel_size": "w_k",
    "last_kernel_size": "w_l",
    "residual_kernel_size": "w_r",
    "compress": "z",
}


def product(numbers: Sequence[int]) -> int:
    """The product of sizes."""
    result: int = Dim.of(1, {(): 1})
    for number in numbers:
        result = result * number
    return result


def dac(narrow: int, wide: int, down: Sequence[int], up: Sequence[int]) -> dict[str, int]:
    """The traits of DAC's encoder, which begins `narrow`, and its decoder, which begins `wide`, by their ratios."""
    found = {"narrow": sized("F", narrow), "wide": sized("F_d", wide), "ratios": len(down), "ratios_up": len(up)}
    found |= {f"ratio.{number}": ratio for number, ratio in enumerate(down)}
    return found | {f"ratio_up.{number}": sized(f"u{number + 1}", ratio) for number, ratio in enumerate(up)}


def semantic(c: Config, width: int) -> dict[str, int]:
    """The traits of the blocks that code what a recogniser made of speech, `width` wide: their widths and strides."""
    strides, scales = c.ints("strides"), c.entries("channel_ratios")
    if not strides or len(strides) != len(scales) or not all(isinstance(scale, int | float) for scale in scales):
        said = f"strides has {len(strides):,} entries, and channel_ratios must have as many numbers."
        raise c.error(said, "strides", "Correct one of them.")
    found: dict[str, int] = {"blocks": len(strides), "units": c.length("block_dilations") or 0}
    for number, (stride, scale) in enumerate(zip(strides, scales, strict=True)):
        found[f"stride.{number}"] = sized(f"s{number + 1}", stride)
        found[f"width.{number}"] = width if scale == 1 else scaled(scale, "channel_ratios", width)
    for key, symbol in (("kernel_size", "w"), ("unit_kernel_size", "w_u")):
        found[key] = sized(symbol, c.int(key))
    return found
