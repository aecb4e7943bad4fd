"""Qwen1.5-MoE and Qwen2-57B-A14B: routed experts, and a shared one scaled by a gate (arXiv:2407.10671)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gated_moe, gqa, network, pre_norm
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("qwen2_moe",)  # transformers 5.23: modeling_qwen2_moe.py
MERGED = packed()


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, qkv_bias=c.bool("qkv_bias", default=True))

    def near() -> Indices:
        """Every second layer before max_window_layers, unlike in Qwen2."""
        stop = c.int("max_window_layers", default=28, minimum=0, maximum=MAX_LAYERS)
        return Indices.span(0, min(stop, keys.layer_count(c)), 2)

    windows = keys.sliding(c, near, default=4096) if c.bool("use_sliding_window", default=False) else ()
    return keys.decoder_spec(c, keys.sparse_steps(c, mixer, keys.dense(c), lambda: keys.gated_moe(c)), windows=windows)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=network(d, layer, lambda m: gated_moe(d, m)))

    return decoder(s, layer_block)
