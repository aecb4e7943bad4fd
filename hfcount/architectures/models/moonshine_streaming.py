"""Moonshine Streaming: Moonshine's decoder over an encoder that hears as the speaker speaks (model card)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import embedding, layer_norm, lm_head, mlp, pre_norm, stack
from hfcount.architectures.layers.classic import mha
from hfcount.architectures.layers.temporal import conv
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("moonshine_streaming",)  # transformers 5.23: modeling_moonshine_streaming.py
IGNORED = ("pad_head_dim_to_multiple_of",)


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), out_bias=False)
    rows, parts = c.int("max_position_embeddings"), {"encoder": families.part(c, "encoder_config")}
    layer, heads = Layer(mixer=mixer, ffn=keys.dense(c, bias=True)), ("ForConditionalGeneration", "Model")
    return keys.decoder_spec(c, layer, heads=heads, positions=rows, parts=parts, uncounted=keys.ACROSS)


def blueprint(s: Spec) -> Block:
    d, encoder = s.hidden, s.part("encoder")

    def norm(width: int) -> Block:
        return layer_norm(width, bias=False)

    def layer_block(layer: Layer) -> Block:
        attention, width = mha(d, layer.attention, "o_proj"), layer.dense.width
        gated = block("mlp", fc1=Linear(d, 2 * width, True), fc2=Linear(width, d, True))
        usual = pre_norm(d, norm, self_attn=attention, mlp=gated).children
        return Block({**usual, "encoder_attn": attention, "final_layernorm": norm(d)})

    decoder = block(
        embed_tokens=embedding(s.vocab, d),
        layers=stack(s.layers, layer_block),
        norm=norm(d),
        pos_emb=embedding(s.positions or 0, encoder.hidden),
        proj=Linear(encoder.hidden, d, component="projector") if encoder.hidden != d else None,
    )
    body = block(encoder=families.tree(encoder), decoder=decoder)
    return body if s.head == "base" else block(model=body, proj_out=lm_head(s, "model.decoder.embed_tokens.weight"))


class MoonshineStreamingEncoder(Sizes):
    frame: int


def encoder_spec(c: Config) -> Spec[MoonshineStreamingEncoder]:
    """Moonshine Streaming's encoder: short frames of the waveform, two convolutions, layers with windows (model
    card).
    """
    bias = c.bool("attention_bias", default=False)
    frame = round(c.int("sample_rate") * c.number("frame_ms") / 1000)
    if frame < 1:
        raise c.error(
            "out-of-range", "a frame of frame_ms holds not one of the sample_rate samples.", "frame_ms", "Correct one."
        )
    layer = Layer(mixer=keys.attention(c, bias=bias), ffn=keys.dense(c, bias=True))
    count = keys.layer_count(c)
    sizes = MoonshineStreamingEncoder.read(
        c, frame=keys.derived_dim(c, "t_f", frame, "{sample_rate} · {frame_ms} / 1000, rounded")
    )
    if (windows := c.length("sliding_windows")) is not None and windows < count:
        raise c.unequal("sliding_windows", windows, "num_hidden_layers", count)
    return keys.encoding(c, keys.uniform(layer, count), hidden=c.int("hidden_size")).having(sizes)


def encoder_blueprint(s: Spec[MoonshineStreamingEncoder]) -> Block:
    d = s.hidden

    def norm(width: int) -> Block:
        return block("norm", gamma=Tensor((width,)))

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, norm, self_attn=mha(d, layer.attention, "o_proj"), mlp=mlp(d, layer.dense.width))

    # Kernels of 5 frames, and twice the width between.
    embedder = block(
        "embedding",
        comp=block(log_k=Tensor(())),
        conv1=conv(d, 2 * d, 5),
        conv2=conv(2 * d, d, 5),
        linear=Linear(s.own.frame, d),
    )
    return block(embedder=embedder, layers=stack(s.layers, layer_block), final_norm=norm(d))


PARTS = (
    families.Family(("moonshine_streaming_encoder",), encoder_spec, encoder_blueprint, ignored=("sliding_windows",)),
)
