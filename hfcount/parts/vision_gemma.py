"""Gemma's own vision tower, and the projections that its towers share."""

from hfcount.parts.norms import rms_norm
from hfcount.parts.vision import tower
from hfcount.spec import GQA, Vision
from hfcount.tree.nodes import Block, Linear, Tensor, block, buffer


def gemma4_vision(v: Vision, heads: int, kv_heads: int, head_dim: int, clipped: int, standardised: int) -> Block:
    """Gemma 4's tower (model card of google/gemma-4-31B-it): positions of rows and of columns, Gemma's layers.

    Tensors: a patch projection (d_v, 3·height·width), a table (2, n_v, d_v), and layers with four norms, normalised
    queries and keys, and gated networks. Every projection is a `linear`, beside which `clipped` puts four bounds,
    scalar buffers; `standardised` adds std_bias and std_scale (d_v), buffers too.
    """
    a = GQA(heads=heads, kv_heads=kv_heads, head_dim=head_dim)
    d, query, keys = v.hidden, a.heads * a.head_dim, a.kv_heads * a.head_dim
    norm = rms_norm(d)
    attention = block(
        q_proj=clippable(d, query, clipped),
        k_proj=clippable(d, keys, clipped),
        v_proj=clippable(d, keys, clipped),
        o_proj=clippable(query, d, clipped),
        q_norm=rms_norm(a.head_dim),
        k_norm=rms_norm(a.head_dim),
    )
    network = block(
        gate_proj=clippable(d, v.width, clipped),
        up_proj=clippable(d, v.width, clipped),
        down_proj=clippable(v.width, d, clipped),
    )
    layer = block(
        self_attn=attention,
        mlp=network,
        input_layernorm=norm,
        post_attention_layernorm=norm,
        pre_feedforward_layernorm=norm,
        post_feedforward_layernorm=norm,
    )
    scale = buffer(d) if standardised else None
    return block(
        "vision",
        patch_embedder=block(
            input_proj=Linear(v.channels * v.patch[0] * v.patch[1], d),
            position_embedding_table=Tensor((2, v.positions or 0, d)),
        ),
        encoder=block(layers=tower(v, layer)),
        std_bias=scale,
        std_scale=scale,
    )


def clippable(inputs: int, outputs: int, clipped: int) -> Block:
    """A projection that may bound what goes in and what comes out. Tensors: linear, and four scalar buffers."""
    bound = buffer() if clipped else None
    return block(linear=Linear(inputs, outputs), input_min=bound, input_max=bound, output_min=bound, output_max=bound)
