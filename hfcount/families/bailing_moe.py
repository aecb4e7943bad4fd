"""Ling: fine-grained experts, routed and shared, in the second version balanced and with norms (arXiv:2503.05139)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import altered, correction_bias, drafting, embedding, fused_qkv, network, rms_norm, shared_moe, stack
from hfcount.parts.ffn import router
from hfcount.parts.model import with_head
from hfcount.spec import Layer, MoE, Sizes, Spec
from hfcount.tree.nodes import Block, Linear, Node, block

MODEL_TYPES = ("bailing_moe", "bailing_moe_v2")  # modeling_bailing_moe.py of inclusionAI/Ling-lite
IGNORED = ("multi_gate", "norm_head", "norm_softmax", "use_rmsnorm")


class BailingMoe(Sizes):
    """Whether a bias that follows their load balances the experts."""

    balanced: bool


def spec(c: Config) -> Spec[BailingMoe]:
    second, bias = c.family == "bailing_moe_v2", c.bool("use_bias", default=False)
    qkv = bias or c.bool("use_qkv_bias", default=False)
    mixer = keys.attention(c, qkv_bias=qkv, out_bias=bias, qk_norm=c.bool("use_qk_norm", default=second))

    def experts() -> MoE:
        routed = keys.moe(c, "moe_intermediate_size", experts=("num_experts",))
        each = c.int("moe_shared_expert_intermediate_size", default=None) or c.int("moe_intermediate_size")
        shared = each * c.int("num_shared_experts", default=0, minimum=0)
        return routed.replace(shared=shared or None, bias=bias)

    places = keys.dense_and_sparse(c, "first_k_dense_replace", default=0, listed=None)
    layers = keys.networks(c, places, experts, mixer, bias=bias)
    own = BailingMoe.read(c, balanced=c.bool("moe_router_enable_expert_bias", default=second))
    ahead = keys.mtp(c, lambda: Layer(mixer=mixer, ffn=experts()))
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model"), parts=ahead).having(own)


def blueprint(s: Spec[BailingMoe]) -> Block:
    d = s.hidden

    def experts(m: MoE) -> Block:
        found = shared_moe(d, m, bias=m.bias)
        if not s.own.balanced:
            return found
        gate = altered(router(d, m), expert_bias=correction_bias(m))
        return altered(found, gate=gate)

    def layer(one: Layer) -> Block:
        a = one.attention
        norm = rms_norm(a.head_dim) if a.qk_norm else None
        attention: dict[str, Node | None] = {
            "query_key_value": fused_qkv(d, a),
            "dense": Linear(a.heads * a.head_dim, d, a.out_bias),
            "query_layernorm": norm,
            "key_layernorm": norm,
        }
        whole = block(
            input_layernorm=rms_norm(d),
            attention=block("attention", **attention),
            post_attention_layernorm=rms_norm(d),
            mlp=network(d, one, experts),
        )
        if not one.mtp:
            return whole
        return Block(drafting(d, one.replace(first=True, last=True), whole).children, "mtp")

    layers = (*stack(s.layers, layer), *stack(s.stack("mtp"), layer))
    body = block(word_embeddings=embedding(s.vocab, d), layers=layers, norm=rms_norm(d))
    return with_head(s, body, table="word_embeddings")
