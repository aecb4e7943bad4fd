"""Parts of normalising flows over sequences, and WaveNet's layers (arXiv:2106.06103, arXiv:1609.03499)."""

from collections.abc import Mapping

from hfcount.parts.codecs import normalised
from hfcount.parts.layers import chain
from hfcount.parts.norms import layer_norm
from hfcount.parts.temporal import conv
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, Tensor, block, buffer


def wavenet(d: int, layers: int, kernel: int, condition: int) -> Block:
    """WaveNet, with normalised weights.

    Tensors: in_layers (2·d, d, kernel) and res_skip_layers (2·d, d, 1), whose last makes only d; with a `condition`, of
    that width, cond_layer (2·d·N, condition, 1).
    """
    last = int(layers) - 1
    through = Repeat(Indices(range(last), layers - 1), normalised(d, 2 * d, 1))
    return block(
        cond_layer=normalised(condition, 2 * d * layers, 1) if condition else None,
        in_layers=Repeat(Indices.below(layers), normalised(d, 2 * d, kernel)),
        res_skip_layers=(through, Repeat(Indices.of([last]), normalised(d, d, 1))),
    )


def separable(d: int, layers: int, kernel: int) -> Block:
    """Dilated convolutions of each channel by itself, and of all channels.

    Tensors: convs_dilated (d, 1, kernel), convs_pointwise (d, d, 1), norms_1 and norms_2 (d), each of `layers`.
    """
    every = Indices.below(layers)
    return block(
        convs_dilated=Repeat(every, conv(1, d, kernel)),
        convs_pointwise=Repeat(every, conv(d, d, 1)),
        norms_1=Repeat(every, layer_norm(d)),
        norms_2=Repeat(every, layer_norm(d)),
    )


def affine(channels: int) -> Block:
    """A flow that shifts and scales. Tensors: translate and log_scale (channels, 1)."""
    own = Tensor((channels, 1))
    return block(translate=own, log_scale=own)


def spline(d: int, channels: int, bins: int, through: Block) -> Block:
    """A flow by splines of `bins` pieces. Tensors: conv_pre (d, C, 1), `through`, conv_proj (C·(3·bins - 1), d, 1)."""
    out = conv(d, channels * (3 * bins - 1), 1)
    return block(conv_pre=conv(channels, d, 1), conv_dds=through, conv_proj=out)


def flow_head(of: Mapping[str, int], inputs: int) -> Block:
    """A head that makes the next latent by a flow (arXiv:2509.06926); `of` is what hfcount.keys.flow_head gives.

    Tensors: input_proj (d_h, d_l), cond_proj (d_h, inputs), timestep_embeddings with freqs (d_t/2), fc1 (d_h, d_t), fc2
    (d_h, d_h) and norm (d_h), layers with norm, fc1, fc2 and adaln_proj (3·d_h, d_h), final_layer with adaln_proj
    (2·d_h, d_h) and proj (d_l, d_h).
    """
    d, latent, wide = of["flow.hidden_size"], of["flow.latent_dim"], of["flow.frequency_embedding_size"]
    square = Linear(d, d, True)
    time = block(
        freqs=buffer(wide // 2), fc1=Linear(wide, d, True), fc2=square, norm=block("norm", weight=Tensor((d,)))
    )
    layer = block(norm=layer_norm(d), fc1=square, fc2=square, adaln_proj=Linear(d, 3 * d, True))
    return block(
        "other",
        input_proj=Linear(latent, d, True),
        cond_proj=Linear(inputs, d, True),
        timestep_embeddings=Repeat(Indices.below(of["flow.times"]), time),
        layers=Repeat(Indices.below(of["flow.num_hidden_layers"]), layer),
        final_layer=block(adaln_proj=Linear(d, 2 * d, True), proj=Linear(d, latent, True)),
    )


def loss_weighting(of: Mapping[str, int]) -> Block:
    """What weighs the loss of a flow by its two times. Tensors: layers (d_w, 2), (d_w, d_w), proj (1, d_w)."""
    wide = of["flow.weighing"]
    layers = chain(2, wide, wide, of["flow.weighed"], lambda left, right: Linear(left, right, True))
    return block("other", layers=layers, proj=Linear(wide, 1, True))
