"""K2 Horizon: attention that may be gated and route its values to experts (K2 Horizon, xLLM)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, gqa, network, pre_norm
from hfcount.architectures.layers.ffn import router, shared_moe
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import GQA, Layer, MoE, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat

# k2_horizon.py of vllm-project/vllm 0.33.0, xllm.py of sgl-project/sglang 0.5.23
MODEL_TYPES = ("k2_horizon",)
IGNORED = tuple(
    "layernorm_num_groups rope_head_dim router_scaling_factor router_score_func attn_gate_func"
    " xllm_source_router_gemm_partitions".split()
)


class K2Horizon(Sizes):
    """Gates of attention, biases of routers, and how many experts make the values, of which a token uses some."""

    gated: bool
    moe_gate_bias: bool = flag(absent=False)
    mova_num_experts: int = size("n_v", absent=0, minimum=0)
    mova_num_experts_per_tok: int = size("k_v", absent=0, minimum=0)


def spec(c: Config) -> Spec[K2Horizon]:
    norm = "width" if c.bool("query_key_norm", default=False) else False
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False)).replace(qk_norm=norm)
    experts = c.int("num_experts", default=0, minimum=0)
    ffn = keys.dense(c)

    def routed() -> MoE:
        each = keys.moe(c, "moe_intermediate_size")
        shared = each.width * c.int("num_shared_experts", default=0, minimum=0)
        return each.replace(shared=shared or None)

    layers = keys.uniform(Layer(mixer=mixer, ffn=ffn), keys.layer_count(c))
    if experts:
        layers = keys.sparse_steps(c, mixer, ffn, routed)
    gated = not c.is_null("attention_gate_func") and c.given("attention_gate_func")
    sizes = K2Horizon.read(c, gated=gated or c.bool("apply_attn_gate", default=False))
    if gated:
        c.str("attention_gate_func")
    keys.at_most(c, "mova_num_experts_per_tok", sizes.mova_num_experts_per_tok, sizes.mova_num_experts)
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model")).having(sizes)


def blueprint(s: Spec[K2Horizon]) -> Block:
    d, of = s.hidden, s.own

    def attention(layer: Layer) -> Block:
        a = layer.attention
        gated = altered(gqa(d, a), gate_proj=Linear(d, a.heads * a.head_dim) if of.gated else None)
        if not (of.mova_num_experts and isinstance(layer.ffn, MoE)):
            return gated
        return altered(gated, v_proj=None, **_values(d, a, of))

    def sparse(m: MoE) -> Block:
        return altered(shared_moe(d, m), gate=router(d, m, of.moe_gate_bias))

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=attention(layer), mlp=network(d, layer, sparse))

    return decoder(s, layer_block)


def _values(d: int, a: GQA, of: K2Horizon) -> dict[str, Linear | Repeat]:
    """Values by experts: v_router (n_v, d), and v_experts, each (h_kv·h_d, d)."""
    each = Linear(d, a.kv_heads * a.head_dim)
    return {
        "v_router": Linear(d, of.mova_num_experts, of.moe_gate_bias, "router"),
        "v_experts": Repeat(Indices.below(of.mova_num_experts), each, of.mova_num_experts_per_tok),
    }
