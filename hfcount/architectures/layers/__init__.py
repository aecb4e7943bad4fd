"""The published components of architectures, one function each.

Shapes are in elements, as stored: a projection's weight is (outputs, inputs). Keyword names of a Block are segments of
tensor names. Source of the names: transformers 5.23, models/<model_type>/modeling_<model_type>.py.
"""

# fmt: off
from hfcount.architectures.layers.attention import fused_qkv, gqa, inv_freq, mla
from hfcount.architectures.layers.ffn import (
    correction_bias,
    experts,
    fused_swiglu,
    mlp,
    moe,
    numbered_swiglu,
    router,
    stacked,
    swiglu,
)
from hfcount.architectures.layers.layers import altered, chain, network, pre_norm, within
from hfcount.architectures.layers.model import base, decoder, embedding, lm_head, stack, with_head
from hfcount.architectures.layers.norms import layer_norm, rms_norm
from hfcount.architectures.layers.prediction import drafting, predicting, with_draft
from hfcount.architectures.layers.sparse import gated_moe, indexer, shared_moe
