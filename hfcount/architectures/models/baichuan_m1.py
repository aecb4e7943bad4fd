"""Baichuan M1: a short convolution over keys and values, and other heads where a window slides (arXiv:2502.12671)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, fused_qkv, pre_norm, swiglu
from hfcount.mapper import Config, Sizes
from hfcount.spec import GQA, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("baichuan_m1",)  # baichuan_m1.py of ml-explore/mlx-lm 0.32.2


class BaichuanM1(Sizes):
    conv_window: int


def spec(c: Config) -> Spec[BaichuanM1]:
    dense, every = keys.dense(c), Indices.below(keys.layer_count(c))
    near = keys.numbered(c, "sliding_window_layers")
    places = (every.difference(near), near)
    layers = keys.split(
        (places[0], lambda: Layer(mixer=_attention(c, "num_"), ffn=dense)),
        (places[1], lambda: Layer(mixer=_attention(c, "num_swa_"), ffn=dense)),
    )
    if (kernel := c.int("conv_window", default=2)) != 2:
        text = f"conv_window is {kernel:,}, but must be 2."
        raise c.error("out-of-range", text, "conv_window", "Correct it.", observed=int(kernel))
    size = keys.extent(c, "sliding_window")
    windows = () if size is None else keys.within(near, size)
    model = keys.decoder_spec(c, layers, heads=("ForCausalLM",), windows=windows)
    return model.having(BaichuanM1.read(c, conv_window=keys.dim("w_k", kernel)))


def _attention(c: Config, prefix: str) -> GQA:
    """The heads of one kind of layer: where their number is absent or 0 it is that of the other kind."""

    def number(end: str) -> int:
        name = f"{prefix}{end}"
        return c.int(f"num_{end}") if c.int(name, default=None, minimum=0) in (None, 0) else c.int(name)

    heads, shared, d = number("attention_heads"), number("key_value_heads"), c.int("hidden_size")
    keys.grouped(c, heads, shared)
    each = keys.divides(c, f"{prefix}attention_heads", heads, "hidden_size", d)
    # The convolution reads the key and the value of the token before.
    return GQA(heads=heads, kv_heads=shared, head_dim=each, conv_cache=2 * int(shared) * int(each))


def blueprint(s: Spec[BaichuanM1]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a = layer.attention
        kernel = Tensor((1, 1, a.kv_heads, 1, s.own.conv_window))
        out = Linear(a.heads * a.head_dim, d)
        attention = block("attention", W_pack=fused_qkv(d, a), o_proj=out, conv_k=kernel, conv_v=kernel)
        return pre_norm(d, self_attn=attention, mlp=swiglu(d, layer.dense.width))

    return decoder(s, layer_block)
