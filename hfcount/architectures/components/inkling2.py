"""Inkling 2: the language model of both its versions, and the names of their release."""

from collections.abc import Callable, Mapping

from hfcount.architectures import families, keys
from hfcount.architectures.components.inkling import INKLING_ATTENTION, Inkling, Reach, projections, spread
from hfcount.architectures.layers import altered, correction_bias, embedding, rms_norm, stack, stacked
from hfcount.architectures.layers.composite import towers_beside_model
from hfcount.mapper import Config
from hfcount.spec import GQA, Layer, MoE, Spec
from hfcount.spec.tree.indices import Indices, intersection
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block

IGNORED_TEXT = (
    "log_scaling_n_floor",
    "n_layers_per_attn_res_block",
    "number_of_conv_states",
    "unpadded_vocab_size",
)
"""Keys of the language model that bear on no shape."""

RELEASED_TEXT = {
    r"^model\.llm\.unembed\.": "lm_head.",
    r"^model\.llm\.": "model.",
    r"\bembed_norm\.": "embed_tokens.embed_norm.",
    r"\bembed\.weight$": "embed_tokens.weight",
    **INKLING_ATTENTION,
    r"\battn_sconv\.": "post_attention_convolution.",
    r"\bmlp_sconv\.": "post_mlp_convolution.",
    r"_sconv\.static_w$": "_sconv.static_weight",
    r"_sconv\.weight_proj$": "_sconv.weight_proj.weight",
    r"(convolution|sconv)\.weight$": r"\1.conv1d.weight",
    r"\b([qkv])_input_norm\.": r"\1_input_layernorm.",
    r"\battn_res\.mlp_queries\.(\d+)$": r"layers.\1.mlp_input.query",
    r"\battn_res\.output_query$": "final_input.query",
}
"""Inkling 2's names in its release, alone."""

RELEASED = {
    r"^model\.llm\.unembed\.": "lm_head.",
    r"^model\.llm\.": "model.language_model.",
    r"^model\.visual\.": "model.vision_tower.",
    r"\bvision_tower\.backbone\.": "vision_tower.",
    r"\bvision_tower\.proj_in\.": "vision_tower.merger.linear_1.",
    r"\bvision_tower\.proj_out\.": "vision_tower.merger.linear_2.",
    r"\bembeddings\.position_embedding$": "embeddings.position_embedding.weight",
    r"\bln_pre\.": "pre_layernorm.",
    r"\bln_1\.": "layernorm_before.",
    r"\bln_2\.": "layernorm_after.",
    r"\bls_([12])\.gamma$": r"lambda_\1",
    r"\bmlp\.c_fc\.": "mlp.fc1.",
    r"\bmlp\.c_proj\.": "mlp.fc2.",
}
"""The same with its tower."""


def whole_spec(c: Config) -> Spec:
    """The model with its tower."""
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config", "inkling2_vision")}
    model = keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model"))
    return model.replace(tied=False)  # the head is its own, whatever the config says


def whole(s: Spec) -> Block:
    """The model with its tower, under the names of the release beside a head."""
    vision, body = families.tower(s, "vision"), families.base(s)
    if s.head == "base":
        return towers_beside_model(s, body, vision_tower=vision)
    head = Linear(s.hidden, s.vocab, component="lm_head")
    return block(model=block(llm=Block({**body.children, "unembed": head}), visual=vision))


def inkling2_spec(c: Config) -> Spec[Inkling]:
    """Inkling 2's language model: each part of a layer reads earlier blocks of layers."""
    kernel, hidden = c.int("conv_kernel_size", "sconv_kernel_size"), c.int("hidden_size")

    def attention(prefix: str) -> GQA:
        mixer = keys.prefixed_attention(c, prefix).replace(qk_norm=False)
        # Convolutions over keys and values, and over what attention and the network give.
        return mixer.replace(conv_cache=int(2 * mixer.kv_heads * mixer.head_dim + 2 * hidden) * (kernel - 1))

    ffn, count = keys.moe(c, "moe_intermediate_size", experts=("n_routed_experts",)), keys.layer_count(c)
    full = Layer(mixer=attention(""), ffn=ffn, own=Reach(extent=c.int("rel_extent"), full=True))
    local = Layer(mixer=attention("swa_"), ffn=ffn, own=Reach(extent=c.int("sliding_window_size"), full=False))
    places = Indices.span(5, max(5, count), 6)
    layers = keys.of_two(c, {"hybrid": full, "hybrid_sliding": local}, lambda: places)
    windows = keys.sliding(c, lambda: keys.other_than(c, places), key="sliding_window_size", kind="hybrid_sliding")
    sizes, heads = Inkling.read(c, conv_kernel_size=kernel), ("ForCausalLM", "Model")
    return keys.decoder_spec(c, layers, heads=heads, windows=windows).replace(tied=False).having(sizes)


def headed(s: Spec[Inkling], body: Block) -> Block:
    """The language model with its head, under the names of its release."""
    if s.head == "base":
        return body
    head = Linear(s.hidden, s.vocab, component="lm_head")
    return block(model=block(llm=Block({**body.children, "unembed": head})))


def text_body(s: Spec[Inkling], further: Callable[[Layer], Mapping[str, Node]] | None = None) -> Block:
    """The language model without its head; `further` are what else a layer has."""
    d, kernel, query = s.hidden, s.own.conv_kernel_size, Tensor((s.hidden,))

    def experts(m: MoE) -> Block:
        packed = block(w13_weight=stacked(m, 2 * m.width, d), w2_weight=stacked(m, d, m.width))
        return block(gate=block("router", weight=Tensor((m.experts, d)), bias=correction_bias(m)), experts=packed)

    def layer_block(layer: Layer) -> Block:
        norm, full = rms_norm(d), layer.sizes(Reach).full
        before = [f"{name}_input_norm" for name in "qkv"] if full else ["attn_norm"]
        named = block(
            attn=_attention(d, layer, s.own),
            attn_sconv=spread(d, kernel),
            mlp_norm=norm,
            mlp=experts(layer.moe),
            mlp_sconv=spread(d, kernel),
        )
        more = further(layer) if further else {}
        return Block({**dict.fromkeys(before, norm), **named.children, **more}, repeats=layer.repeats)

    queries = block(
        "other",
        attn_queries=_earlier(s),
        mlp_queries=Repeat(Indices.below(s.depth), query),
        output_query=query,
    )
    table, norm = embedding(s.vocab, d), rms_norm(d)
    return block(embed=table, embed_norm=norm, layers=stack(s.layers, layer_block), norm=norm, attn_res=queries)


def _attention(d: int, layer: Layer, of: Inkling) -> Block:
    """Gated attention, with a sink and limits that each head has learnt; if full, tokens give its convolutions."""
    a, rel, kernel, reach = layer.attention, of.d_rel, of.conv_kernel_size, layer.sizes(Reach)
    width = a.kv_heads * a.head_dim
    convolution = spread(width, kernel)
    if reach.full:
        convolution = block(static_w=Tensor((kernel, width)), weight_proj=Tensor((a.kv_heads * kernel, d)))
    return altered(
        projections(d, a, rel),
        gate_attn=Linear(d, a.heads * a.head_dim),
        attn_sink_proj=Linear(d, a.heads),
        k_sconv=convolution,
        v_sconv=convolution,
        q_l2_clip=block(scale=Tensor((a.heads, a.head_dim))),
        rel_l2_clip=block(scale=Tensor((a.heads, rel))),
        rel_logits_proj=Block({"proj": Tensor((rel, reach.extent))}, repeats=a.heads),
    )


def _earlier(s: Spec[Inkling]) -> tuple[Node, ...]:
    """What attention asks earlier blocks of layers, by the number of the layer before: (d), or (3, d) if it is full."""
    children: list[Node] = []
    for part in s.layers:
        later = intersection(part.indices, Indices.of(range(1, max(1, int(s.depth)))))
        shape = (3, s.hidden) if part.layer.sizes(Reach).full else (s.hidden,)
        children.append(Repeat(later.shifted(-1).replace(count=int(later.count)), Tensor(shape)))  # none are of a layer
    return tuple(children)
