"""nanochat: norms without weights, an ungated feed-forward network (https://github.com/karpathy/nanochat)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, mlp
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("nanochat",)  # transformers 5.23: modeling_nanochat.py


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False))
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c)))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(self_attn=gqa(d, layer.attention), mlp=mlp(d, layer.dense.width, bias=False))

    return decoder(s, layer_block, norm=block())
