"""Networks that make waveforms."""

from hfcount.keys.sizes import sized
from hfcount.mapper import Config


def hifigan(c: Config, prefix: str = "") -> dict[str, int]:
    """The traits of HiFi-GAN: its kernels, by number; `prefix` begins the names of its keys."""
    kernels, rates = c.ints(f"{prefix}upsample_kernel_sizes"), c.ints(f"{prefix}upsample_rates")
    blocks, dilations = c.ints(f"{prefix}resblock_kernel_sizes"), c.entries(f"{prefix}resblock_dilation_sizes")
    if c.is_null(f"{prefix}resblock_dilation_sizes"):
        dilations = [[1, 3, 5]] * 3  # as its class says, though not among its defaults
    key = f"{prefix}upsample_initial_channel"
    channels, times = c.int(key, default=512), min(len(rates), len(kernels))
    if not times or times > int(channels).bit_length() - 1:
        said = f"{key} is {channels:,}, and is halved {times:,} times, which must be once or more, down to 1 at least."
        raise c.error(said, key, "Correct it, or the length of the other lists.")
    found: dict[str, int] = {"channels": sized("C_u", channels), "upsamplings": times}
    for number, kernel in enumerate(kernels[:times]):
        found[f"kernel.{number}"] = sized(f"w_u{number + 1}", kernel)
    pairs = list(zip(blocks, dilations, strict=False))
    for number, (kernel, dilated) in enumerate(pairs):
        if not isinstance(dilated, list):
            key = f"{prefix}resblock_dilation_sizes"
            raise c.error(f"{key} must hold lists.", key, code="HF001")
        found[f"block.{number}"] = sized(f"w_r{number + 1}", kernel)
        found[f"dilations.{number}"] = len(dilated)
    return found | {"blocks": len(pairs)}
