"""data2vec for speech: wav2vec 2.0 with several convolutions for positions (arXiv:2202.03555)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import altered, layer_norm, stack
from hfcount.parts.audio import filters, last_filter, masked, waveform_adapter, waveform_layer
from hfcount.parts.speech import speech_heads
from hfcount.parts.temporal import conv
from hfcount.spec import Layer, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("data2vec-audio",)  # transformers 5.23: modeling_data2vec_audio.py
IGNORED = (*keys.UNHEARD, "feat_extract_norm")


def spec(c: Config) -> Spec:
    mixer = keys.multi_head(c, c.int("hidden_size"), c.int("num_attention_heads"))
    count = c.int("num_conv_pos_embeddings", maximum=MAX_LAYERS)
    own = {
        "num_conv_pos_embeddings": keys.sized("N_p", count),
        "conv_pos_kernel_size": keys.sized("w_p", c.int("conv_pos_kernel_size")),
        "each_normed": True,
    }
    return keys.speech(c, Layer(mixer=mixer, ffn=keys.dense(c, bias=True)), keys.waveform(c) | own)


def blueprint(s: Spec) -> Block:
    d, of, before = s.hidden, s.traits, last_filter(s)
    one = block(conv=conv(d // of["num_conv_pos_embedding_groups"], d, of["conv_pos_kernel_size"]))
    body = block(
        masked_spec_embed=masked(s),
        feature_extractor=filters(s),
        feature_projection=block("embedding", layer_norm=layer_norm(before), projection=Linear(before, d, True)),
        encoder=block(
            pos_conv_embed=block("embedding", layers=Repeat(Indices.below(of["num_conv_pos_embeddings"]), one)),
            layer_norm=layer_norm(d),
            layers=stack(s.layers, lambda one: waveform_layer(d, one)),
        ),
    )
    body = altered(body, adapter=waveform_adapter(s) if "num_adapter_layers" in of else None)
    return speech_heads(s, "data2vec_audio", body)
