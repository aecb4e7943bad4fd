"""The published components that architectures are built of, one function each.

Shapes are in elements, as stored: a projection's weight is (outputs, inputs). Keyword names of a Block are segments of
tensor names. Source of the names: transformers 5.23, models/<model_type>/modeling_<model_type>.py.
"""

from hfcount.parts.attention import fused_qkv, gqa, inv_freq, mla
from hfcount.parts.ffn import correction_bias, experts, fused_swiglu, mlp, moe, router, stacked, swiglu
from hfcount.parts.layers import altered, network, pre_norm
from hfcount.parts.model import base, decoder, embedding, lm_head, stack, with_head
from hfcount.parts.norms import layer_norm, rms_norm
from hfcount.parts.prediction import predicting
from hfcount.parts.sparse import indexer, shared_moe

__all__ = [
    "altered",
    "base",
    "correction_bias",
    "decoder",
    "embedding",
    "experts",
    "fused_qkv",
    "fused_swiglu",
    "gqa",
    "indexer",
    "inv_freq",
    "layer_norm",
    "lm_head",
    "mla",
    "mlp",
    "moe",
    "network",
    "pre_norm",
    "predicting",
    "rms_norm",
    "router",
    "shared_moe",
    "stack",
    "stacked",
    "swiglu",
    "with_head",
]
