"""Mistral Large 4: Pixtral's tower, whose patches are merged, under the names of Mistral's own releases."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import (
    altered,
    embedding,
    experts,
    indexer,
    layer_norm,
    lm_head,
    mla,
    numbered_swiglu,
    rms_norm,
    router,
    stack,
)
from hfcount.architectures.layers.composite import renamed, towers_in_model
from hfcount.architectures.layers.conversions import W_EXPERTS
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import MLA, Layer, MoE, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block, buffer

MODEL_TYPES = ("mistral_large4",)  # transformers 5.23: modeling_mistral_large4.py
SPELLINGS = {
    r"^vision_encoder\.": "model.vision_tower.",
    r"^tok_embeddings\.": "model.language_model.embed_tokens.",
    r"^lerope\.alpha$": "model.language_model.rotary_emb.alpha",
    r"^(layers|norm)\.": r"model.language_model.\1.",
    r"^output\.": "lm_head.",
    r"^pre_mm_projector_norm\.": "model.multi_modal_projector.norm.",
    r"^patch_merger\.": "model.multi_modal_projector.patch_merger.",
    r"^vision_language_adapter\.w_in\.": "model.multi_modal_projector.linear_1.",
    r"^vision_language_adapter\.w_out\.": "model.multi_modal_projector.linear_2.",
}

_TOWER = {
    "attention.q_proj": "wq",
    "attention.k_proj": "wk",
    "attention.v_proj": "wv",
    "attention.o_proj": "wo",
    "feed_forward.gate_proj": "w1",
    "feed_forward.down_proj": "w2",
    "feed_forward.up_proj": "w3",
}


class MistralLarge4(Sizes):
    spatial_merge_size: int = size("m", absent=2)
    multimodal_projector_bias: bool = flag(absent=False)
    vision_feature_layer: int


def spec(c: Config) -> Spec[MistralLarge4]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    sizes = MistralLarge4.read(c, vision_feature_layer=len(c.ints("vision_feature_layer", alone=True)) or 1)
    heads, tied = ("ForConditionalGeneration", "Model"), c.bool("tie_word_embeddings", default=False)
    return keys.composite(c, text, towers, heads=heads).replace(tied=tied).having(sizes)


def blueprint(s: Spec[MistralLarge4]) -> Block:
    d, of, vision_width = s.hidden, s.own, s.part("vision").hidden
    bias, merge, norm = of.multimodal_projector_bias, of.spatial_merge_size, rms_norm(vision_width)
    into, out = Linear(of.vision_feature_layer * vision_width, d, bias), Linear(d, d, bias)
    text, tower = families.base(s), renamed(families.tower(s, "vision"), _TOWER)
    merging = block(merging_layer=Linear(merge * merge * vision_width, vision_width))
    if s.head == "base":
        projector = block("projector", norm=norm, patch_merger=merging, linear_1=into, linear_2=out)
        return towers_in_model(s, text, vision_tower=tower, multi_modal_projector=projector)
    return altered(
        renamed(text, {".embed_tokens": "tok_embeddings", ".rotary_emb": "lerope"}),
        output=lm_head(s, "tok_embeddings.weight"),
        vision_encoder=tower,
        pre_mm_projector_norm=Block(norm.children, "projector", 0),
        patch_merger=Block(merging.children, "projector", 0),
        vision_language_adapter=Block({"w_in": into, "w_out": out}, "projector", 0),
    )


_NETWORK = {"w1": "gate_proj", "w2": "down_proj", "w3": "up_proj"}

# Within the whole model, the projections that the vision tower has, too, have shorter names.
_ALONE = {
    "attention.wo": "o_proj",
    **{f"{parent}.{name}": later for parent in ("feed_forward", "shared_experts") for name, later in _NETWORK.items()},
}


_ATTENTION = {
    ".q_proj": "wq",
    ".kv_a_proj_with_mqa": "wkv_a_with_mqa",
    ".kv_a_layernorm": "kv_a_norm",
    ".kv_b_proj": "wkv_b",
    ".o_proj": "wo",
}


class MistralLarge4Text(Sizes):
    frequencies: int
    within: int


def text_spec(c: Config) -> Spec[MistralLarge4Text]:
    """Mistral Large 4's language model: latent attention to selected tokens, in some layers without rotary
    positions.
    """
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
    sizes = MistralLarge4Text.read(c, frequencies=rotated.rope_dim // 2, within=c.nested)
    return keys.decoder_spec(c, layers, heads=("Model",)).having(sizes)


def text_blueprint(s: Spec[MistralLarge4Text]) -> Block:
    d = s.hidden

    def scale(heads: int) -> Block:
        return block(s=Tensor((heads,)), b=Tensor((heads,)))

    def attention(layer: Layer) -> Block:
        a = layer.latent
        heads = a.index_heads or 0
        indexing = altered(indexer(d, a), q_input_norm=layer_norm(d), ssmax_scaling=scale(heads))
        shared = {"kv_a_proj_with_mqa": None, "kv_a_layernorm": None} if layer.shares_kv else {}
        return altered(
            renamed(altered(mla(d, a), rotary_emb=None, **shared), _ATTENTION),
            ssmax_scaling=scale(a.heads),
            indexer=indexing if heads else None,
        )

    def network(layer: Layer) -> Block:
        if not isinstance(layer.ffn, MoE):
            return block(feed_forward=numbered_swiglu(d, layer.dense.width))
        m = layer.ffn
        shared = None if m.shared is None else numbered_swiglu(d, m.shared)
        routed = experts(m, numbered_swiglu(d, m.width, "experts"))
        return block(gate=router(d, m), experts=routed, shared_experts=shared)

    def layer_block(layer: Layer) -> Block:
        norms = block(attention_norm=rms_norm(d), attention=attention(layer), ffn_norm=rms_norm(d))
        return Block({**norms.children, **network(layer).children})

    scaled = block("other", alpha=buffer(s.own.frequencies))
    table, layers = embedding(s.vocab, d), stack(s.layers, layer_block)
    body = block(embed_tokens=table, layers=layers, norm=rms_norm(d), rotary_emb=scaled)
    return body if s.own.within else renamed(body, _ALONE)


PARTS = (
    families.Family(
        ("mistral_large4_text",),
        text_spec,
        text_blueprint,
        spellings={
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
        },
        merged=W_EXPERTS,
    ),
)
