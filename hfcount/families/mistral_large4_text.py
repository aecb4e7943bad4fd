"""Mistral Large 4's language model: latent attention to selected tokens, in some layers without rotary positions."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import (
    altered,
    embedding,
    experts,
    indexer,
    layer_norm,
    mla,
    numbered_swiglu,
    rms_norm,
    router,
    stack,
)
from hfcount.parts.composite import renamed
from hfcount.parts.conversions import W_EXPERTS
from hfcount.spec import MLA, Layer, MoE, Sizes, Spec
from hfcount.tree.nodes import Block, Tensor, block, buffer

MODEL_TYPES = ("mistral_large4_text",)  # transformers 5.23: modeling_mistral_large4.py
_NETWORK = {"w1": "gate_proj", "w2": "down_proj", "w3": "up_proj"}
SPELLINGS = {
    r"\.attention\.": ".self_attn.",
    r"\.wq\.": ".q_proj.",
    r"\.wv\.": ".v_proj.",
    r"\.wo\.": ".o_proj.",
    r"(?<!indexer)\.wk\.": ".k_proj.",
    r"\.wkv_a_with_mqa\.": ".kv_a_proj_with_mqa.",
    r"\.wkv_b\.": ".kv_b_proj.",
    r"\.attention_norm\.": ".input_layernorm.",
    r"\.ffn_norm\.": ".post_attention_layernorm.",
    r"\.kv_a_norm\.": ".kv_a_layernorm.",
    r"\.feed_forward\.": ".mlp.",
    r"(?<!mlp)\.(gate|experts|shared_experts)\.": r".mlp.\1.",
    **{rf"(mlp|shared_experts)\.{name}\.": rf"\1.{later}." for name, later in _NETWORK.items()},
    r"\.ssmax_scaling\.s$": ".softmax_scaling.scale",
    r"\.ssmax_scaling\.b$": ".softmax_scaling.bias",
}
MERGED = W_EXPERTS
# Within the whole model, the projections that the vision tower has, too, have shorter names.
_ALONE = {
    "attention.wo": "o_proj",
    **{f"{parent}.{name}": later for parent in ("feed_forward", "shared_experts") for name, later in _NETWORK.items()},
}


class MistralLarge4Text(Sizes):
    """What this architecture alone has."""

    frequencies: int
    within: int


def spec(c: Config) -> Spec[MistralLarge4Text]:
    rotated = MLA(
        heads=c.int("num_attention_heads"),
        q_lora_rank=None,
        kv_lora_rank=c.int("kv_lora_rank"),
        nope_dim=c.int("qk_nope_head_dim"),
        rope_dim=c.int("qk_rope_head_dim"),
        value_dim=c.int("v_head_dim"),
        bias=c.bool("attention_bias", default=False),
        top_k=c.int("index_topk"),
    )
    places = keys.dense_and_sparse(c, "first_k_dense_replace", default=1)
    networks = keys.networks(c, places, lambda: keys.deepseek_moe(c, late=True))
    layers = keys.combined(keys.latent_by_place(c, rotated), networks)
    own = MistralLarge4Text.read(c, frequencies=rotated.rope_dim // 2, within=c.nested)
    return keys.decoder_spec(c, layers, heads=("Model",)).having(own)


def blueprint(s: Spec[MistralLarge4Text]) -> Block:
    d = s.hidden

    def scale(heads: int) -> Block:
        return block(s=Tensor((heads,)), b=Tensor((heads,)))

    def attention(one: Layer) -> Block:
        a = one.latent
        heads = a.index_heads or 0
        indexing = altered(indexer(d, a), q_input_norm=layer_norm(d), ssmax_scaling=scale(heads))
        parts = mla(d, a).children
        return block(
            "attention",
            wq=parts["q_proj"],
            wkv_a_with_mqa=None if one.shares_kv else parts["kv_a_proj_with_mqa"],
            kv_a_norm=None if one.shares_kv else parts["kv_a_layernorm"],
            wkv_b=parts["kv_b_proj"],
            wo=parts["o_proj"],
            ssmax_scaling=scale(a.heads),
            indexer=indexing if heads else None,
        )

    def network(one: Layer) -> Block:
        if not isinstance(one.ffn, MoE):
            return block(feed_forward=numbered_swiglu(d, one.dense.width))
        m = one.ffn
        shared = None if m.shared is None else numbered_swiglu(d, m.shared)
        routed = experts(m, numbered_swiglu(d, m.width, "experts"))
        return block(gate=router(d, m), experts=routed, shared_experts=shared)

    def layer(one: Layer) -> Block:
        norms = block(attention_norm=rms_norm(d), attention=attention(one), ffn_norm=rms_norm(d))
        return Block({**norms.children, **network(one).children})

    scaled = block("other", alpha=buffer(s.own.frequencies))
    table, layers = embedding(s.vocab, d), stack(s.layers, layer)
    body = block(embed_tokens=table, layers=layers, norm=rms_norm(d), rotary_emb=scaled)
    return body if s.own.within else renamed(body, _ALONE)
