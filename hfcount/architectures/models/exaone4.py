"""EXAONE 4: norms behind attention and feed-forward, queries and keys normalised per head (arXiv:2507.11407)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, rms_norm, swiglu
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("exaone4",)  # transformers 5.23: modeling_exaone4.py


def spec(c: Config) -> Spec:
    windows = keys.sliding(c, lambda: keys.patterned(c), default=4096)
    return keys.decoder_spec(c, Layer(mixer=keys.attention(c, qk_norm=True), ffn=keys.dense(c)), windows=windows)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(
            self_attn=gqa(d, layer.attention),
            post_attention_layernorm=rms_norm(d),
            mlp=swiglu(d, layer.dense.width),
            post_feedforward_layernorm=rms_norm(d),
        )

    return decoder(s, layer_block, question_answering="transformer")
