"""data2vec for speech: wav2vec 2.0 with several convolutions for positions (arXiv:2202.03555)."""

from hfcount.architectures import keys
from hfcount.architectures.components.speech import UNHEARD, Speech, speech
from hfcount.architectures.components.waveforms import Waveform, waveform_layer
from hfcount.architectures.layers import altered, layer_norm, stack
from hfcount.architectures.layers.temporal import conv
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("data2vec-audio",)  # transformers 5.23: modeling_data2vec_audio.py
IGNORED = (*UNHEARD, "feat_extract_norm")


class Data2VecAudio(Record):
    """Sizes specific to data2vec for speech: for positions, so many convolutions."""

    waveform: Waveform
    speech: Speech
    positions: int
    conv_pos_kernel_size: int


def spec(c: Config) -> Spec[Data2VecAudio]:
    mixer = keys.multi_head(c, c.int("hidden_size"), c.int("num_attention_heads"))
    positions = keys.dim("N_p", c.int("num_conv_pos_embeddings", maximum=MAX_LAYERS))
    kernel = keys.dim("w_p", c.int("conv_pos_kernel_size"))
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=True))
    waveform = Waveform.read(c, each_normed=True).replace(num_conv_pos_embeddings=positions)
    body = speech(c, layer)
    sizes = Data2VecAudio(waveform=waveform, speech=body.own, positions=positions, conv_pos_kernel_size=kernel)
    return body.having(sizes)


def blueprint(s: Spec[Data2VecAudio]) -> Block:
    d, sizes, waves = s.hidden, s.own, s.own.waveform
    layer = block(conv=conv(d // waves.num_conv_pos_embedding_groups, d, sizes.conv_pos_kernel_size))
    projection = Linear(waves.width, d, True)
    body = block(
        masked_spec_embed=waves.mask(d),
        feature_extractor=waves.filters(),
        feature_projection=block("embedding", layer_norm=layer_norm(waves.width), projection=projection),
        encoder=block(
            pos_conv_embed=block("embedding", layers=Repeat(Indices.below(sizes.positions), layer)),
            layer_norm=layer_norm(d),
            layers=stack(s.layers, lambda layer: waveform_layer(d, layer)),
        ),
    )
    return sizes.speech.heads(s, "data2vec_audio", altered(body, adapter=sizes.speech.adapted(s)))
