"""GLM-5-Next: Kimi's delta attention, latent attention to pooled tokens, residual streams (arXiv:2512.24880)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import (
    altered,
    base,
    indexer,
    mla,
    network,
    pre_norm,
    predicting,
    shared_moe,
    with_head,
)
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.architectures.layers.conversions import CONVOLUTION, packed
from hfcount.architectures.layers.mixers import kimi_delta
from hfcount.architectures.layers.streams import mixer
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import MLA, DeltaNet, Layer, Layers, Spec
from hfcount.spec.tree.indices import Indices, intersection
from hfcount.spec.tree.nodes import Block, Tensor

# transformers 5.23: modeling_glm5_next.py
# and, for the layers that predict further tokens, models/glm5next/common/mtp.py of vllm-project/vllm 0.33
MODEL_TYPES = ("glm5_next", "glm5_next_text")
CLASSES = ("Glm5NextForCausalLM",)
PREDICTORS = ("Glm5NextMTPModel", "Glm5NextForConditionalGenerationNextN")
SPELLINGS = {
    r"self_attn\.(f_a_proj\.|f_b_proj\.|dt_bias$|A_log$)": r"self_attn.forget_gate.\1",
    r"\.hc_(attn|ffn)_(fn|base|scale)$": r".\1_hc.\2",
}
MERGED = {**packed(), **CONVOLUTION}
# vLLM 0.33.0: rotary positions, and whether there are any (models/glm5next/common/attention.py:514, model.py:411)
IGNORED = ("indexer_rope_interleave", "mla_use_nope")


class Glm5Next(Sizes):
    """Sizes specific to GLM-5-Next: residual streams, and the tokens that its indexer pools."""

    hc_mult: int = size("m_r")
    index_kpool: int = size("t_p")


def spec(c: Config) -> Spec[Glm5Next]:
    alone = c.family == "glm5_next_text"
    text = c if alone else c.sub("text_config") or c.as_part("text_config")  # early configs have its keys at the top
    places = keys.dense_and_sparse(text, default=3)
    networks = keys.networks(text, places, lambda: keys.deepseek_moe(text))
    layers = keys.combined(_delta_and_latent(text), networks)
    sizes = Glm5Next.read(text)
    text.confirms(mhc=True, index_kpool_compress=True)
    if text.given("mlp_layer_types"):
        text.confirms(first_k_dense_replace=_leading(places))
    ahead = _ahead(text, c.family)
    if alone:
        return keys.decoder_spec(c, layers, heads=("Model", "ForCausalLM"), parts=ahead).having(sizes)
    towers = {"vision": families.part(c, "vision_config"), **ahead}
    heads, tied = ("ForConditionalGeneration", "Model"), c.bool("tie_word_embeddings", default=False)
    model = keys.decoder_spec(text, layers, whole=c, heads=heads, parts=towers)
    return model.replace(tied=tied).having(sizes)


def blueprint(s: Spec[Glm5Next]) -> Block:
    d, several = s.hidden, s.own.hc_mult

    def attention(layer: Layer) -> Block:
        if isinstance(layer.mixer, DeltaNet):
            return altered(kimi_delta(d, layer.mixer), A_log=Tensor((layer.mixer.key_heads,)))
        a = layer.latent
        wide = a.index_dim or 0
        ape, gate = Tensor((s.own.index_kpool, wide)), Tensor((wide, d))
        pooled = altered(indexer(d, a), index_kpool_compress_ape=ape, index_kpool_compress_gate=gate)
        return altered(mla(d, a), indexer=pooled if a.index_heads else None)

    def layer_block(layer: Layer) -> Block:
        usual = pre_norm(
            d, self_attn=attention(layer), mlp=network(d, layer, lambda m: shared_moe(d, m, balanced=True))
        )
        if layer.mtp:  # which keeps one residual stream
            return predicting(s, layer, usual)
        return Block({**usual.children, **mixer("hc_attn", d, several), **mixer("hc_ffn", d, several)})

    body = base(s, layer_block)
    return towers_in_model(s, body, visual=families.tower(s, "vision")) if "vision" in s.parts else with_head(s, body)


def _delta_and_latent(c: Config) -> list[Layers]:
    """Delta attention, and in every fourth layer latent attention, to tokens that an indexer or an earlier one selects.

    Source: transformers 5.23, configuration_glm5_next.py, Glm5NextTextConfig.
    """
    delta, count = c.part("linear_attn_config"), keys.layer_count(c)
    heads = delta.int("num_heads", default=None) or c.int("linear_num_heads")
    width = delta.int("head_dim", default=None) or c.int("linear_head_dim")
    kernel = delta.int("short_conv_kernel_size", default=None) or c.int("linear_conv_kernel_dim")
    linear = DeltaNet(key_heads=heads, value_heads=heads, key_dim=width, value_dim=width, kernel=kernel)
    latent = _latent(c)
    first, later = keys.indexed(c, latent)
    listed = keys.kinds(c, "layer_types")
    attending = Indices.span(3, max(3, count), 4)
    mixers = keys.mixed(c, latent, linear, listed, attending, "full_attention")
    if listed:
        attends = [place for place, kind in enumerate(listed) if kind != "linear_attention"]
        delta.confirms(full_attn_layers=attends, kda_layers=sorted(set(range(count)) - set(attends)))
    some = keys.indexing(c)
    rest = Indices.below(count).difference(*some)
    return [
        Layers(indices=both, layer=_indexed(mixer_layers.layer, later if part is rest else first))
        for mixer_layers in mixers
        for part in (*some, rest)
        if (both := intersection(mixer_layers.indices, part)).count
    ]


def _latent(c: Config) -> MLA:
    return MLA(
        heads=c.int("num_attention_heads"),
        q_lora_rank=c.int("q_lora_rank"),
        kv_lora_rank=c.int("kv_lora_rank"),
        nope_dim=c.int("qk_nope_head_dim"),
        rope_dim=c.int("qk_rope_head_dim", minimum=0),
        value_dim=c.int("v_head_dim"),
        bias=c.bool("attention_bias", default=False),
    )


def _ahead(c: Config, family: str) -> dict[str, Spec]:
    """The layers that predict further tokens: latent attention to tokens that an indexer of their own selects."""
    mixer, _ = keys.indexed(c, _latent(c))
    parts = keys.mtp(c, lambda: Layer(mixer=mixer, ffn=keys.deepseek_moe(c)))
    return {name: part.replace(family=family) for name, part in parts.items()}


def _leading(places: tuple[Indices, Indices]) -> int | None:
    """The number of dense layers, if they are the first."""
    dense = list(places[0])
    return len(dense) if dense == list(range(len(dense))) else None


def _indexed(layer: Layer, attention: MLA) -> Layer:
    return layer.replace(mixer=attention) if isinstance(layer.mixer, MLA) else layer
