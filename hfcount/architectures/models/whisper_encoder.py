"""Whisper's encoder of spectrograms, alone or as an audio tower; keys have no biases (arXiv:2212.04356)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import fc, positions
from hfcount.mapper import MAX_LAYERS, Config, Sizes
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# transformers 5.23: modeling_qwen2_audio.py, modeling_voxtral.py, modeling_audioflamingo3.py,
# modeling_moss_transcribe_diarize.py
MODEL_TYPES = (
    "whisper_encoder",
    "qwen2_audio_encoder",
    "voxtral_encoder",
    "audioflamingo3_encoder",
    "moss_transcribe_diarize_audio",
)

# What each size is called, by towers and by Whisper.
_NAMES = (
    ("hidden_size", "d_model"),
    ("intermediate_size", "encoder_ffn_dim"),
    ("num_attention_heads", "encoder_attention_heads"),
    ("num_hidden_layers", "encoder_layers"),
    ("num_mel_bins",),
    ("max_source_positions",),
)


class WhisperEncoder(Sizes):
    num_mel_bins: int


def spec(c: Config) -> Spec[WhisperEncoder]:
    known = [names[-1:] if c.family == "whisper_encoder" else names for names in _NAMES]
    sizes = [c.int(*names, maximum=MAX_LAYERS) for names in known]
    d, width, heads, depth, bins, rows = sizes
    alone = c.strs("architectures")[:1] == ["WhisperForCausalLM"]  # the decoder: this is not built
    layer = Layer(
        mixer=keys.multi_head(c, d, heads, indivisible="run" if alone else "refused"),
        ffn=Dense(width=width, bias=True),
    )
    model_sizes = WhisperEncoder.read(c, num_mel_bins=keys.dim("b", bins))
    return keys.encoding(c, keys.uniform(layer, depth), hidden=d, positions=rows).having(model_sizes)


def blueprint(s: Spec[WhisperEncoder]) -> Block:
    d = s.hidden
    square = Linear(d, d, bias=True)

    def layer_block(layer: Layer) -> Block:
        attention = block("attention", q_proj=square, k_proj=Linear(d, d), v_proj=square, out_proj=square)
        return block(
            self_attn=attention,
            self_attn_layer_norm=layer_norm(d),
            final_layer_norm=layer_norm(d),
            **fc(d, layer.dense.width),
        )

    def convolution(inputs: int) -> Block:
        return block("embedding", weight=Tensor((d, inputs, 3)), bias=Tensor((d,)))

    return block(
        conv1=convolution(s.own.num_mel_bins),
        conv2=convolution(d),
        embed_positions=positions(s),
        layers=stack(s.layers, layer_block),
        layer_norm=layer_norm(d),
    )
