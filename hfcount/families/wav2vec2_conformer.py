"""wav2vec 2.0 with conformers for layers (arXiv:2010.05171)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import altered, within
from hfcount.parts.audio import quantizer, waveform, waveform_adapter
from hfcount.parts.conversions import WEIGHT_NORM
from hfcount.parts.speech import conformer_attention, conformer_layer, speech_heads
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, block, buffer

MODEL_TYPES = ("wav2vec2-conformer",)  # transformers 5.23: modeling_wav2vec2_conformer.py
IGNORED = keys.UNHEARD
SPELLINGS = WEIGHT_NORM

_HEADS = keys.named(keys.SPEECH_HEADS, ForPreTraining="pretraining")


def spec(c: Config) -> Spec:
    d = c.int("hidden_size")
    kind = "" if c.is_null("position_embeddings_type") else c.str("position_embeddings_type")
    kernel = c.int("conv_depthwise_kernel_size")
    if kernel % 2 == 0:
        raise c.error(f"conv_depthwise_kernel_size is {kernel:,}, and must be odd.", "conv_depthwise_kernel_size")
    own = {
        "relative": kind == "relative",
        "rotary": kind == "rotary",
        "conv_depthwise_kernel_size": keys.sized("w", kernel),
    }
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), uneven="built")
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=True))
    return keys.speech(c, layer, keys.waveform(c) | own, heads=_HEADS)


def blueprint(s: Spec) -> Block:
    d, of = s.hidden, s.traits

    def layer(one: Layer) -> Block:
        attention = conformer_attention(d, one.attention, bool(of["relative"]))
        return conformer_layer(d, one, attention, of["conv_depthwise_kernel_size"], batch=True)

    body = waveform(s, layer)
    if of["rotary"]:
        half = (s.layers[0].layer.attention.head_dim + 1) // 2
        body = within(body, encoder=block(embed_positions=block("embedding", inv_freq=buffer(half))))
    body = altered(body, adapter=waveform_adapter(s) if "num_adapter_layers" in of else None)
    taught = {"pretraining": quantizer(s)} if s.head == "pretraining" else {}
    return speech_heads(s, "wav2vec2_conformer", body, **taught)
