"""Voxtral Realtime's language model: Ministral, each layer scaled by the delay in tokens (arXiv:2602.11298)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import altered, base, gqa, pre_norm, swiglu
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("voxtral_realtime_text",)  # transformers 5.23: modeling_voxtral_realtime.py
_RANK = 32  # of the projection of the delay


def spec(c: Config) -> Spec:
    layer, windows = Layer(mixer=keys.attention(c), ffn=keys.dense(c)), keys.sliding_everywhere(c, default=4096)
    return keys.decoder_spec(c, layer, heads=("Model",), windows=windows)


def blueprint(s: Spec) -> Block:
    d = s.hidden
    scale = block("norm", linear1=Linear(d, _RANK), linear2=Linear(_RANK, d))

    def layer(one: Layer) -> Block:
        usual = pre_norm(d, self_attn=gqa(d, one.attention), mlp=swiglu(d, one.dense.width))
        return altered(usual, ada_rms_norm=scale)

    return base(s, layer)
