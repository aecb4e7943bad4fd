"""VaultGemma: Gemma 2 without the norms behind attention and feed-forward (arXiv:2510.15001)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, rms_norm, swiglu
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("vaultgemma",)  # transformers 5.23: modeling_vaultgemma.py


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), head_dim=256)
    windows = keys.sliding(c, lambda: keys.all_but_every_nth(c, 2), default=4096)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c)), tied=True, windows=windows)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, layer.attention),
            pre_feedforward_layernorm=rms_norm(d),
            mlp=swiglu(d, layer.dense.width),
        )

    return decoder(s, layer_block)
