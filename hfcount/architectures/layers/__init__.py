"""Building blocks of architectures: a function with `c` reads config keys, the others build tensors.

Shapes are in elements, as stored: a projection's weight is (outputs, inputs). Keyword names of a Block are segments of
tensor names. Source of the names: transformers 5.23, models/<model_type>/modeling_<model_type>.py.
"""

from hfcount.architectures.layers.attention import fused_qkv, gqa, indexer, inv_freq, mla
from hfcount.architectures.layers.ffn import (
    correction_bias,
    experts,
    fused_swiglu,
    gated_moe,
    mlp,
    moe,
    network,
    numbered_swiglu,
    router,
    shared_moe,
    stacked,
    swiglu,
)
from hfcount.architectures.layers.model import base, decoder, embedding, lm_head, with_head
from hfcount.architectures.layers.norms import layer_norm, rms_norm
from hfcount.architectures.layers.prediction import drafting, predicting, with_draft
from hfcount.architectures.layers.stacks import altered, chain, pre_norm, stack, within
