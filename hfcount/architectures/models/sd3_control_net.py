"""ControlNet of Stable Diffusion 3: a few of its blocks, which steer those of the model (arXiv:2302.05543)."""

from hfcount.architectures.components.sd3 import SD3
from hfcount.architectures.layers import diffusion
from hfcount.mapper import Config, Sizes, flag, optional, part, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

# diffusers 0.42.1: controlnet_sd3.py, transformer_sd3.py, attention.py
MODEL_TYPES = ("SD3ControlNetModel",)


class SD3ControlNet(Sizes):
    table: bool
    sd3: SD3 = part(SD3)
    joint_attention_dim: int | None = optional("d_c")
    extra_conditioning_channels: int = size("C_h", minimum=0)
    use_pos_embed: bool = flag()


def spec(c: Config) -> Spec[SD3ControlNet]:
    used = c.bool("use_pos_embed")
    table = used and not c.is_null("pos_embed_type") and bool(c.choice("pos_embed_type", ("sincos",)))
    sizes = SD3ControlNet.read(c, table=table)
    if table:
        diffusion.check_places(c, sizes.sd3.width)
    return diffusion.diffusing(c, sizes, sizes.sd3.width)


def blueprint(s: Spec[SD3ControlNet]) -> Block:
    of, sd3, d = s.own, s.own.sd3, s.hidden
    joint = of.joint_attention_dim
    text = None if joint is None else Linear(joint, sd3.caption_projection_dim, True, "embedding")
    return block(
        pos_embed=sd3.places(sd3.in_channels, of.table) if of.use_pos_embed else None,
        time_text_embed=sd3.times(),
        context_embedder=text,
        transformer_blocks=sd3.single() if joint is None else sd3.blocks(ending=False),
        controlnet_blocks=Repeat(Indices.below(sd3.num_layers), Linear(d, d, True, "projector")),
        pos_embed_input=sd3.places(sd3.in_channels + of.extra_conditioning_channels, table=False),
    )
