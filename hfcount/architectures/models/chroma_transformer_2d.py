"""Chroma: Flux with one small network in place of what modulates each of its blocks."""

from hfcount.architectures.layers import diffusion, rms_norm
from hfcount.architectures.layers.diffusion.layers import feed_forward, time_embedding
from hfcount.architectures.layers.diffusion.transformers import joint_attention, normed_attention
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("ChromaTransformer2DModel",)  # diffusers 0.42.1: transformer_chroma.py


class Chroma(Sizes):
    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    in_channels: int = size("C")
    joint_attention_dim: int = size("d_t")
    patch_size: int = size("p")
    num_layers: int = count("N_d")
    num_single_layers: int = count("N_s")
    approximator_num_channels: int = size("d_s")
    approximator_hidden_dim: int = size("d_a")
    approximator_layers: int = count("N_a")
    out_channels: int


def spec(c: Config) -> Spec[Chroma]:
    sizes = Chroma.read(c, out_channels=diffusion.or_else(c, "out_channels", c.int("in_channels"), "C_o"))
    return diffusion.diffusing(c, sizes, sizes.num_attention_heads * sizes.attention_head_dim)


def blueprint(s: Spec[Chroma]) -> Block:
    d, of = s.hidden, s.own
    norm, network, inner = rms_norm(of.attention_head_dim), feed_forward(d, 4 * d), of.approximator_hidden_dim
    both = block(attn=joint_attention(d, norm), ff=network, ff_context=network)
    single = block(
        proj_mlp=Linear(d, 4 * d, True, "mlp"),
        proj_out=Linear(5 * d, d, True, "mlp"),
        attn=normed_attention(d, d, norm=norm, to_out=None),
    )
    each = Indices.below(of.approximator_layers)
    modulation = block(
        "norm",
        in_proj=Linear(of.approximator_num_channels, inner, True),
        layers=Repeat(each, time_embedding(inner, inner)),
        norms=Repeat(each, rms_norm(inner)),
        out_proj=Linear(inner, d, True),
    )
    return block(
        distilled_guidance_layer=modulation,
        context_embedder=Linear(of.joint_attention_dim, d, True, "embedding"),
        x_embedder=Linear(of.in_channels, d, True, "embedding"),
        transformer_blocks=Repeat(Indices.below(of.num_layers), both),
        single_transformer_blocks=Repeat(Indices.below(of.num_single_layers), single),
        proj_out=Linear(d, of.patch_size * of.patch_size * of.out_channels, True),
    )
