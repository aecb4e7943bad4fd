"""CLVP: a decoder of speech tokens, and encoders that choose among what it says (arXiv:2305.07243)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import embedding, layer_norm
from hfcount.parts.classic import mha
from hfcount.spec import Sizes, Spec, count, size
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Repeat, Tensor, block

MODEL_TYPES = ("clvp",)  # transformers 5.23: modeling_clvp.py
IGNORED = ("projection_dim",)

_HEADS = keys.named(ModelForConditionalGeneration="conditional_generation")


class Clvp(Sizes):
    """What CLVP alone has, by its decoder's config: what the decoder is told of a voice and of what to say."""

    max_text_tokens: int = size("n_t")
    feature_size: int = size("m")
    num_mel_attn_blocks: int = count("N_m")


def spec(c: Config) -> Spec[Clvp]:
    text, speech = families.part(c, "text_config"), families.part(c, "speech_config")
    decoder, own = families.part(c, "decoder_config"), Clvp.read(c.part("decoder_config"))
    parts = {"words": text, "speech": speech}
    whole = keys.composite(c, decoder, parts, key="decoder_config", heads=_HEADS)
    return whole.replace(tied=False).having(own)


def blueprint(s: Spec[Clvp]) -> Block:
    d, of, words = s.hidden, s.own, s.parts["words"]
    every = Indices.below(of.num_mel_attn_blocks)
    attention = mha(d, s.layers[0].layer.attention)
    conditioning = block(
        text_token_embedding=embedding(words.vocab, d),
        text_position_embedding=embedding(of.max_text_tokens, d),
        mel_conv=block("convolution", weight=Tensor((d, of.feature_size, 1)), bias=Tensor((d,))),
        group_norms=Repeat(every, layer_norm(d)),
        mel_attn_blocks=Repeat(every, attention),
    )
    return block(
        conditioning_encoder=conditioning,
        speech_decoder_model=families.tree(s.parts["text"].replace(head="causal_lm")),
        text_encoder_model=Block(families.tree(words).children, repeats=0),
        speech_encoder_model=Block(families.tree(s.parts["speech"]).children, "audio", repeats=0),
        logit_scale=Tensor((), component="other"),
    )
