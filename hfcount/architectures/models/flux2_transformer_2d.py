"""FLUX.2: a transformer that denoises images, with blocks of two streams and then of one, modulated alike."""

from hfcount.architectures import keys
from hfcount.architectures.layers import diffusion, rms_norm
from hfcount.architectures.layers.diffusion.transformers import joint_attention, modulated
from hfcount.mapper import Config, Sizes, count, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("Flux2Transformer2DModel",)  # diffusers 0.42.1: transformer_flux2.py


class Flux2(Sizes):
    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    in_channels: int = size("C")
    joint_attention_dim: int = size("d_t")
    timestep_guidance_channels: int = size("d_s")
    patch_size: int = size("p")
    num_layers: int = count("N_d")
    num_single_layers: int = count("N_s")
    guidance_embeds: bool = flag()
    out_channels: int
    width: int


def spec(c: Config) -> Spec[Flux2]:
    d = c.int("num_attention_heads") * c.int("attention_head_dim")
    out = diffusion.or_else(c, "out_channels", c.int("in_channels"), "C_o")
    sizes = Flux2.read(c, out_channels=out, width=keys.dim("d_ff", c.times("mlp_ratio", d)))
    return diffusion.diffusing(c, sizes, sizes.num_attention_heads * sizes.attention_head_dim)


def blueprint(s: Spec[Flux2]) -> Block:
    d, of = s.hidden, s.own
    norm, width = rms_norm(of.attention_head_dim), of.width
    network = block("mlp", linear_in=Linear(d, 2 * width), linear_out=Linear(width, d))
    both = block(attn=joint_attention(d, norm, bias=False), ff=network, ff_context=network)
    inner = block("attention", to_qkv_mlp_proj=Linear(d, 3 * d + 2 * width), norm_q=norm, norm_k=norm)
    single = block(attn=Block({**inner.children, "to_out": Linear(d + width, d)}, "attention"))
    step = block("embedding", linear_1=Linear(of.timestep_guidance_channels, d), linear_2=Linear(d, d))
    return block(
        time_guidance_embed=block(timestep_embedder=step, guidance_embedder=step if of.guidance_embeds else None),
        double_stream_modulation_img=modulated(d, 6 * d, False),
        double_stream_modulation_txt=modulated(d, 6 * d, False),
        single_stream_modulation=modulated(d, 3 * d, False),
        x_embedder=Linear(of.in_channels, d, component="embedding"),
        context_embedder=Linear(of.joint_attention_dim, d, component="embedding"),
        transformer_blocks=Repeat(Indices.below(of.num_layers), both),
        single_transformer_blocks=Repeat(Indices.below(of.num_single_layers), single),
        norm_out=modulated(d, 2 * d, False),
        proj_out=Linear(d, of.patch_size * of.patch_size * of.out_channels),
    )
