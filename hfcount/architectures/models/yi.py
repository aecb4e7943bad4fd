"""Yi's first release: LLaMA, whose two norms of a layer have names of their own (arXiv:2403.04652)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, rms_norm, swiglu
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("Yi",)  # yi.py of vllm-project/vllm 0.2.7


def spec(c: Config) -> Spec:
    return keys.decoder_spec(c, Layer(mixer=keys.attention(c, derived=True), ffn=keys.dense(c)))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(
            ln1=rms_norm(d), self_attn=gqa(d, layer.attention), ln2=rms_norm(d), mlp=swiglu(d, layer.dense.width)
        )

    return decoder(s, layer_block)
