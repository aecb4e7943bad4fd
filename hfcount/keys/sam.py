"""SAM's successors for videos: what they keep of earlier frames (arXiv:2408.00714)."""

from math import log2

from hfcount.keys.attention import multi_head
from hfcount.keys.layers import alike
from hfcount.keys.sizes import divides, sized
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Dense, Layer, Layers

_LATENTS = {
    "perceiver_resampler_num_latents": "n_l",
    "perceiver_resampler_num_latents_2d": "n_q",
    "perceiver_resampler_hidden_size": "d_l",
    "perceiver_resampler_mlp_intermediate_size": "d_q",
    "perceiver_resampler_num_attention_heads": "h_l",
    "perceiver_resampler_attention_head_dim": "h_q",
    "perceiver_resampler_num_layers": "N_l",
}

_SIZES = {
    "num_maskmem": "n_k",
    "memory_encoder_hidden_size": "d_e",
    "memory_encoder_output_channels": "d_k",
    "memory_fuser_embed_dim": "d_x",
    "memory_fuser_intermediate_dim": "d_y",
    "memory_fuser_kernel_size": "w_x",
    "mask_downsampler_embed_dim": "d_z",
    "mask_downsampler_kernel_size": "w_z",
    "mask_downsampler_stride": "s_z",
}


def remembering(c: Config, latent: bool) -> dict[str, int]:
    """The traits of a model that keeps features and masks of earlier frames; `latent` if it makes latents of them."""
    traits: dict[str, int] = {key: sized(letter, c.int(key)) for key, letter in _SIZES.items()}
    for key, letter in _LATENTS.items() if latent else ():
        traits[key] = sized(letter, c.int(key, minimum=0))
    side, total = traits["mask_downsampler_stride"], c.int("mask_downsampler_total_stride")
    if side < 2:
        raise c.error(
            "mask_downsampler_stride is 1, and no number of such steps makes a mask smaller.", "mask_downsampler_stride"
        )
    width = c.int("memory_attention_hidden_size")
    rate = c.int("memory_attention_downsample_rate")
    return traits | {
        "latent": latent,
        "mask_stages": int(log2(max(1, total)) // log2(side)),
        "memory_fuser_num_layers": sized("N_x", c.int("memory_fuser_num_layers", maximum=MAX_LAYERS)),
        "occluded": c.bool("enable_occlusion_spatial_embedding"),
        "pointed": c.bool("enable_temporal_pos_encoding_for_object_pointers"),
        "width": sized("d_r", width),
        "inner": sized(
            "d_j",
            divides(c, "memory_attention_downsample_rate", rate, "memory_attention_hidden_size", width, built=True),
        ),
    }


def memory_layers(c: Config, wide: str) -> list[Layers]:
    """Layers that attend to memories; `wide` is the key of the width of their network."""
    width, heads = c.int("memory_attention_hidden_size"), c.int("memory_attention_num_attention_heads")
    mixer = multi_head(c, width, heads, uneven="built")
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int(wide), bias=True))
    return alike(layer, c.int("memory_attention_num_layers", maximum=MAX_LAYERS))
