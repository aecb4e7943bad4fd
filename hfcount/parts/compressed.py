"""Attention in a space narrower than the model."""

from hfcount.parts.attention import inv_freq
from hfcount.spec import GQA
from hfcount.tree.nodes import Block, Linear, Tensor, block


def cca(d: int, a: GQA, alone: int, together: int) -> Block:
    """Compressed convolutional attention (arXiv:2510.04476).

    Tensors under qkv_proj: q_proj (h·h_d, d), k_proj (h_kv·h_d, d), v_proj_current and v_proj_delayed, each half of
    the values; conv_qk_depthwise weight (h·h_d + h_kv·h_d, 1, `alone`) and conv_qk_grouped weight (the same, h_d,
    `together`), with biases. Beside it qk_norm.temp (h_kv) and o_proj (d, h·h_d).
    """
    query, keys = a.heads * a.head_dim, a.kv_heads * a.head_dim
    channels = query + keys
    projections = block(
        q_proj=Linear(d, query, a.qkv_bias),
        k_proj=Linear(d, keys, a.qkv_bias),
        v_proj_current=Linear(d, keys // 2, a.qkv_bias),
        v_proj_delayed=Linear(d, keys // 2, a.qkv_bias),
        conv_qk_depthwise=block(weight=Tensor((channels, 1, alone)), bias=Tensor((channels,))),
        conv_qk_grouped=block(weight=Tensor((channels, a.head_dim, together)), bias=Tensor((channels,))),
    )
    return block(
        "attention",
        qkv_proj=projections,
        qk_norm=block(temp=Tensor((a.kv_heads,))),
        o_proj=Linear(query, d, a.out_bias),
        rotary_emb=inv_freq(a.head_dim),
    )
