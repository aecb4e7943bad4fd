"""Bria, FIBO, LongCat-Image and Ovis-Image: Flux without the text as one vector.

FIBO gives each block a layer of its language model; the networks of Ovis-Image have a gate.
"""

from hfcount.architectures.layers import diffusion, rms_norm
from hfcount.architectures.layers.diffusion.blocks import joint_block, single_block
from hfcount.architectures.layers.diffusion.layers import time_embedding
from hfcount.architectures.layers.diffusion.transformers import STEP_CHANNELS, modulated
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

# diffusers 0.42.1: transformer_bria.py, transformer_bria_fibo.py, transformer_longcat_image.py,
# transformer_ovis_image.py
MODEL_TYPES = (
    "BriaTransformer2DModel",
    "BriaFiboTransformer2DModel",
    "LongCatImageTransformer2DModel",
    "OvisImageTransformer2DModel",
)


class Bria(Sizes):
    """Sizes of these architectures; `captions` is the width of what each block is given of the text, None if it is not.

    `gated` is whether networks have a gate, and the text a norm.
    """

    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    in_channels: int = size("C")
    joint_attention_dim: int = size("d_t")
    patch_size: int = size("p")
    num_layers: int = count("N_d")
    num_single_layers: int = count("N_s")
    out_channels: int
    guided: bool
    captions: int | None
    gated: bool


def spec(c: Config) -> Spec[Bria]:
    bria, fibo, ovis = (c.family == f"{name}Transformer2DModel" for name in ("Bria", "BriaFibo", "OvisImage"))
    if bria and c.bool("guidance_embeds"):
        text = "guidance_embeds is true, which diffusers cannot build a BriaTransformer2DModel with."
        raise c.error("out-of-range", text, "guidance_embeds", "Write false.", observed=True)
    inputs = c.int("in_channels")
    sizes = Bria.read(
        c,
        out_channels=diffusion.or_else(c, "out_channels", inputs, "C_o") if ovis else inputs,
        guided=fibo and c.bool("guidance_embeds"),
        captions=diffusion.sized(c, "text_encoder_dim", "d_e") if fibo else None,
        gated=ovis,
    )
    return diffusion.diffusing(c, sizes, sizes.num_attention_heads * sizes.attention_head_dim)


def blueprint(s: Spec[Bria]) -> Block:
    d, of = s.hidden, s.own
    norm, step = rms_norm(of.attention_head_dim), time_embedding(STEP_CHANNELS, d)
    text, embedded = of.captions, block("embedding", timestep_embedder=step)
    captions = None if text is None else block(linear=Linear(text, d // 2, component="embedding"))
    every = Indices.below(of.num_layers + of.num_single_layers)
    return block(
        time_embed=None if of.gated else embedded,
        timestep_embedder=step if of.gated else None,
        guidance_embed=embedded if of.guided else None,
        context_embedder_norm=rms_norm(of.joint_attention_dim) if of.gated else None,
        context_embedder=Linear(of.joint_attention_dim, d, True, "embedding"),
        x_embedder=Linear(of.in_channels, d, True, "embedding"),
        transformer_blocks=Repeat(Indices.below(of.num_layers), joint_block(d, norm, 4 * d, of.gated)),
        single_transformer_blocks=Repeat(Indices.below(of.num_single_layers), single_block(d, norm, 4 * d, of.gated)),
        norm_out=modulated(d, 2 * d),
        proj_out=Linear(d, of.patch_size * of.patch_size * of.out_channels, True),
        caption_projection=None if captions is None else Repeat(every, captions),
    )
