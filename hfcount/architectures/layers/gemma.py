"""Parts of Gemma 3n and Gemma 4."""

from hfcount.architectures.layers.ffn import stacked
from hfcount.architectures.layers.model import embedding
from hfcount.architectures.layers.norms import rms_norm
from hfcount.spec import GQA, MoE
from hfcount.spec.tree.nodes import Block, Component, Linear, Node, Tensor, block, buffer, obsolete


def lending_attention(d: int, a: GQA, values: bool = True, shares_kv: bool = False) -> Block:
    """Attention with normalised queries and keys, some layers of which reuse keys and values of earlier ones.

    Source: model card of google/gemma-3n-E4B. Tensors: q_proj (h·h_d, d), q_norm (h_d), o_proj (d, h·h_d), k_proj
    (h_kv·h_d, d), k_norm (h_d), and v_proj unless keys also serve as `values`. A layer that `shares_kv` has no k_proj,
    k_norm and v_proj; the released checkpoints store them anyway, and loaders skip them.
    """
    width = a.kv_heads * a.head_dim
    skipped = block(weight=obsolete(width, d))
    own = skipped if shares_kv else Linear(d, width, a.qkv_bias)
    return block(
        "attention",
        q_proj=Linear(d, a.heads * a.head_dim, a.qkv_bias),
        q_norm=rms_norm(a.head_dim),
        k_proj=own,
        v_proj=own if values else None,
        k_norm=block(weight=obsolete(a.head_dim)) if shares_kv else rms_norm(a.head_dim),
        o_proj=Linear(a.heads * a.head_dim, d, a.out_bias),
    )


def per_layer_tables(d: int, depth: int, rows: int, width: int) -> dict[str, Node]:
    """An embedding of every token for every layer, (rows, N·width), and a projection of the usual embedding to it.

    Tensors: embed_tokens_per_layer, per_layer_model_projection (N·width, d), per_layer_projection_norm (width).
    """
    return {
        "embed_tokens_per_layer": embedding(rows, depth * width),
        "per_layer_model_projection": Linear(d, depth * width, component="embedding"),
        "per_layer_projection_norm": rms_norm(width),
    }


def per_layer_input(d: int, width: int) -> dict[str, Node]:
    """Adds a layer's own embedding: a gate (width, d), a projection (d, width) and a norm (d)."""
    return {
        "per_layer_input_gate": Linear(d, width, component="mlp"),
        "per_layer_projection": Linear(width, d, component="mlp"),
        "post_per_layer_input_norm": rms_norm(d),
    }


def experts_beside(d: int, m: MoE) -> dict[str, Node]:
    """Routed experts beside a network for all tokens, with norms of their own (model card of google/gemma-4-26B-A4B).

    Tensors: a router with proj (n, d), scale (d) and per_expert_scale (n); experts with gate_up_proj (n, 2·d_ff, d) and
    down_proj (n, d, d_ff); three norms (d), after the usual network and around the experts.
    """
    norm = rms_norm(d)
    return {
        "router": block("router", proj=Linear(d, m.experts), scale=Tensor((d,)), per_expert_scale=Tensor((m.experts,))),
        "experts": block(gate_up_proj=stacked(m, 2 * m.width, d), down_proj=stacked(m, d, m.width)),
        "post_feedforward_layernorm_1": norm,
        "post_feedforward_layernorm_2": norm,
        "pre_feedforward_layernorm_2": norm,
    }


def soft_embedder(vocab: int, width: int, d: int, component: Component) -> Block:
    """Projects a tower's tokens, or its own vocabulary, to the language model (model card of google/gemma-3n-E4B).

    Tensors: embedding (vocab, width), hard_embedding_norm and soft_embedding_norm (width), embedding_projection (d,
    width).
    """
    return block(
        component,
        embedding=embedding(vocab, width),
        hard_embedding_norm=rms_norm(width),
        soft_embedding_norm=rms_norm(width),
        embedding_projection=Linear(width, d),
    )


def clippable(inputs: int, outputs: int, clipped: bool) -> Block:
    """A projection of Gemma 4's towers. Tensors: linear; if `clipped`, 4 scalar buffers that bound input and output."""
    bound = buffer() if clipped else None
    return block(linear=Linear(inputs, outputs), input_min=bound, input_max=bound, output_min=bound, output_max=bound)
