"""Qwen4-Exp: its language model, and the vision tower of Qwen3-VL."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.ngrams import Ngrams, with_ngrams
from hfcount.architectures.layers import altered, embedding, gated_moe, gqa, rms_norm, stack, with_head
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.architectures.layers.conversions import packed
from hfcount.architectures.layers.mixers import gated_delta_net
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import GQA, DeltaNet, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# transformers 5.23: modeling_qwen4_exp.py
# and, under a type of its own, Qwen3.8-Flash-Next; for the layers that predict further tokens, models/qwen4_exp/nvidia
# of vllm-project/vllm 0.33
MODEL_TYPES = ("qwen4_exp", "qwen3_8_flash_next")
CLASSES = ("Qwen3_8FlashNextForConditionalGeneration",)
PREDICTORS = ("Qwen4ExpMTP", "Qwen4ExpForCausalLMMTP")
MERGED = packed()


def spec(c: Config) -> Spec:
    always = "" if c.family == "qwen4_exp" else "qwen4_exp_text"
    text, towers = (
        families.part(c, "text_config", always),
        {"vision": families.part(c, "vision_config", "qwen4_exp_vision")},
    )
    parts = {**towers, **_ahead(c.part("text_config"), c.family)}
    return keys.composite(c, text, parts, heads=("ForConditionalGeneration", "Model"))


def _ahead(c: Config, family: str) -> dict[str, Spec]:
    """The layers that predict further tokens: indexed attention and experts."""
    layer = Layer(mixer=_indexed(c), ffn=keys.gated_moe(c))
    parts = keys.drafts(c, "mtp_num_hidden_layers", layer)
    return {name: part.replace(family=family) for name, part in parts.items()}


def blueprint(s: Spec) -> Block:
    model = towers_in_model(s, families.base(s), visual=families.tower(s, "vision"))
    return altered(model, mtp=_draft(s)) if "mtp" in s.parts else model


def _draft(s: Spec) -> Block:
    """Reads a token and the residual streams, each by a projection, and mixes the streams at the end."""
    d, of = s.hidden, s.part("text").sizes(Qwen4ExpText)
    return block(
        "mtp",
        pre_fc_norm_embedding=rms_norm(d),
        pre_fc_norm_hidden=rms_norm(of.hc_count * d),
        fc_embedding=Linear(d, d),
        fc_hidden=Linear(d, d),
        layers=stack(s.stack("mtp"), lambda layer: _layer_block(d, of, layer)),
        hyper_connection_mixer=_residual(d, of, inject=False),
    )


class Qwen4ExpText(Sizes):
    """Sizes specific to Qwen4-Exp's language model: residual streams, and an indexer."""

    hc_count: int = size("m")
    hc_lowrank: int = size("r_h")
    indexer_n_heads: int = size("h_i")
    indexer_kv_heads: int = size("h_ik")
    indexer_head_dim: int = size("h_di")


def text_spec(c: Config) -> Spec[Qwen4ExpText]:
    """Qwen4-Exp's language model: Gated DeltaNet and indexed attention, several residual streams, tables of n-grams."""
    sizes, full = Qwen4ExpText.read(c), _indexed(c)
    fourth = keys.every_nth(c, "full_attention_interval", default=4)
    mixers = keys.mixed(c, full, keys.delta_net(c), keys.kinds(c), fourth, "full_attention")
    routed = keys.uniform(Layer(ffn=keys.gated_moe(c)), keys.layer_count(c))
    layers = with_ngrams(c, keys.combined(mixers, routed), sizes.hc_count)
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model")).having(sizes)


def _indexed(c: Config) -> GQA:
    """Attention to the blocks of tokens that an indexer selects."""
    sizes, block_size = Qwen4ExpText.read(c), c.int("indexer_compress_ratio", default=1, minimum=1)
    budget = c.int("indexer_budget", default=None)
    full = keys.attention(c, bias=c.bool("attention_bias", default=False), qk_norm=True, gated=True)
    return full.replace(
        index_dim=sizes.indexer_kv_heads * sizes.indexer_head_dim,
        index_heads=sizes.indexer_n_heads,
        index_block=block_size,
        top_k=None if budget is None else budget + block_size - 1,  # whole blocks, and what follows the last
    )


def text_blueprint(s: Spec[Qwen4ExpText]) -> Block:
    d, of = s.hidden, s.own

    def layer_block(layer: Layer) -> Block:
        return _layer_block(d, of, layer)

    mixed = _residual(d, of, inject=False)
    body = block(embed_tokens=embedding(s.vocab, d), layers=stack(s.layers, layer_block), hyper_connection_mixer=mixed)
    return with_head(s, body)


def _layer_block(d: int, of: Qwen4ExpText, layer: Layer) -> Block:
    mixer, residual = layer.mixer, _residual(d, of)
    linear = gated_delta_net(d, mixer) if isinstance(mixer, DeltaNet) else None
    index = block(
        index_qk_proj=Linear(d, (of.indexer_n_heads + of.indexer_kv_heads) * of.indexer_head_dim),
        q_layernorm=rms_norm(of.indexer_head_dim),
        k_layernorm=rms_norm(of.indexer_head_dim),
    )
    return block(
        linear_attn=linear,
        self_attn=None if linear else altered(gqa(d, layer.attention), indexer=index),
        mlp=gated_moe(d, layer.moe),
        ple=layer.own.tensors(d, of.hc_count) if isinstance(layer.own, Ngrams) else None,
        attn_hyper_connection=residual,
        mlp_hyper_connection=residual,
    )


def _residual(d: int, of: Qwen4ExpText, inject: bool = True) -> Block:
    """Mixes m residual streams before a part of a layer, and with `inject` gives them its output."""
    wide = of.hc_count * d
    return block(
        "other",
        hc_norm=rms_norm(wide),
        input_mix_weight_down=Linear(wide, of.hc_lowrank),
        input_mix_weight_up=Linear(of.hc_lowrank, wide),
        block_inject_weight=Linear(wide, of.hc_count) if inject else None,
    )


PARTS = (
    families.Family(
        ("qwen4_exp_text",),
        text_spec,
        text_blueprint,
        within={"qwen4_exp_text": ("model.language_model.", "model.")},
        ignored=("number_of_conv_states", "seed"),
        merged=packed(),
    ),
)
