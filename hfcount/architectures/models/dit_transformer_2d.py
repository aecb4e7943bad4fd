"""DiT: a transformer that denoises images of a class (arXiv:2212.09748)."""

from hfcount.architectures.layers import diffusion
from hfcount.architectures.layers.diffusion.blocks import basic_block
from hfcount.architectures.layers.diffusion.transformers import patches
from hfcount.mapper import Config, Sizes, count, derived, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("DiTTransformer2DModel",)  # diffusers 0.42.1: dit_transformer_2d.py


class DiT(Sizes):
    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    in_channels: int = size("C")
    num_layers: int = count("L")
    patch_size: int = size("p", minimum=1)
    num_embeds_ada_norm: int = size("n_c", minimum=0)
    attention_bias: bool = flag()
    norm_elementwise_affine: bool = flag()
    gated: bool = derived(diffusion.gated_activation)
    out_channels: int


def spec(c: Config) -> Spec[DiT]:
    c.choice("norm_type", ("ada_norm_zero",))
    out = diffusion.nullable(c, "out_channels", "C_o")
    sizes = DiT.read(c, out_channels=c.int("in_channels") if out is None else out)
    diffusion.check_places(c, sizes.num_attention_heads * sizes.attention_head_dim)
    diffusion.dropout(c)
    return diffusion.diffusing(c, sizes, sizes.num_attention_heads * sizes.attention_head_dim)


def blueprint(s: Spec[DiT]) -> Block:
    d, of = s.hidden, s.own
    layer = basic_block(
        d,
        None,
        "ada_norm_zero",
        affine=of.norm_elementwise_affine,
        bias=of.attention_bias,
        gated=of.gated,
        classes=of.num_embeds_ada_norm,
    )
    return block(
        pos_embed=block(proj=patches(of.in_channels, d, of.patch_size, of.patch_size)),
        transformer_blocks=Repeat(Indices.below(of.num_layers), layer),
        proj_out_1=Linear(d, 2 * d, True, "norm"),
        proj_out_2=Linear(d, of.patch_size * of.patch_size * of.out_channels, True),
    )
