"""Domyn Edge: norms before and behind each branch, queries normed without weights (https://huggingface.co/domyn)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, gqa, rms_norm, swiglu
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("domyn_edge",)  # domyn_edge.py of vllm-project/vllm 0.33
CLASSES = ("DomynEdgeForCausalLM",)
IGNORED = ("position_layers", "window_sizes")


def spec(c: Config) -> Spec:
    layer = Layer(mixer=keys.attention(c, qk_norm=True), ffn=keys.dense(c))
    return keys.decoder_spec(c, layer, heads=("ForCausalLM", "Model")).replace(uncounted=_WINDOWS)


_WINDOWS = "window_sizes gives each layer a window of its own"


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(
            pre_attention_norm=rms_norm(d),
            attention=block("attention", **altered(gqa(d, layer.attention), q_norm=None).children),
            post_attention_norm=rms_norm(d),
            pre_feedforward_norm=rms_norm(d),
            feedforward=block("mlp", **swiglu(d, layer.dense.width).children),
            post_feedforward_norm=rms_norm(d),
        )

    return decoder(s, layer_block)
