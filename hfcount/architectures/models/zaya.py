"""ZAYA1: attention in a compressed space after convolutions, a router that is a network (arXiv:2511.17127)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import base, rms_norm, stacked, with_head
from hfcount.architectures.layers.attention import inv_freq
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import GQA, Layer, MoE, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block, buffer

MODEL_TYPES = ("zaya",)  # transformers 5.23: modeling_zaya.py


class Zaya(Sizes):
    router_hidden_size: int = size()
    cca_time0: int = size()
    cca_time1: int = size()
    lm_head_bias: bool = flag(absent=False)


class ZayaLayer(Record):
    """Whether a layer follows another, whose router it also reads."""

    follows: bool


def spec(c: Config) -> Spec[Zaya]:
    bias, width = c.bool("attention_bias", default=False), None if c.is_null("head_dim") else 128
    mixer, ffn = keys.attention(c, bias=bias, head_dim=width), keys.moe(c, "moe_intermediate_size")
    count, sizes = keys.layer_count(c), Zaya.read(c)
    # The inputs of the two convolutions, and half of the values, which are the previous token's.
    inputs, before = mixer.head_dim * (mixer.heads + mixer.kv_heads), sizes.cca_time0 + sizes.cca_time1 - 2
    mixer = mixer.replace(conv_cache=int(inputs) * before + int(mixer.kv_heads * mixer.head_dim) // 2)
    first = (Indices.below(1), lambda: Layer(mixer=mixer, ffn=ffn, own=ZayaLayer(follows=False)))
    rest = (Indices.span(1, count), lambda: Layer(mixer=mixer, ffn=ffn, own=ZayaLayer(follows=True)))
    windows = keys.sliding(c, kind="hybrid_sliding")
    return keys.decoder_spec(c, keys.split(first, rest), tied=True, windows=windows).having(sizes)


def blueprint(s: Spec[Zaya]) -> Block:
    d, r = s.hidden, s.own.router_hidden_size

    def router(m: MoE, follows: bool) -> Block:
        square = Linear(r, r, True)
        return block(
            "router",
            down_proj=Linear(d, r, True),
            router_states_scale=Tensor((r,)) if follows else None,
            router_mlp=block(norm=rms_norm(r), fc1=square, fc2=square, out_proj=Linear(r, m.experts + 1)),
            balancing_biases=buffer(m.experts + 1),
        )

    def layer_block(layer: Layer) -> Block:
        m = layer.moe
        names = ("hidden_states_scale", "hidden_states_bias", "residual_scale", "residual_bias")
        scaling = Block({name: Tensor((d,)) for name in names}, "norm")
        return block(
            input_layernorm=rms_norm(d),
            self_attn=_cca(d, layer.attention, s.own.cca_time0, s.own.cca_time1),
            post_attention_layernorm=rms_norm(d),
            mlp=block(
                gate=router(m, layer.sizes(ZayaLayer).follows),
                experts=block("experts", gate_up_proj=stacked(m, 2 * m.width, d), down_proj=stacked(m, d, m.width)),
            ),
            post_attention_residual_scale=scaling,
            post_mlp_residual_scale=scaling,
        )

    scale = Tensor((d,), component="norm")
    scaled = {"input_hidden_states_scale": scale, "input_hidden_states_bias": scale}
    body = Block({**scaled, **base(s, layer_block).children})
    return with_head(s, body, bias=s.own.lm_head_bias)


def _cca(d: int, a: GQA, alone: int, together: int) -> Block:
    """Compressed convolutional attention (arXiv:2510.04476).

    Tensors under qkv_proj: q_proj (h·h_d, d), k_proj (h_kv·h_d, d), v_proj_current and v_proj_delayed, each half of
    the values; conv_qk_depthwise weight (h·h_d + h_kv·h_d, 1, `alone`) and conv_qk_grouped weight (the same, h_d,
    `together`), with biases. Next to it qk_norm.temp (h_kv) and o_proj (d, h·h_d).
    """
    query, kept = a.heads * a.head_dim, a.kv_heads * a.head_dim
    channels = query + kept
    projections = block(
        q_proj=Linear(d, query, a.qkv_bias),
        k_proj=Linear(d, kept, a.qkv_bias),
        v_proj_current=Linear(d, kept // 2, a.qkv_bias),
        v_proj_delayed=Linear(d, kept // 2, a.qkv_bias),
        conv_qk_depthwise=block(weight=Tensor((channels, 1, alone)), bias=Tensor((channels,))),
        conv_qk_grouped=block(weight=Tensor((channels, a.head_dim, together)), bias=Tensor((channels,))),
    )
    return block(
        "attention",
        qkv_proj=projections,
        qk_norm=block(temp=Tensor((a.kv_heads,))),
        o_proj=Linear(query, d, a.out_bias),
        rotary_emb=inv_freq(a.head_dim),
    )
