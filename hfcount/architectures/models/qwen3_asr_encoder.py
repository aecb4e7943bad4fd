"""Qwen3-ASR's and Qwen3-Omni's encoder: three convolutions, then Whisper's layers (arXiv:2601.21337)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.seq2seq import bart_layer
from hfcount.architectures.layers.vision import convolution
from hfcount.mapper import MAX_LAYERS, Config, Sizes, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear

# transformers 5.23: modeling_qwen3_asr.py, modeling_qwen3_omni_moe.py
MODEL_TYPES = ("qwen3_asr_encoder", "qwen3_omni_moe_audio_encoder")
IGNORED = ("conv_chunksize", "max_source_positions", "n_window", "n_window_infer")


class Qwen3AsrEncoder(Sizes):
    channels: int = size("C", "downsample_hidden_size")
    bands: int
    projected: bool


def spec(c: Config) -> Spec[Qwen3AsrEncoder]:
    d, width = c.int("d_model"), Dense(width=c.int("encoder_ffn_dim"), bias=True)
    layer = Layer(mixer=keys.multi_head(c, d, c.int("encoder_attention_heads")), ffn=width)
    bins = c.int("num_mel_bins")
    for _ in range(3):  # each convolution halves the bands, rounded up
        bins = (bins + 1) // 2
    sizes = Qwen3AsrEncoder.read(c, bands=keys.dim("b", bins), projected=c.family == "qwen3_omni_moe_audio_encoder")
    layers, out = keys.uniform(layer, c.int("encoder_layers", maximum=MAX_LAYERS)), c.int("output_dim")
    return keys.encoding(c, layers, hidden=d, out=out).having(sizes)


def blueprint(s: Spec[Qwen3AsrEncoder]) -> Block:
    d, channels = s.hidden, s.own.channels
    shapes = {"conv2d1": (1, channels), "conv2d2": (channels, channels), "conv2d3": (channels, channels)}
    front = {name: Block(convolution(*sides, 3).children, "embedding") for name, sides in shapes.items()}
    projected = {"proj1": Linear(d, d, True, "projector"), "proj2": Linear(d, s.output, True, "projector")}
    return Block(
        {
            **front,
            "conv_out": Linear(channels * s.own.bands, d, component="embedding"),
            "layers": stack(s.layers, lambda layer: bart_layer(d, layer, False)),
            "ln_post": layer_norm(d),
            **(projected if s.own.projected else {}),
        }
    )
