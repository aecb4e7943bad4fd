"""Qwen2.5-Omni's talker: Qwen2 over codes of speech, which it embeds as wide as the thinker does (arXiv:2503.20215)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding, gqa, pre_norm, rms_norm, stack, swiglu
from hfcount.spec import Layer, Sizes, Spec, size
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("qwen2_5_omni_talker",)  # transformers 5.23: modeling_qwen2_5_omni.py


class Qwen25OmniTalker(Sizes):
    """What this architecture alone has."""

    embedding_size: int = size("d_e")


def spec(c: Config) -> Spec[Qwen25OmniTalker]:
    layer = Layer(mixer=keys.attention(c, qkv_bias=True), ffn=keys.dense(c))
    own = Qwen25OmniTalker.read(c)
    heads, windows = ("ForConditionalGeneration", "Model"), keys.sliding_later(c, first=28)
    return keys.decoder_spec(c, layer, heads=heads, windows=windows).replace(tied=False).having(own)


def blueprint(s: Spec[Qwen25OmniTalker]) -> Block:
    d, wide = s.hidden, s.own.embedding_size

    def layer(one: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, one.attention), mlp=swiglu(d, one.dense.width))

    body = block(embed_tokens=embedding(s.vocab, wide), layers=stack(s.layers, layer), norm=rms_norm(d))
    if s.head == "base":
        return body
    return block(
        thinker_to_talker_proj=Linear(wide, d, True, "projector"),
        model=body,
        codec_head=Linear(d, s.vocab, component="lm_head"),
    )
