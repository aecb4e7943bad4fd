"""Omnilingual ASR: layers over a waveform, projected into a language model (arXiv:2511.09690)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.waveforms import Waveform, waveform_layer
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.architectures.layers.temporal import conv
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("omniasr",)  # transformers 5.24: modeling_omniasr.py


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"audio": families.part(c, "audio_config")}
    model = keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model"))
    return model.replace(tied=False)  # the head is its own, whatever the config says


def blueprint(s: Spec) -> Block:
    projector = Linear(s.part("audio").hidden, s.hidden, True, "projector")
    tower = families.tower(s, "audio")
    return towers_in_model(s, families.base(s), audio_tower=tower, multi_modal_projector=projector)


def audio_spec(c: Config) -> Spec[Waveform]:
    """Omnilingual ASR's encoder: wav2vec 2.0's with a norm behind each convolution and behind the layers."""
    d, waveform = c.int("hidden_size"), Waveform.read(c, each_normed=True)
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"))
    layers = keys.uniform(Layer(mixer=mixer, ffn=keys.dense(c, bias=True)), keys.layer_count(c))
    return keys.encoding(c, layers, hidden=d).having(waveform)


def audio_blueprint(s: Spec[Waveform]) -> Block:
    d, waveform = s.hidden, s.own
    wide, groups = waveform.num_conv_pos_embeddings, waveform.num_conv_pos_embedding_groups
    return block(
        subsampling=block(
            "embedding",
            **waveform.filters().children,
            layer_norm=layer_norm(waveform.width),
            projection=Linear(waveform.width, d, True),
        ),
        encode_positions=block("embedding", conv=conv(d // groups, d, wide)),
        layers=stack(s.layers, lambda layer: waveform_layer(d, layer)),
        layer_norm=layer_norm(d),
    )


PARTS = (families.Family(("omniasr_audio",), audio_spec, audio_blueprint),)
