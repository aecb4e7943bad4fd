"""Intern-S1-Pro's encoder of time series: a transformer over each stretch, then Whisper's layers (arXiv:2508.15763)."""

from hfcount.architectures.keys import dim, tower
from hfcount.architectures.layers.classic import mha
from hfcount.architectures.layers.norms import layer_norm
from hfcount.architectures.layers.stacks import stack
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# interns1_pro_time_series.py of InternLM/lmdeploy 0.16.0
IGNORED = ("scale_embedding",)

# What the first half has, and what the second takes, whatever the config says.
_WIDTH, _INNER, _KERNEL, _PLACES, _BINS = 128, 2048, 5, 20_000, 80
_SIDE = 3


class TimeSeries(Sizes):
    """The sizes of the encoder beside Whisper's layers."""

    num_mel_bins: int = size("n_mel")
    max_source_positions: int = size("n_t")
    ts_adapt_in_dim: int = size("d_in")
    ts_adapt_out_dim: int = size("d_out")
    ts_hidden_dim: int = size("d_p")
    out_hidden_size: int = size("d_o")


def series_spec(c: Config) -> Spec[TimeSeries]:
    """Intern-S1-Pro's encoder of time series: Whisper's layers behind a transformer over each stretch."""
    ffn = Dense(width=c.int("encoder_ffn_dim"), bias=True)
    of, deep = ("encoder_attention_heads",), ("encoder_layers",)
    sizes, model = TimeSeries.read(c), tower(c, hidden=c.int("d_model"), ffn=ffn, heads=of, depth=deep)
    gives = {
        "num_mel_bins": (sizes.num_mel_bins, _BINS),
        "ts_adapt_in_dim": (sizes.ts_adapt_in_dim, dim("d_s", 2 * _WIDTH)),
        "ts_adapt_out_dim": (sizes.ts_adapt_out_dim, sizes.ts_hidden_dim),
    }
    for key, (given, needed) in gives.items():
        if given != needed:
            c.cannot_run("contradiction", f"{key} is {given:,}, but must be {needed:,}.", key, "Correct it.")
    return model.having(sizes)


def series_blueprint(s: Spec[TimeSeries]) -> Block:
    """encoder_embed, encoder and projector."""
    d, of = s.hidden, s.own

    def layer_block(layer: Layer) -> Block:
        width = layer.dense.width
        return block(
            self_attn=Block({**mha(d, layer.attention).children, "k_proj": Linear(d, d)}, "attention"),
            self_attn_layer_norm=layer_norm(d),
            fc1=Linear(d, width, True),
            fc2=Linear(width, d, True),
            final_layer_norm=layer_norm(d),
        )

    encoder = block(
        conv1=_convolution(of.num_mel_bins, d, _SIDE),
        conv2=_convolution(d, d, _SIDE),
        embed_positions=block(weight=Tensor((of.max_source_positions, d))),
        layers=stack(s.layers, layer_block),
        layer_norm=layer_norm(d),
        adapt_in=Linear(of.ts_adapt_in_dim, _BINS, True),
        adapt_out=Linear(d, of.ts_adapt_out_dim, True),
    )
    projector = block(
        layer_norm=layer_norm(of.ts_hidden_dim),
        linear_1=Linear(of.ts_hidden_dim, of.out_hidden_size, True),
        linear_2=Linear(of.out_hidden_size, of.out_hidden_size, True),
    )
    return block(encoder_embed=_stretches(), encoder=encoder, projector=projector)


def _stretches() -> Block:
    """The embedding of stretches of a series: a convolution and one layer of torch's encoder, with positions."""
    d = _WIDTH
    attention = block(in_proj_weight=Tensor((3 * d, d)), in_proj_bias=Tensor((3 * d,)), out_proj=Linear(d, d, True))
    layer = block(
        self_attn=attention,
        linear1=Linear(d, _INNER, True),
        linear2=Linear(_INNER, d, True),
        norm1=layer_norm(d),
        norm2=layer_norm(d),
    )
    return block(
        conv=_convolution(1, d, _KERNEL),
        transformer_encoder=block(layers=Block({"0": layer})),
        pos_encoder=block(pe=Tensor((_PLACES, 1, d), "buffer", "optional")),
    )


def _convolution(inputs: int, outputs: int, side: int) -> Block:
    return block(weight=Tensor((outputs, inputs, side)), bias=Tensor((outputs,)))
