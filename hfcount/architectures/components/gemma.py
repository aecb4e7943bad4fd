"""Gemma 3n and Gemma 4: the kinds of their layers, and their tensors."""

from collections.abc import Sequence

from hfcount.architectures.layers.attention import attention
from hfcount.architectures.layers.ffn import stacked
from hfcount.architectures.layers.model import embedding
from hfcount.architectures.layers.norms import rms_norm
from hfcount.architectures.layers.sizes import layer_count
from hfcount.architectures.layers.stacks import by_kind, listing
from hfcount.mapper import Config
from hfcount.mapper.per_layer_config import overrides
from hfcount.spec import GQA, FeedForward, Layer, Layers, MoE, Record
from hfcount.spec.tree.indices import Indices, intersection
from hfcount.spec.tree.nodes import Block, Component, Linear, Node, Tensor, block, buffer, obsolete


class _Reach(Record):
    """Whether attention has a sliding window."""

    local: bool


def local_and_global(c: Config, period: int) -> list[tuple[Indices, bool]]:
    """Sets of layers, and whether their attention has a sliding window; the last layer's never has.

    Without layer_types every `period`-th layer has full attention. Source: transformers 5.23, configuration_gemma4.py,
    Gemma4TextConfig.
    """
    count, given = layer_count(c), c.strs("layer_types")
    if given:
        known = {"full_attention": Layer(own=_Reach(local=False)), "sliding_attention": Layer(own=_Reach(local=True))}
        placed = by_kind(c, known, [*given[:-1], "full_attention"], otherwise="full_attention")
        return [(part.indices, part.layer.sizes(_Reach).local) for part in placed]
    full = Indices.span(period - 1, count, period)
    last = Indices.of(() if count - 1 in full else (count - 1,))
    return [(Indices.below(count).difference(full, last), True), (full, False), (last, False)]


def attention_by_place(
    c: Config, places: Sequence[tuple[Indices, bool]], bias: bool, same: bool, kv_heads: int | None = None
) -> list[tuple[Indices, bool, GQA]]:
    """Sets of layers, whether their attention has a sliding window, and that attention.

    Layers without a window have different heads: by global_head_dim and num_global_key_value_heads, or by
    per_layer_config, which replaces both for any layer.

    Args:
        places: from `local_and_global`.
        bias: whether the projections have a bias.
        same: whether values are keys in layers without a window.
        kv_heads: the default of num_global_key_value_heads, if it is not num_key_value_heads.
    """

    def read(config: Config) -> GQA:
        return attention(config, bias=bias, qk_norm=True, head_dim=256)

    if not c.has("per_layer_config"):
        near = read(c)
        heads = (
            c.int("num_global_key_value_heads", default=kv_heads or near.kv_heads)
            if same or kv_heads
            else near.kv_heads
        )
        far = near.replace(head_dim=c.int("global_head_dim", default=512), kv_heads=heads)
        return [(indices, local, near if local else far) for indices, local in places]
    count = layer_count(c)
    overridden = [
        (Indices.of(some), config) for some, config in overrides(c, ("head_dim", "num_key_value_heads"), count)
    ]
    rest = Indices.below(count).difference(*(part for part, _ in overridden))
    return [
        (both, local, read(config))
        for indices, local in places
        for part, config in ((rest, c), *overridden)
        if (both := intersection(indices, part)).count
    ]


def shares_kv(c: Config, layers: Sequence[Layers], default: int, ffn: FeedForward | None = None) -> list[Layers]:
    """The layers, of which the last num_kv_shared_layers reuse keys and values of earlier layers.

    Args:
        default: the default of num_kv_shared_layers.
        ffn: the feed-forward network of the layers that reuse them, if it differs.
    """
    count, shared = layer_count(c), c.int("num_kv_shared_layers", default=default, minimum=0)
    sharing = Indices.span(count - min(count, shared), count)
    result = []
    for part in layers:
        layer, late = part.layer, intersection(part.indices, sharing)
        result += [(part.indices.difference(late), layer), (late, layer.replace(ffn=ffn or layer.ffn, shares_kv=True))]
    return [Layers(indices=indices, layer=layer) for indices, layer in result if indices.count]


def network_widths(c: Config) -> list[tuple[int, Indices]]:
    """Widths of feed-forward networks, each with its layers; intermediate_size is one number or a list per layer."""
    given = c.ints("intermediate_size", alone=True) or [c.int("intermediate_size")]
    for width in given:
        if width < 1:
            text = f"intermediate_size names {width:,}, but must name widths of 1 and more."
            raise c.error("out-of-range", text, "intermediate_size", observed=int(width))
    if len(given) == 1:
        return [(given[0], Indices.below(layer_count(c)))]
    widths = list(dict.fromkeys(given))
    return list(zip(widths, listing(c, "intermediate_size", given, *widths), strict=True))


def lending_attention(d: int, a: GQA, values: bool = True, shares_kv: bool = False) -> Block:
    """Attention with normalised queries and keys, some layers of which reuse keys and values of earlier ones.

    Source: model card of google/gemma-3n-E4B. Tensors: q_proj (h·h_d, d), q_norm (h_d), o_proj (d, h·h_d), k_proj
    (h_kv·h_d, d), k_norm (h_d), and v_proj unless keys also serve as `values`. A layer that `shares_kv` has no k_proj,
    k_norm and v_proj; the released checkpoints store them anyway, and transformers skips them.
    """
    width = a.kv_heads * a.head_dim
    skipped = block(weight=obsolete(width, d))
    key = skipped if shares_kv else Linear(d, width, a.qkv_bias)
    return block(
        "attention",
        q_proj=Linear(d, a.heads * a.head_dim, a.qkv_bias),
        q_norm=rms_norm(a.head_dim),
        k_proj=key,
        v_proj=key if values else None,
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
