<<<<<<< HEAD
"""Voxtral Realtime's language model: Mistral, with a norm that the delay adapts (model card)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import base, gqa, pre_norm, swiglu
=======
"""Voxtral Realtime's language model: Ministral, each layer scaled by the delay in tokens (arXiv:2602.11298)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import altered, base, gqa, pre_norm, swiglu
>>>>>>> main
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("voxtral_realtime_text",)  # transformers 5.23: modeling_voxtral_realtime.py
<<<<<<< HEAD

_RANK = 32  # of the network that adapts the norm


def spec(c: Config) -> Spec:
    layer, windows = Layer(mixer=keys.attention(c), ffn=keys.dense(c)), keys.sliding_everywhere(c)
=======
_RANK = 32  # of the projection of the delay


def spec(c: Config) -> Spec:
    layer, windows = Layer(mixer=keys.attention(c), ffn=keys.dense(c)), keys.sliding_everywhere(c, default=4096)
>>>>>>> main
    return keys.decoder_spec(c, layer, heads=("Model",), windows=windows)


def blueprint(s: Spec) -> Block:
    d = s.hidden
<<<<<<< HEAD
    adapted = block("norm", linear1=Linear(d, _RANK), linear2=Linear(_RANK, d))

    def layer(one: Layer) -> Block:
        usual = pre_norm(d, self_attn=gqa(d, one.attention), mlp=swiglu(d, one.dense.width))
        return Block({**usual.children, "ada_rms_norm": adapted})
=======
    scale = block("norm", linear1=Linear(d, _RANK), linear2=Linear(_RANK, d))

    def layer(one: Layer) -> Block:
        usual = pre_norm(d, self_attn=gqa(d, one.attention), mlp=swiglu(d, one.dense.width))
        return altered(usual, ada_rms_norm=scale)
>>>>>>> main

    return base(s, layer)
