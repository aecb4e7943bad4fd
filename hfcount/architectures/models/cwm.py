"""Code World Model: LLaMA with a sliding window in most layers (arXiv:2510.02387)."""

from hfcount.architectures import keys
from hfcount.architectures.models.mistral import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

MODEL_TYPES = ("cwm",)  # transformers 5.23: modeling_cwm.py


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, head_dim=128, indivisible="refused")
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False)))
    return keys.decoder_spec(
        c, layer, windows=keys.sliding(c, lambda: keys.all_but_every_nth(c, 4, first=0), default=8192)
    )
