"""Qwen3-Omni's talker: layers with experts over the first code of a frame, others for the rest (arXiv:2509.17765)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import (
    altered,
    embedding,
    gated_moe,
    gqa,
    pre_norm,
    rms_norm,
    stack,
    stacked,
    swiglu,
)
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, MoE, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("qwen3_omni_moe_talker", "qwen3_omni_moe_talker_text")  # transformers 5.23: modeling_qwen3_omni_moe.py
IGNORED = ("accept_hidden_layer", "decoder_sparse_step", "mlp_only_layers", "spatial_merge_size")


class Qwen3OmniTalker(Record):
    """What the whole talker has: the width of what the thinker says, and of the network that resizes it."""

    thinker_hidden_size: int
    intermediate_size: int


def spec(c: Config) -> Spec[Qwen3OmniTalker | None]:
    alone = c.family == "qwen3_omni_moe_talker_text"
    text = c if alone else c.part("text_config")
    mixer = keys.attention(text, bias=text.bool("attention_bias", default=False), qk_norm=True)
    layer = Layer(mixer=mixer, ffn=keys.gated_moe(text))
    windows = keys.sliding_everywhere(text)
    if alone:
        return keys.decoder_spec(c, layer, heads=("Model",), windows=windows).replace(tied=False).having(None)
    parts = {"predictor": families.part(c, "code_predictor_config")}
    sizes = Qwen3OmniTalker(
        thinker_hidden_size=keys.dim("d_t", c.int("thinker_hidden_size")),
        intermediate_size=keys.dim("d_p", text.int("intermediate_size")),
    )
    heads = ("ForConditionalGeneration",)
    model = keys.decoder_spec(text, layer, whole=c, heads=heads, parts=parts, windows=windows)
    return model.replace(tied=False).having(sizes)


def blueprint(s: Spec[Qwen3OmniTalker | None]) -> Block:
    d = s.hidden

    def routed(m: MoE) -> Block:
        packed = block(gate_up_proj=stacked(m, 2 * m.width, d), down_proj=stacked(m, d, m.width))
        usual = gated_moe(d, m)
        return altered(usual, experts=packed) if s.head == "base" else usual

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=routed(layer.moe))

    body = block(layers=stack(s.layers, layer_block), norm=rms_norm(d), codec_embedding=embedding(s.vocab, d))
    if s.own is None or s.head == "base":
        return body
    thought, width = s.own.thinker_hidden_size, s.own.intermediate_size
    resized = block("projector", linear_fc1=Linear(thought, width, True), linear_fc2=Linear(width, d, True))
    return block(
        model=body,
        text_projection=resized,
        hidden_projection=resized,
        codec_head=Linear(d, s.vocab, component="lm_head"),
        code_predictor=families.tree(s.part("predictor").replace(head="conditional_generation")),
    )


class Qwen3OmniMoeTalkerCodePredictor(Sizes):
    num_code_groups: int


def predictor_spec(c: Config) -> Spec[Qwen3OmniMoeTalkerCodePredictor]:
    """Qwen3-Omni's code predictor: Qwen3 with an embedding and a head for each further codebook (arXiv:2509.17765)."""
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), qk_norm=True)
    # The first codebook is the talker's.
    sizes = Qwen3OmniMoeTalkerCodePredictor.read(c, num_code_groups=keys.dim("n_c", c.int("num_code_groups")) - 1)
    windows = keys.sliding(c, lambda: keys.later(c, first=28))
    layer, heads = Layer(mixer=mixer, ffn=keys.dense(c)), ("ForConditionalGeneration", "Model")
    return keys.decoder_spec(c, layer, heads=heads, windows=windows).replace(tied=False).having(sizes)


def predictor_blueprint(s: Spec[Qwen3OmniMoeTalkerCodePredictor]) -> Block:
    d, books = s.hidden, Indices.below(s.own.num_code_groups)

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=swiglu(d, layer.dense.width))

    table = Repeat(books, embedding(s.vocab, d))
    body = block(layers=stack(s.layers, layer_block), norm=rms_norm(d), codec_embedding=table)
    if s.head == "base":
        return body
    return block(model=body, lm_head=Repeat(books, Linear(d, s.vocab, component="lm_head")))


PARTS = (families.Family(("qwen3_omni_moe_talker_code_predictor",), predictor_spec, predictor_blueprint),)
