"""HyperCLOVA X SEED Think: norms in front of attention and feed-forward, and behind them too (arXiv:2506.22403)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, rms_norm, swiglu
from hfcount.mapper import Config
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("hyperclovax",)  # transformers 5.23: modeling_hyperclovax.py


class HyperclovaxLayer(Record):
    use_post_norm: int


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), indivisible="refused")
    ffn = keys.dense(c, bias=c.bool("mlp_bias", default=False))
    behind = c.bool("use_post_norm", default=True)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=ffn, own=HyperclovaxLayer(use_post_norm=int(behind))))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        behind = rms_norm(d) if layer.sizes(HyperclovaxLayer).use_post_norm else None
        return block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, layer.attention),
            post_norm1=behind,
            post_attention_layernorm=rms_norm(d),
            mlp=swiglu(d, layer.dense.width, layer.dense.bias),
            post_norm2=behind,
        )

    return decoder(s, layer_block)
