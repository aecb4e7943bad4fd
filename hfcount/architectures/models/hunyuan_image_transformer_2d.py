"""HunyuanImage 2.1 and HunyuanVideo 1.5: transformers that denoise images and videos, and read letters by ByT5.

HunyuanImage has blocks of two streams and then of one, HunyuanVideo 1.5 of two alone, and sees an image.
"""

from math import prod

from hfcount.architectures import keys
from hfcount.architectures.layers import diffusion
from hfcount.architectures.layers.diffusion.blocks import (
    glyphs,
    joint_block,
    projected_image,
    single_block,
    token_refiner,
)
from hfcount.architectures.layers.diffusion.layers import time_embedding
from hfcount.architectures.layers.diffusion.transformers import (
    STEP_CHANNELS,
    head_norm,
    modulated,
    patches,
)
from hfcount.mapper import Config, Sizes, count, derived, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

# diffusers 0.42.1: transformer_hunyuanimage.py, transformer_hunyuan_video15.py
MODEL_TYPES = ("HunyuanImageTransformer2DModel", "HunyuanVideo15Transformer3DModel")

_NORMS = (None, "layer_norm", "fp32_layer_norm", "rms_norm")
_KINDS_OF_TOKENS = 3


class HunyuanImage(Sizes):
    """Sizes of these architectures; `width` is that of their networks, `text_embed_2_dim` that of letters, or None.

    `seen` is the width of the image that HunyuanVideo sees; None for HunyuanImage, `single` its blocks of one stream.
    """

    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    in_channels: int = size("C")
    text_embed_dim: int = size("d_t")
    num_layers: int = count("N_d")
    num_refiner_layers: int = count("N_r")
    use_meanflow: bool = flag()
    qk_norm: str | None = derived(lambda c: diffusion.word(c, "qk_norm", _NORMS))
    text_embed_2_dim: int | None = derived(lambda c: diffusion.nullable(c, "text_embed_2_dim", "d_l"))
    out_channels: int
    width: int
    sides: tuple[int, ...]
    guided: bool
    single: int
    seen: int | None


def spec(c: Config) -> Spec[HunyuanImage]:
    d = c.int("num_attention_heads") * c.int("attention_head_dim")
    image = c.family == "HunyuanImageTransformer2DModel"
    if not image and c.is_null("text_embed_2_dim"):
        raise c.error("contradiction", "text_embed_2_dim is null, and needs a width.", "text_embed_2_dim")
    sizes = HunyuanImage.read(
        c,
        out_channels=diffusion.or_else(c, "out_channels", c.int("in_channels"), "C_o"),
        width=keys.dim("d_ff", c.times("mlp_ratio", d)),
        sides=_sides(c) if image else _cube(c),
        guided=image and c.bool("guidance_embeds"),
        single=keys.dim("N_s", keys.layer_count(c, "num_single_layers")) if image else 0,
        seen=None if image else diffusion.sized(c, "image_embed_dim", "d_i"),
    )
    return diffusion.diffusing(c, sizes, sizes.num_attention_heads * sizes.attention_head_dim)


def _sides(c: Config) -> tuple[int, ...]:
    """The sides of a patch, two or, with frames, three, and as many axes of positions."""
    sides, axes = c.ints("patch_size", minimum=1), c.ints("rope_axes_dim")
    if len(sides) not in (2, 3):
        text = f"patch_size has {len(sides):,} entries, and needs 2 or 3."
        raise c.error("list-length", text, "patch_size", "Correct it.", expected=2, observed=len(sides))
    if len(axes) != len(sides):
        raise c.unequal("rope_axes_dim", len(axes), "the number of sides in patch_size", len(sides))
    return tuple(keys.dim(f"p{place}", side) for place, side in enumerate(sides, 1))


def _cube(c: Config) -> tuple[int, ...]:
    side = keys.dim("p", c.int("patch_size", minimum=1))
    return (keys.dim("p_t", c.int("patch_size_t", minimum=1)), side, side)


def blueprint(s: Spec[HunyuanImage]) -> Block:
    d, of = s.hidden, s.own
    norm = head_norm(of.qk_norm, of.attention_head_dim, of.num_attention_heads)
    step, letters, image_width = time_embedding(STEP_CHANNELS, d), of.text_embed_2_dim, of.seen
    times = block(
        "embedding",
        timestep_embedder=step,
        timestep_embedder_r=step if of.use_meanflow else None,
        guidance_embedder=step if of.guided else None,
    )
    kinds = block("embedding", weight=Tensor((_KINDS_OF_TOKENS, d)))
    single = Repeat(Indices.below(of.single), single_block(d, norm, of.width))
    return block(
        x_embedder=block(proj=patches(of.in_channels, d, *of.sides)),
        image_embedder=None if image_width is None else projected_image(image_width, d),
        context_embedder=token_refiner(of.text_embed_dim, d, of.num_refiner_layers),
        context_embedder_2=None if letters is None else glyphs(letters, d),
        time_guidance_embed=times if image_width is None else None,
        time_embed=None if image_width is None else times,
        cond_type_embed=None if image_width is None else kinds,
        transformer_blocks=Repeat(Indices.below(of.num_layers), joint_block(d, norm, of.width)),
        single_transformer_blocks=single if image_width is None else None,
        norm_out=modulated(d, 2 * d),
        proj_out=Linear(d, prod(of.sides) * of.out_channels, True),
    )
