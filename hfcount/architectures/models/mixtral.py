"""Mixtral: Mistral with routed experts in every layer (arXiv:2401.04088)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, moe, numbered_swiglu, pre_norm
from hfcount.architectures.layers.conversions import BLOCK_SPARSE, W_EXPERTS
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("mixtral",)  # transformers 5.23: modeling_mixtral.py
CLASSES = ("QuantMixtralForCausalLM",)
SPELLINGS, MERGED = BLOCK_SPARSE, W_EXPERTS


def spec(c: Config) -> Spec:
    layer = Layer(mixer=keys.attention(c), ffn=keys.moe(c, "intermediate_size"))
    return keys.decoder_spec(c, layer, windows=keys.sliding_everywhere(c))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        expert = numbered_swiglu(d, layer.moe.width, "experts")
        return pre_norm(d, self_attn=gqa(d, layer.attention), block_sparse_moe=moe(d, layer.moe, expert))

    return decoder(s, layer_block)
