"""Stable Audio: a transformer that denoises sound by a text and its length (arXiv:2407.14358)."""

from hfcount.architectures.layers import diffusion, layer_norm
from hfcount.architectures.layers.diffusion.layers import feed_forward
from hfcount.architectures.layers.diffusion.transformers import normed_attention
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("StableAudioDiTModel",)  # diffusers 0.42.1: stable_audio_transformer.py


class StableAudio(Sizes):
    num_attention_heads: int = size("h")
    num_key_value_attention_heads: int = size("h_kv")
    attention_head_dim: int = size("h_d")
    in_channels: int = size("C")
    out_channels: int = size("C_o")
    cross_attention_dim: int = size("d_c")
    cross_attention_input_dim: int = size("d_t")
    time_proj_dim: int = size("d_s")
    global_states_input_dim: int = size("d_g")
    num_layers: int = count("L")


def spec(c: Config) -> Spec[StableAudio]:
    sizes = StableAudio.read(c)
    return diffusion.diffusing(c, sizes, sizes.num_attention_heads * sizes.attention_head_dim)


def blueprint(s: Spec[StableAudio]) -> Block:
    d, of, source = s.hidden, s.own, s.own.cross_attention_dim
    out, sizes = Block({"0": Linear(d, d)}), Linear(source, of.num_key_value_attention_heads * of.attention_head_dim)
    layer = block(
        norm1=layer_norm(d),
        attn1=normed_attention(d, d, bias=False, to_out=out),
        norm2=layer_norm(d),
        attn2=normed_attention(d, d, source, False, to_k=sizes, to_v=sizes, to_out=out),
        norm3=layer_norm(d),
        ff=feed_forward(d, 4 * d, gated=True),
    )
    waves = Tensor((of.time_proj_dim // 2,), component="embedding")
    return block(
        time_proj=block(weight=waves),
        timestep_proj=_projection(of.time_proj_dim, d, True),
        global_proj=_projection(of.global_states_input_dim, d, False),
        cross_attention_proj=_projection(of.cross_attention_input_dim, source, False),
        preprocess_conv=_mixing(of.in_channels),
        proj_in=Linear(of.in_channels, d, component="embedding"),
        transformer_blocks=Repeat(Indices.below(of.num_layers), layer),
        proj_out=Linear(d, of.out_channels),
        postprocess_conv=_mixing(of.out_channels),
    )


def _projection(inputs: int, d: int, bias: bool) -> Block:
    return Block({"0": Linear(inputs, d, bias), "2": Linear(d, d, bias)}, "embedding")


def _mixing(channels: int) -> Block:
    return block("convolution", weight=Tensor((channels, channels, 1)))
