"""wav2vec 2.0 with conformers for layers (arXiv:2010.05171)."""

from hfcount.architectures import keys
from hfcount.architectures.components.speech import SPEECH_HEADS, UNHEARD, Speech, needed, speech
from hfcount.architectures.components.waveforms import Waveform
from hfcount.architectures.layers import altered, within
from hfcount.architectures.layers.conformer import conformer_attention, conformer_layer
from hfcount.architectures.layers.conversions import WEIGHT_NORM
from hfcount.mapper import Config
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, block, buffer

MODEL_TYPES = ("wav2vec2-conformer",)  # transformers 5.23: modeling_wav2vec2_conformer.py
IGNORED = UNHEARD
SPELLINGS = WEIGHT_NORM

_HEADS = keys.named(SPEECH_HEADS, ForPreTraining="pretraining")


class Wav2Vec2Conformer(Record):
    """Sizes specific to wav2vec 2.0 with conformers; positions are `relative` as in Transformer-XL, or `rotary`."""

    waveform: Waveform
    speech: Speech
    relative: bool
    rotary: bool
    conv_depthwise_kernel_size: int


def spec(c: Config) -> Spec[Wav2Vec2Conformer]:
    d = c.int("hidden_size")
    kind = "" if c.is_null("position_embeddings_type") else c.str("position_embeddings_type")
    kernel = c.int("conv_depthwise_kernel_size")
    if kernel % 2 == 0:
        raise c.error(
            "out-of-range", f"conv_depthwise_kernel_size is {kernel:,}, but must be odd.", "conv_depthwise_kernel_size"
        )
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), indivisible="built")
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=True))
    waveform, body = Waveform.read(c), speech(c, layer, heads=_HEADS)
    sizes = Wav2Vec2Conformer(
        waveform=waveform,
        speech=body.own,
        relative=kind == "relative",
        rotary=kind == "rotary",
        conv_depthwise_kernel_size=keys.dim("w", kernel),
    )
    return body.having(sizes)


def blueprint(s: Spec[Wav2Vec2Conformer]) -> Block:
    d, sizes = s.hidden, s.own

    def layer_block(layer: Layer) -> Block:
        attention = conformer_attention(d, layer.attention, sizes.relative)
        return conformer_layer(d, layer, attention, sizes.conv_depthwise_kernel_size, batch=True)

    body = sizes.waveform.tensors(s, layer_block)
    if sizes.rotary:
        half = (s.layers[0].layer.attention.head_dim + 1) // 2
        body = within(body, encoder=block(embed_positions=block("embedding", inv_freq=buffer(half))))
    body = altered(body, adapter=sizes.speech.adapted(s))
    taught = dict[str, Block]()
    if s.head == "pretraining":
        taught["pretraining"] = needed(sizes.speech.codebooks, s.head).tensors(d, sizes.waveform.width)
    return sizes.speech.heads(s, "wav2vec2_conformer", body, **taught)
