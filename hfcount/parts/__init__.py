"""The published components of architectures, one function each.

Shapes are in elements, as stored: a projection's weight is (outputs, inputs). Keyword names of a Block are segments of
tensor names. Source of the names: transformers 5.23, models/<model_type>/modeling_<model_type>.py.
"""

# fmt: off
from hfcount.parts.attention import fused_qkv, gqa, inv_freq, mla
from hfcount.parts.ffn import correction_bias, experts, fused_swiglu, mlp, moe, numbered_swiglu, router, stacked, swiglu
from hfcount.parts.layers import altered, chain, network, pre_norm, within
from hfcount.parts.model import base, decoder, embedding, lm_head, stack, with_head
from hfcount.parts.norms import layer_norm, rms_norm
from hfcount.parts.prediction import drafting, predicting, with_draft
from hfcount.parts.sparse import gated_moe, indexer, shared_moe
