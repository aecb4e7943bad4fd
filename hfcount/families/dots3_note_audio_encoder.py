"""dots3-note's audio tower: convolutions that shorten a spectrogram, gated layers, an adapter."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, rms_norm, stack
from hfcount.parts.vision import convolution
from hfcount.spec import Dense, Layer, Sizes, Spec, size
from hfcount.tree.nodes import Block, Linear, Node, block

MODEL_TYPES = ("dots3_note_audio_encoder",)  # transformers 5.23: modeling_dots3_note.py
IGNORED = ("adapter_input_size", "conv_output_size", "hop_length", "samples_per_token", "sampling_rate")
SPELLINGS = {
    r"\baudio_adapter\.proj\.0\.": "adapter.norm.",
    r"\baudio_adapter\.proj\.1\.": "adapter.fc1.",
    r"\baudio_adapter\.proj\.3\.": "adapter.fc2.",
    r"\bdots_encoder\.speech_encoder\.conv_out\.": "conv_stem.conv_out.",
    r"\bdots_encoder\.speech_encoder\.conv2d1\.": "conv_stem.convs.0.",
    r"\bdots_encoder\.speech_encoder\.conv2d2\.": "conv_stem.convs.1.",
    r"\bdots_encoder\.speech_encoder\.conv2d3\.": "conv_stem.convs.2.",
    r"\bdots_encoder\.speech_encoder\.": "",
    r"\b(layers\.\d+\.self_attn)\.out_proj\.": r"\1.o_proj.",
    r"\bself_attn_layer_norm\.": "input_layernorm.",
    r"\bfinal_layer_norm\.": "post_attention_layernorm.",
    r"\b(layers\.\d+)\.fc1\.": r"\1.mlp.gate_up_proj.",
    r"\b(layers\.\d+)\.fc2\.": r"\1.mlp.down_proj.",
}

_HALVES = 3  # convolutions, each of which halves the bins


class Dots3NoteAudioEncoder(Sizes):
    """What this architecture alone has."""

    downsample_hidden_size: int = size("C")
    left: int


def spec(c: Config) -> Spec[Dots3NoteAudioEncoder]:
    older = c.sub("whisper_config") or c.as_part()
    d = older.int("d_model", default=None) or c.int("hidden_size")
    heads = older.int("encoder_attention_heads", default=None) or c.int("num_attention_heads")
    width = older.int("encoder_ffn_dim", default=None) or c.int("intermediate_size")
    depth = older.int("encoder_layers", default=None) or keys.layer_count(c)
    bins = older.int("num_mel_bins", default=None) or c.int("feature_size")
    mixer = keys.multi_head(c, d, heads, bias=c.bool("attention_bias", default=True))
    left = (bins + (1 << _HALVES) - 1) // (1 << _HALVES)
    out = c.int("whisper_adapter_out_dim", "adapter_output_size", default=None) or c.int("adapter_out_dim")
    own = Dots3NoteAudioEncoder.read(c, left=left)
    layers = keys.uniform(Layer(mixer=mixer, ffn=Dense(width=width, bias=True)), depth)
    return keys.encoding(c, layers, hidden=d, out=out).having(own)


def blueprint(s: Spec[Dots3NoteAudioEncoder]) -> Block:
    d, out, channels = s.hidden, s.output, s.own.downsample_hidden_size

    def layer(one: Layer) -> Block:
        bias, width = one.attention.qkv_bias, one.dense.width
        own, plain = Linear(d, d, bias), Linear(d, d)
        return block(
            self_attn_layer_norm=rms_norm(d),
            self_attn=block("attention", q_proj=own, k_proj=plain, v_proj=own, out_proj=own),
            final_layer_norm=rms_norm(d),
            fc1=Linear(d, 2 * width, True, "mlp"),
            fc2=Linear(width, d, True, "mlp"),
        )

    again = convolution(channels, channels, 3)
    encoder = block(
        conv2d1=convolution(1, channels, 3),
        conv2d2=again,
        conv2d3=again,
        conv_out=Linear(channels * s.own.left, d, component="embedding"),
        layers=stack(s.layers, layer),
        layer_norm=rms_norm(d),
    )
    adapter: dict[str, Node] = {"0": layer_norm(d), "1": Linear(d, out, True), "3": Linear(out, out, True)}
    return block(dots_encoder=block(speech_encoder=encoder), audio_adapter=block("projector", proj=Block(adapter)))
