"""Qwen3-Omni's code predictor: Qwen3 with an embedding and a head for each further codebook (arXiv:2509.17765)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding, gqa, pre_norm, rms_norm, stack, swiglu
from hfcount.spec import Layer, Sizes, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("qwen3_omni_moe_talker_code_predictor",)  # transformers 5.23: modeling_qwen3_omni_moe.py


class Qwen3OmniMoeTalkerCodePredictor(Sizes):
    """What this architecture alone has."""

    num_code_groups: int


def spec(c: Config) -> Spec[Qwen3OmniMoeTalkerCodePredictor]:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), qk_norm=True)
    # The first codebook is the talker's.
    own = Qwen3OmniMoeTalkerCodePredictor.read(c, num_code_groups=keys.dim("n_c", c.int("num_code_groups")) - 1)
    windows = keys.sliding(c, lambda: keys.later(c, first=28))
    layer, heads = Layer(mixer=mixer, ffn=keys.dense(c)), ("ForConditionalGeneration", "Model")
    return keys.decoder_spec(c, layer, heads=heads, windows=windows).replace(tied=False).having(own)


def blueprint(s: Spec[Qwen3OmniMoeTalkerCodePredictor]) -> Block:
    d, books = s.hidden, Indices.below(s.own.num_code_groups)

    def layer(one: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, one.attention), mlp=swiglu(d, one.dense.width))

    table = Repeat(books, embedding(s.vocab, d))
    body = block(layers=stack(s.layers, layer), norm=rms_norm(d), codec_embedding=table)
    if s.head == "base":
        return body
    return block(model=body, lm_head=Repeat(books, Linear(d, s.vocab, component="lm_head")))
