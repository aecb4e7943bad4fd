"""The transformer of Stable Diffusion 3, over patches of latents and text side by side (arXiv:2403.03206)."""

from hfcount.architectures.components.flux import modulation
from hfcount.architectures.components.sd3 import SD3
from hfcount.architectures.layers import diffusion
from hfcount.mapper import Config, Sizes, optional, part, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# diffusers 0.42.1: transformer_sd3.py, attention.py, attention_processor.py, embeddings.py
MODEL_TYPES = ("SD3Transformer2DModel",)


class SD3Transformer2D(Sizes):
    sd3: SD3 = part(SD3)
    joint_attention_dim: int = size("d_c")
    out_channels: int | None = optional("C_o")


def spec(c: Config) -> Spec[SD3Transformer2D]:
    sizes = SD3Transformer2D.read(c)
    diffusion.check_places(c, sizes.sd3.width)
    return diffusion.diffusing(c, sizes, sizes.sd3.width)


def blueprint(s: Spec[SD3Transformer2D]) -> Block:
    of, sd3, d = s.own, s.own.sd3, s.hidden
    outputs = sd3.patch_size * sd3.patch_size * (sd3.in_channels if of.out_channels is None else of.out_channels)
    return block(
        pos_embed=sd3.places(sd3.in_channels),
        time_text_embed=sd3.times(),
        context_embedder=Linear(of.joint_attention_dim, sd3.caption_projection_dim, True, "embedding"),
        transformer_blocks=sd3.blocks(ending=True),
        norm_out=modulation(d, 2),
        proj_out=Linear(d, outputs, True, "lm_head"),
    )
