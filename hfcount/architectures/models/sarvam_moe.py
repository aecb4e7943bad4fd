"""Sarvam 30B: Ling under its own names, with norms of queries and keys and a bias that balances (its card)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, embedding, fused_qkv, network, rms_norm, router, shared_moe, stack
from hfcount.architectures.layers.model import with_head
from hfcount.mapper import Config
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# modeling_sarvam_moe.py of sarvamai/mlx-lm; transformers 5.24 reads its config into GLM-4.5's classes, and saves its
# names (configuration_sarvam_moe.py, conversion_mapping.py).
MODEL_TYPES = ("sarvam_moe",)
_EXPERTS, _SHARED = ("num_experts", "n_routed_experts"), ("num_shared_experts", "n_shared_experts")
IGNORED = (
    "embedding_dropout",
    "moe_router_enable_expert_bias",
    "moe_shared_expert_intermediate_size",
    "output_dropout",
)

# configuration_sarvam_moe.py of the same.
_ABSENT = {
    "vocab_size": 262144,
    "hidden_size": 4096,
    "intermediate_size": 8192,
    "num_hidden_layers": 19,
    "num_attention_heads": 16,
    "num_key_value_heads": 4,
    "num_experts_per_tok": 6,
    "moe_intermediate_size": 1024,
    "first_k_dense_replace": 1,
    "head_dim": 256,
}


def spec(c: Config) -> Spec:
    several = {} if any(map(c.given, _EXPERTS)) or c.is_null("num_experts") else {"num_experts": 128}
    shared = {} if any(map(c.given, _SHARED)) else {"num_shared_experts": 1}
    c = c.assuming({**_ABSENT, **several, **shared})
    qkv = c.bool("use_qkv_bias", "attention_bias", default=False)
    out = c.bool("use_bias", default=False)
    mixer = keys.attention(c, qkv_bias=qkv, out_bias=out, qk_norm=c.bool("use_qk_norm", default=True))
    if c.is_null("num_experts"):
        layers = keys.uniform(Layer(mixer=mixer, ffn=keys.dense(c)), keys.layer_count(c))
        return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model"))
    places = keys.dense_and_sparse(c, "first_k_dense_replace", listed=None)

    def experts() -> MoE:
        return keys.moe(c, "moe_intermediate_size", experts=_EXPERTS, shared=_SHARED)

    return keys.decoder_spec(c, keys.networks(c, places, experts, mixer), heads=("ForCausalLM", "Model"))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def experts(m: MoE) -> Block:
        return altered(shared_moe(d, m), gate=altered(router(d, m), expert_bias=Tensor((m.experts,))))

    def layer_block(layer: Layer) -> Block:
        a = layer.attention
        norm = rms_norm(a.head_dim) if a.qk_norm else None
        attention = block(
            "attention",
            query_key_value=fused_qkv(d, a),
            dense=Linear(a.heads * a.head_dim, d, a.out_bias),
            query_layernorm=norm,
            key_layernorm=norm,
        )
        return block(
            input_layernorm=rms_norm(d),
            attention=attention,
            post_attention_layernorm=rms_norm(d),
            mlp=network(d, layer, experts),
        )

    body = block(word_embeddings=embedding(s.vocab, d), layers=stack(s.layers, layer_block), norm=rms_norm(d))
    return with_head(s, body, table="word_embeddings")
