"""Any encoder, of texts, images or speech, and any decoder that attends to its output (arXiv:1907.12461)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers.composite import rebased
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Component, Linear, block

# transformers 5.23: modeling_encoder_decoder.py, modeling_vision_encoder_decoder.py,
# modeling_speech_encoder_decoder.py
# and, for nougat, the same class with another config: configuration_nougat.py
MODEL_TYPES = ("encoder-decoder", "vision-encoder-decoder", "speech-encoder-decoder", "nougat")

_COUNTED: dict[str, Component] = {
    "vision-encoder-decoder": "vision",
    "speech-encoder-decoder": "audio",
    "nougat": "vision",
}


class EncoderDecoder(Sizes):
    projected: bool


def spec(c: Config) -> Spec[EncoderDecoder]:
    encoder, decoder = families.part(c, "encoder"), families.part(c, "decoder")
    if "causal_lm" not in decoder.heads:
        raise UnknownArchitecture(f"{c.where}: decoder: no class of {decoder.family} generates text by itself.")
    width = c.part("decoder").int("cross_attention_hidden_size", default=None)
    if width is not None and width != encoder.hidden:
        text = f"cross_attention_hidden_size is {width:,}, and the encoder is {encoder.hidden:,} wide."
        raise c.error("contradiction", text, "decoder.cross_attention_hidden_size", "Correct one of them.")
    out = encoder.output if c.family == "speech-encoder-decoder" else encoder.hidden
    sizes = EncoderDecoder.read(c, projected=width is None and out != decoder.hidden)
    model = keys.composite(c, decoder, {"encoder": encoder}, key="decoder", heads=("Model",))
    return model.replace(tied=decoder.tied, uncounted=keys.ACROSS).having(sizes)


def blueprint(s: Spec[EncoderDecoder]) -> Block:
    encoder, decoder = s.part("encoder"), s.part("text")
    tower = families.tree(encoder.replace(head="base")).replace(component=_COUNTED.get(s.family), repeats=0)
    across = Linear(encoder.hidden, s.hidden, True, "projector")
    return block(
        encoder=rebased(tower, "encoder"),
        decoder=rebased(families.tree(decoder.replace(head="causal_lm")), "decoder"),
        enc_to_dec_proj=across if s.own.projected else None,
    )
