"""MiniMax-M3's language model: balanced experts with a shared one, and blocks of tokens chosen by an indexer."""

from hfcount import keys
from hfcount.keys.minimax import minimax_layers
from hfcount.mapper import Config
from hfcount.parts import altered, correction_bias, decoder, fused_swiglu, gqa, moe, numbered_swiglu, pre_norm, rms_norm
from hfcount.parts.ffn import router, stacked, swiglu
from hfcount.spec import Layer, MoE, Spec
from hfcount.tree.nodes import Block, Linear, Node, block

MODEL_TYPES = ("minimax_m3_vl_text",)  # transformers 5.23: modeling_minimax_m3_vl.py
IGNORED = ("rotary_dim", "index_block_size", "index_local_blocks", "index_topk_blocks", "sparse_attention_config")

_INDEXED = "its sparse layers also keep the keys of an indexer, and read only the blocks that it chooses"


def spec(c: Config) -> Spec:
    layers = minimax_layers(c)
    indexed = any(part.layer.traits for part in layers)
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model"), uncounted=_INDEXED if indexed else "")


def blueprint(s: Spec) -> Block:
    d, within = s.hidden, s.place == "text"  # within the whole model the names are those of the first release

    def attention(one: Layer) -> Block:
        heads, width = one.traits.get("index_heads", 0), one.traits.get("index_dim", 0)
        if not heads:
            return gqa(d, one.attention)
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
