"""Granite with sliding windows and attention sinks (https://huggingface.co/ibm-granite)."""

from hfcount.architectures import keys
from hfcount.architectures.models.mistral import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

MODEL_TYPES = ("granite_swa",)  # transformers 5.23: modeling_granite_swa.py


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), sinks=True)
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False)))
    return keys.decoder_spec(
        c, layer, tied=True, windows=keys.sliding(c, lambda: keys.all_but_every_nth(c, 4, first=0), default=128)
    )
