"""MiniMax-M3's language model: balanced experts with a shared one, and blocks of tokens chosen by an indexer."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import altered, correction_bias, decoder, fused_swiglu, gqa, moe, numbered_swiglu, pre_norm, rms_norm
from hfcount.parts.ffn import router, stacked, swiglu
from hfcount.spec import Dense, Layer, Layers, MoE, Record, Spec
from hfcount.tree.nodes import Block, Linear, Node, block

MODEL_TYPES = ("minimax_m3_vl_text",)  # transformers 5.23: modeling_minimax_m3_vl.py
IGNORED = ("rotary_dim", "index_block_size", "index_local_blocks", "index_topk_blocks", "sparse_attention_config")

_INDEXED = "its sparse layers also keep the keys of an indexer, and read only the blocks that it chooses"


class Indexer(Record):
    """What chooses the blocks of tokens that a layer reads: its heads, each so many elements wide."""

    heads: int
    width: int


def spec(c: Config) -> Spec:
    layers = _layers(c)
    indexed = any(part.layer.own for part in layers)
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model"), uncounted=_INDEXED if indexed else "")


def _layers(c: Config) -> list[Layers]:
    """The layers, of which some have an Indexer.

    Source: transformers 5.23, configuration_minimax_m3_vl.py, MiniMaxM3VLTextConfig.
    """
    mixer, earlier = keys.attention(c, qk_norm=True), c.sub("sparse_attention_config") or c.as_part()
    count = keys.layer_count(c)
    kinds, flags = c.strs("layer_types"), earlier.ints("sparse_attention_freq")
    networks, steps = c.strs("mlp_layer_types"), c.ints("moe_layer_freq")

    def sparse() -> Layer:
        heads = earlier.int("sparse_num_index_heads", default=None) or c.int("index_n_heads")
        width = earlier.int("sparse_index_dim", default=None) or c.int("index_head_dim")
        return Layer(mixer=mixer, own=Indexer(heads=keys.dim("h_i", heads), width=keys.dim("h_di", width)))

    def experts() -> Layer:
        return Layer(ffn=keys.moe(c, "intermediate_size").replace(shared=c.int("shared_intermediate_size")))

    def dense() -> Layer:
        return Layer(ffn=Dense(width=c.int("dense_intermediate_size")))

    some = keys.uniform(Layer(mixer=mixer), count)
    if kinds or flags:
        given = kinds or [("full_attention", "minimax_m3_sparse")[flag > 0] for flag in flags]
        some = keys.by_kind(
            c, {"full_attention": some[0].layer, "minimax_m3_sparse": sparse}, given, otherwise="full_attention"
        )
    if networks or steps:
        given = networks or [("dense", "sparse")[step > 0] for step in steps]
        return keys.combined(some, keys.by_kind(c, {"dense": dense, "sparse": experts}, given, "mlp_layer_types"))
    return keys.combined(some, keys.uniform(experts(), count))


def blueprint(s: Spec) -> Block:
    d, within = s.hidden, s.place == "text"  # within the whole model the names are those of the first release

    def attention(one: Layer) -> Block:
        if not isinstance(one.own, Indexer) or not one.own.heads:
            return gqa(d, one.attention)
        heads, width = one.own.heads, one.own.width
        parts: dict[str, Node] = {
            "q_proj": Linear(d, heads * width),
            "k_proj": Linear(d, width),
            "q_norm": rms_norm(width),
            "k_norm": rms_norm(width),
        }
        named: dict[str, Node] = {f"index_{name}": node for name, node in parts.items()}
        return altered(gqa(d, one.attention), **(named if within else {"indexer": Block(parts)}))

    def network(one: Layer) -> tuple[str, Block]:
        if not isinstance(one.ffn, MoE):
            return "mlp", (swiglu if within else fused_swiglu)(d, one.dense.width)
        m = one.ffn
        balance = block("router", e_score_correction_bias=correction_bias(m))
        if within:
            routed = moe(d, m, numbered_swiglu(d, m.width, "experts"))
            shared = swiglu(d, m.shared or 0)
            return "block_sparse_moe", altered(routed, shared_experts=shared, **balance.children)
        packed = block(gate_up_proj=stacked(m, 2 * m.width, d), down_proj=stacked(m, d, m.width))
        gate = altered(router(d, m), **balance.children)
        return "mlp", block(gate=gate, experts=packed, shared_experts=fused_swiglu(d, m.shared or 0))

    def layer(one: Layer) -> Block:
        name, ffn = network(one)
        return pre_norm(d, self_attn=attention(one), **{name: ffn})

    return decoder(s, layer)
