"""Qwen3-ASR's and Qwen3-Omni's encoder: three convolutions, then Whisper's layers (arXiv:2601.21337)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import layer_norm, stack
from hfcount.parts.seq2seq import bart_layer
from hfcount.parts.vision import convolution
from hfcount.spec import Dense, Layer, Spec
from hfcount.tree.nodes import Block, Linear

# transformers 5.23: modeling_qwen3_asr.py, modeling_qwen3_omni_moe.py
MODEL_TYPES = ("qwen3_asr_encoder", "qwen3_omni_moe_audio_encoder")
IGNORED = ("conv_chunksize", "max_source_positions", "n_window", "n_window_infer")


def spec(c: Config) -> Spec:
    d, width = c.int("d_model"), Dense(width=c.int("encoder_ffn_dim"), bias=True)
    layer = Layer(mixer=keys.multi_head(c, d, c.int("encoder_attention_heads")), ffn=width)
    bins = c.int("num_mel_bins")
    for _ in range(3):  # each convolution halves the bands, rounded up
        bins = (bins + 1) // 2
    traits: dict[str, int] = {
        "channels": keys.sized("C", c.int("downsample_hidden_size")),
        "bands": keys.sized("b", bins),
    }
    traits["projected"] = c.family == "qwen3_omni_moe_audio_encoder"
    layers, out = keys.alike(layer, c.int("encoder_layers", maximum=MAX_LAYERS)), c.int("output_dim")
    return keys.encoding(c, layers, hidden=d, out=out, traits=traits)


def blueprint(s: Spec) -> Block:
    d, channels = s.hidden, s.traits["channels"]
    shapes = {"conv2d1": (1, channels), "conv2d2": (channels, channels), "conv2d3": (channels, channels)}
    front = {name: Block(convolution(*sides, 3).children, "embedding") for name, sides in shapes.items()}
    projected = {"proj1": Linear(d, d, True, "projector"), "proj2": Linear(d, s.output, True, "projector")}
    return Block(
        {
            **front,
            "conv_out": Linear(channels * s.traits["bands"], d, component="embedding"),
            "layers": stack(s.layers, lambda one: bart_layer(d, one, False)),
            "ln_post": layer_norm(d),
            **(projected if s.traits["projected"] else {}),
        }
    )
