"""Flint: routed experts behind two dense layers, a shared expert, attention sinks."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, gqa, network, pre_norm, shared_moe
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Tensor

MODEL_TYPES = ("flint",)  # transformers 5.23: modeling_flint.py
SPELLINGS = {r"self_attn\.softmax_offset$": "self_attn.sinks"}
MERGED = packed()


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), qk_norm=True, sinks=True, head_dim=128)

    def near() -> Indices:
        count = keys.layer_count(c)
        return keys.other_than(c, range(min(1, count)), range(1, count, 4), range(count - 1, count))

    layers = keys.sparse_steps(c, mixer, keys.dense(c), lambda: keys.gated_moe(c), only_dense=(0, 1))
    return keys.decoder_spec(c, layers, windows=keys.sliding(c, near, default=513))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a = layer.attention
        return pre_norm(
            d,
            self_attn=altered(gqa(d, a), sinks=None, softmax_offset=Tensor((a.heads,))),
            mlp=network(d, layer, lambda m: shared_moe(d, m, "shared_expert")),
        )

    return decoder(s, layer_block)
