"""Ring-linear and Ling 2.5: lightning attention, and in the last layer of each group grouped or latent attention."""

from hfcount.architectures import keys
from hfcount.architectures.components import ling
from hfcount.architectures.components.ling import bailing_experts, in_groups
from hfcount.architectures.layers import altered, network, pre_norm, rms_norm
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import GQA, MLA, Layer, Lightning, Mixer, MoE, Spec
from hfcount.spec.tree.nodes import Block, Linear

# bailing_moe_linear.py of ml-explore/mlx-lm 0.32.2; of sgl-project/sglang 0.5.23 for latent attention, only read
MODEL_TYPES = ("bailing_moe_linear",)
CLASSES = ("BailingMoeLinearForCausalLM", "BailingMoeLinearV2ForCausalLM", "BailingMoeV2_5ForCausalLM")
PREDICTORS = ("BailingMoeV25MTPModel", "BailingMoeForCausalLMNextN")
IGNORED = (
    "group_norm_size",
    "linear_rope",
    "linear_silu",
    "norm_head",
    "norm_softmax",
    "use_linear_silu",
    "use_rmsnorm",
)


class BailingMoeLinear(Sizes):
    """How its projections are: whether they have biases, and queries and keys norms, and a bias balances experts."""

    use_bias: bool = flag(absent=False)
    use_qkv_bias: bool = flag(absent=False)
    use_qk_norm: bool = flag(absent=False)
    moe_router_enable_expert_bias: bool = flag(absent=False)


def spec(c: Config) -> Spec[BailingMoeLinear]:
    sizes = BailingMoeLinear.read(c)
    latent = c.choice("full_attention_type", ("gqa", "mla"), "mla" if c.given("kv_lora_rank") else "gqa") == "mla"
    heads, given = c.int("num_attention_heads"), c.int("head_dim", default=None)
    width = c.int("hidden_size") // heads if given is None else given
    full: Mixer = keys.mla(c) if latent else keys.attention(c, qk_norm=sizes.use_qk_norm)
    if isinstance(full, GQA):
        full = full.replace(qkv_bias=sizes.use_bias or sizes.use_qkv_bias, out_bias=sizes.use_bias)
    mixers = in_groups(c, full, Lightning(heads=heads, head_dim=width))

    def experts() -> MoE:
        return bailing_experts(c).replace(bias=sizes.use_bias)

    places = keys.dense_and_sparse(c, "first_k_dense_replace", default=0, listed=None)
    layers = keys.combined(mixers, keys.networks(c, places, experts, bias=sizes.use_bias))
    ahead = keys.mtp(c, lambda: Layer(mixer=full, ffn=experts()))
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model"), parts=ahead).having(sizes)


def blueprint(s: Spec[BailingMoeLinear]) -> Block:
    d, of = s.hidden, s.own

    def attention(mixer: Mixer | None) -> Block:
        if isinstance(mixer, MLA):
            return ling.latent(d, mixer, gated=False)
        if isinstance(mixer, Lightning):
            return _lightning(d, mixer, of)
        assert isinstance(mixer, GQA)
        return ling.fused(d, mixer)

    def sparse(m: MoE) -> Block:
        return ling.experts(d, m, of.moe_router_enable_expert_bias)

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, attention=attention(layer.mixer), mlp=network(d, layer, sparse))

    return ling.model(s, layer_block)


def _lightning(d: int, a: Lightning, of: BailingMoeLinear) -> Block:
    """Lightning attention: projections as those of grouped attention, and a gate with a norm."""
    inner = a.heads * a.head_dim
    plain = GQA(heads=a.heads, kv_heads=a.heads, head_dim=a.head_dim, qk_norm=of.use_qk_norm, out_bias=of.use_bias)
    common = ling.fused(d, plain.replace(qkv_bias=of.use_bias or of.use_qkv_bias))
    return Block(altered(common, g_proj=Linear(d, inner), g_norm=rms_norm(inner)).children, "linear_attention")
