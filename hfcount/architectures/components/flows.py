"""Normalising flows over sequences, WaveNet's layers, and heads that make the next latent by a flow."""

from hfcount.architectures.layers.norms import layer_norm
from hfcount.architectures.layers.stacks import chain
from hfcount.architectures.layers.temporal import conv
from hfcount.mapper import Config, Sizes, count, derived, size
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block, buffer


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
    offsets = Tensor((channels, 1))
    return block(translate=offsets, log_scale=offsets)


def _times(c: Config) -> int:
    return 2 if c.choice("flow_type", ("lsd", "drifting"), "lsd") == "lsd" else 0


class FlowHead(Sizes):
    """A head that generates the next latent by a flow (arXiv:2509.06926); kind `lsd` reads two times.

    `times` is the number of time inputs; `weighing` and `weighed` are the width and the depth of the loss weighting.
    """

    hidden_size: int = count("d_h")
    num_hidden_layers: int = count("N_h")
    latent_dim: int = count("d_l")
    condition_dim: int = count("d_c")
    frequency_embedding_size: int = count("d_t")
    times: int = derived(_times)
    weighing: int = size("d_w", "loss_weighting_hidden_size", absent=32)
    weighed: int = size("N_w", "loss_weighting_num_layers", absent=3)

    def tensors(self) -> Block:
        """Its tensors.

        input_proj (d_h, d_l), cond_proj (d_h, d_c), timestep_embeddings with freqs (d_t/2), fc1 (d_h, d_t), fc2 (d_h,
        d_h) and norm (d_h), layers with norm, fc1, fc2 and adaln_proj (3·d_h, d_h), final_layer with adaln_proj (2·d_h,
        d_h) and proj (d_l, d_h).
        """
        d, wide = self.hidden_size, self.frequency_embedding_size
        square = Linear(d, d, True)
        time = block(
            freqs=buffer(wide // 2), fc1=Linear(wide, d, True), fc2=square, norm=block("norm", weight=Tensor((d,)))
        )
        layer = block(norm=layer_norm(d), fc1=square, fc2=square, adaln_proj=Linear(d, 3 * d, True))
        return block(
            "other",
            input_proj=Linear(self.latent_dim, d, True),
            cond_proj=Linear(self.condition_dim, d, True),
            timestep_embeddings=Repeat(Indices.below(self.times), time),
            layers=Repeat(Indices.below(self.num_hidden_layers), layer),
            final_layer=block(adaln_proj=Linear(d, 2 * d, True), proj=Linear(d, self.latent_dim, True)),
        )

    def loss_weighting(self) -> Block:
        """The network that weights the loss by the two times. Tensors: layers (d_w, 2), (d_w, d_w), proj (1, d_w)."""
        wide = self.weighing
        layers = chain(2, wide, wide, self.weighed, lambda left, right: Linear(left, right, True))
        return block("other", layers=layers, proj=Linear(wide, 1, True))
