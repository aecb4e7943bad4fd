"""VITS: text to a waveform by normalising flows and HiFi-GAN (arXiv:2106.06103)."""

from hfcount.architectures import keys
from hfcount.architectures.components.flows import affine, separable
from hfcount.architectures.components.vocoders import HiFiGAN
from hfcount.architectures.layers import altered, embedding, layer_norm, stack
from hfcount.architectures.layers.classic import mha
from hfcount.architectures.layers.conversions import WEIGHT_NORM
from hfcount.architectures.layers.temporal import conv, normalised
from hfcount.mapper import Config, Sizes, count, flag, part, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Repeat, Tensor, block

MODEL_TYPES = ("vits",)  # transformers 5.23: modeling_vits.py
IGNORED = ("upsample_rates", "wavenet_dilation_rate", "sampling_rate", "resblock_dilation_sizes")
SPELLINGS = WEIGHT_NORM


class Durations(Sizes):
    """The predictor of durations: a stochastic one by flows, or a plain one."""

    stochastic: bool = flag("use_stochastic_duration_prediction")
    kernel: int = count("w_d", "duration_predictor_kernel_size")
    width: int = count("C_f", "duration_predictor_filter_channels")
    depth_separable_channels: int = count("C_d")
    depth_separable_num_layers: int = count("N_d")
    bins: int = count("b_f", "duration_predictor_flow_bins")
    flows: int = count("N_f", "duration_predictor_num_flows")


class Vits(Sizes):
    vocoder: HiFiGAN = part(HiFiGAN)
    durations: Durations = part(Durations)
    ffn_kernel_size: int = count("w")
    flow_size: int = count("d_f")
    spectrogram_bins: int = count("b")
    num_speakers: int = count("n_s")
    speaker_embedding_size: int = size("d_s", minimum=0)
    window_size: int = size("t_w", minimum=0)
    prior_encoder_num_flows: int = count("N_p")
    prior_encoder_num_wavenet_layers: int = count("N_w")
    posterior_encoder_num_wavenet_layers: int = count("N_q")
    wavenet_kernel_size: int = count("w_w")


def spec(c: Config) -> Spec[Vits]:
    d, bias = c.int("hidden_size"), c.bool("use_bias")
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), bias=bias)
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("ffn_dim"), bias=True))
    return keys.decoder_spec(c, layer, hidden=d, heads=("Model",)).replace(causal=False).having(Vits.read(c))


def blueprint(s: Spec[Vits]) -> Block:
    d, sizes = s.hidden, s.own
    half, speaker = sizes.flow_size // 2, sizes.speaker_embedding_size

    def layer_block(layer: Layer) -> Block:
        distances = Tensor((1, 2 * sizes.window_size + 1, layer.attention.head_dim)) if sizes.window_size else None
        width = layer.dense.width
        return block(
            attention=altered(mha(d, layer.attention), emb_rel_k=distances, emb_rel_v=distances),
            layer_norm=layer_norm(d),
            feed_forward=block(
                "mlp", conv_1=conv(d, width, sizes.ffn_kernel_size), conv_2=conv(width, d, sizes.ffn_kernel_size)
            ),
            final_layer_norm=layer_norm(d),
        )

    encoder = block(
        embed_tokens=embedding(s.vocab, d),
        encoder=block(layers=stack(s.layers, layer_block)),
        project=conv(d, 2 * sizes.flow_size, 1, component="projector"),
    )
    waves = _wavenet(d, sizes.prior_encoder_num_wavenet_layers, sizes.wavenet_kernel_size, speaker)
    coupling = block(conv_pre=conv(half, d, 1), wavenet=waves, conv_post=conv(d, half, 1))
    posterior = block(
        "other",
        conv_pre=conv(sizes.spectrogram_bins, d, 1),
        wavenet=_wavenet(d, sizes.posterior_encoder_num_wavenet_layers, sizes.wavenet_kernel_size, speaker),
        conv_proj=conv(d, 2 * sizes.flow_size, 1),
    )
    decoder = sizes.vocoder.tensors(sizes.flow_size, last_bias=False)
    return block(
        text_encoder=encoder,
        flow=block("other", flows=Repeat(Indices.below(sizes.prior_encoder_num_flows), coupling)),
        decoder=altered(decoder, cond=conv(speaker, sizes.vocoder.channels, 1)) if speaker else decoder,
        duration_predictor=_predictor(d, sizes.durations, speaker),
        embed_speaker=embedding(sizes.num_speakers, speaker) if sizes.num_speakers > 1 else None,
        posterior_encoder=posterior,
    )


def _predictor(d: int, sizes: Durations, speaker: int) -> Block:
    speaker_conv = conv(speaker, d, 1) if speaker else None
    if not sizes.stochastic:
        return block(
            "other",
            conv_1=conv(d, sizes.width, sizes.kernel),
            norm_1=layer_norm(sizes.width),
            conv_2=conv(sizes.width, sizes.width, sizes.kernel),
            norm_2=layer_norm(sizes.width),
            proj=conv(sizes.width, 1, 1),
            cond=speaker_conv,
        )
    square, dds = conv(d, d, 1), separable(d, sizes.depth_separable_num_layers, sizes.kernel)
    curved = _spline(d, sizes.depth_separable_channels // 2, sizes.bins, dds)
    later = Repeat(Indices(range(1, int(sizes.flows) + 1), sizes.flows), curved)
    flows = (Repeat(Indices.below(1), affine(sizes.depth_separable_channels)), later)
    return block(
        "other",
        conv_pre=square,
        conv_proj=square,
        conv_dds=dds,
        cond=speaker_conv,
        flows=flows,
        post_conv_pre=conv(1, d, 1),
        post_conv_proj=square,
        post_conv_dds=dds,
        post_flows=flows,
    )


def _wavenet(d: int, layers: int, kernel: int, condition: int) -> Block:
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


def _spline(d: int, channels: int, bins: int, through: Block) -> Block:
    """A flow by splines of `bins` pieces. Tensors: conv_pre (d, C, 1), `through`, conv_proj (C·(3·bins - 1), d, 1)."""
    out = conv(d, channels * (3 * bins - 1), 1)
    return block(conv_pre=conv(channels, d, 1), conv_dds=through, conv_proj=out)
