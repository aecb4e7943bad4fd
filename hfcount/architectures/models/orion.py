"""Orion: LLaMA with layer norms (arXiv:2401.12246)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, layer_norm, pre_norm, swiglu
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("orion",)  # orion.py of vllm-project/vllm 0.33.0
IGNORED = ("max_sequence_length",)


def spec(c: Config) -> Spec:
    return keys.decoder_spec(c, Layer(mixer=keys.attention(c, alone=True, derived=True), ffn=keys.dense(c)))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, layer_norm, self_attn=gqa(d, layer.attention), mlp=swiglu(d, layer.dense.width))

    return decoder(s, layer_block, norm=layer_norm(d))
