"""Moonshine Streaming's encoder: short frames of the waveform, two convolutions, layers with windows (model card)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import mlp, pre_norm, stack
from hfcount.parts.classic import mha
from hfcount.parts.temporal import conv
from hfcount.spec import Layer, Sizes, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("moonshine_streaming_encoder",)  # transformers 5.23: modeling_moonshine_streaming.py
IGNORED = ("sliding_windows",)


class MoonshineStreamingEncoder(Sizes):
    """What this architecture alone has."""

    frame: int


def spec(c: Config) -> Spec[MoonshineStreamingEncoder]:
    bias = c.bool("attention_bias", default=False)
    frame = round(c.int("sample_rate") * c.number("frame_ms") / 1000)
    if frame < 1:
        raise c.error("a frame of frame_ms holds not one of the sample_rate samples.", "frame_ms", "Correct one.")
    layer = Layer(mixer=keys.attention(c, bias=bias), ffn=keys.dense(c, bias=True))
    count = keys.layer_count(c)
    own = MoonshineStreamingEncoder.read(
        c, frame=keys.derived_dim(c, "t_f", frame, "{sample_rate} · {frame_ms} / 1000, rounded")
    )
    if (windows := c.length("sliding_windows")) is not None and windows < count:
        said = f"sliding_windows has {windows:,} entries and num_hidden_layers is {count:,}."
        raise c.error(said, "sliding_windows", "Correct one.", expected=int(count), observed=int(windows))
    return keys.encoding(c, keys.uniform(layer, count), hidden=c.int("hidden_size")).having(own)


def blueprint(s: Spec[MoonshineStreamingEncoder]) -> Block:
    d = s.hidden

    def norm(width: int) -> Block:
        return block("norm", gamma=Tensor((width,)))

    def layer(one: Layer) -> Block:
        return pre_norm(d, norm, self_attn=mha(d, one.attention, "o_proj"), mlp=mlp(d, one.dense.width))

    # Kernels of 5 frames, and twice the width between.
    embedder = block(
        "embedding",
        comp=block(log_k=Tensor(())),
        conv1=conv(d, 2 * d, 5),
        conv2=conv(2 * d, d, 5),
        linear=Linear(s.own.frame, d),
    )
    return block(embedder=embedder, layers=stack(s.layers, layer), final_norm=norm(d))
