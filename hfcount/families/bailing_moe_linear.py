"""Ring-linear and Ling 2.5: lightning attention, and in the last layer of each group grouped or latent attention."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import (
    altered,
    correction_bias,
    drafting,
    embedding,
    fused_qkv,
    mla,
    network,
    pre_norm,
    rms_norm,
    shared_moe,
    stack,
    with_head,
)
from hfcount.parts.ffn import router
from hfcount.spec import GQA, MLA, Layer, Lightning, Mixer, MoE, Sizes, Spec, flag
from hfcount.tree.nodes import Block, Linear, Node, block

# bailing_moe_linear.py of ml-explore/mlx-lm 0.32.2; of sgl-project/sglang 0.5.23 for latent attention, only read
MODEL_TYPES = ("bailing_moe_linear",)
CLASSES = ("BailingMoeLinearForCausalLM", "BailingMoeLinearV2ForCausalLM", "BailingMoeV2_5ForCausalLM")
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
    own = BailingMoeLinear.read(c)
    latent = c.choice("full_attention_type", ("gqa", "mla"), "mla" if c.given("kv_lora_rank") else "gqa") == "mla"
    heads, given = c.int("num_attention_heads"), c.int("head_dim", default=None)
    width = c.int("hidden_size") // heads if given is None else given
    full: Mixer = keys.mla(c) if latent else keys.attention(c, qk_norm=own.use_qk_norm)
    if isinstance(full, GQA):
        full = full.replace(qkv_bias=own.use_bias or own.use_qkv_bias, out_bias=own.use_bias)
    mixers = keys.in_groups(c, full, Lightning(heads=heads, head_dim=width))

    def experts() -> MoE:
        return keys.bailing_experts(c).replace(bias=own.use_bias)

    places = keys.dense_and_sparse(c, "first_k_dense_replace", default=0, listed=None)
    layers = keys.combined(mixers, keys.networks(c, places, experts, bias=own.use_bias))
    ahead = keys.mtp(c, lambda: Layer(mixer=full, ffn=experts()))
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model"), parts=ahead).having(own)


def blueprint(s: Spec[BailingMoeLinear]) -> Block:
    d, of = s.hidden, s.own

    def attention(mixer: Mixer | None) -> Block:
        if isinstance(mixer, MLA):
            return altered(mla(d, mixer), o_proj=None, dense=Linear(mixer.heads * mixer.value_dim, d, mixer.bias))
        if isinstance(mixer, Lightning):
            inner = mixer.heads * mixer.head_dim
            plain = GQA(heads=mixer.heads, kv_heads=mixer.heads, head_dim=mixer.head_dim, out_bias=of.use_bias)
            gates: dict[str, Node] = {"g_proj": Linear(d, inner), "g_norm": rms_norm(inner)}
            plain = plain.replace(qkv_bias=of.use_bias or of.use_qkv_bias)
            return Block({**_fused(d, plain, of.use_qk_norm), **gates}, "linear_attention")
        assert isinstance(mixer, GQA)
        return Block(_fused(d, mixer, of.use_qk_norm), "attention")

    def sparse(m: MoE) -> Block:
        found = shared_moe(d, m, bias=m.bias)
        if not of.moe_router_enable_expert_bias:
            return found
        return altered(found, gate=altered(router(d, m), expert_bias=correction_bias(m)))

    def layer(one: Layer) -> Block:
        whole = pre_norm(d, attention=attention(one.mixer), mlp=network(d, one, sparse))
        if not one.mtp:
            return whole
        return Block(drafting(d, one.replace(first=True, last=True), whole).children, "mtp")

    layers = (*stack(s.layers, layer), *stack(s.stack("mtp"), layer))
    body = block(word_embeddings=embedding(s.vocab, d), layers=layers, norm=rms_norm(d))
    return with_head(s, body, table="word_embeddings")


def _fused(d: int, a: GQA, normed: bool) -> dict[str, Node]:
    norm = rms_norm(a.head_dim)
    norms: dict[str, Node] = {"query_layernorm": norm, "key_layernorm": norm} if normed else {}
    return {"query_key_value": fused_qkv(d, a), "dense": Linear(a.heads * a.head_dim, d, a.out_bias), **norms}
