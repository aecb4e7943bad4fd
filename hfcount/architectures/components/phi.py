"""The layer of Phi-3 and of those made of it (arXiv:2404.14219)."""

from hfcount.architectures.layers import fused_qkv, fused_swiglu, inv_freq, pre_norm
from hfcount.spec import Layer
from hfcount.spec.tree.nodes import Block, Linear, block


def phi3_layer(d: int, layer: Layer) -> Block:
    """Queries, keys and values in one projection, gate and up in another; tables of positions of older checkpoints."""
    a = layer.attention
    attention = block(
        "attention",
        qkv_proj=fused_qkv(d, a),
        o_proj=Linear(a.heads * a.head_dim, d),
        rotary_emb=inv_freq(a.head_dim),
    )
    return pre_norm(d, self_attn=attention, mlp=fused_swiglu(d, layer.dense.width))
