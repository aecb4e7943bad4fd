"""TinyTimeMixer: perceptrons over ever coarser patches of a time series (arXiv:2401.03955)."""

from typing import NamedTuple

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.classic import headed, mha
from hfcount.architectures.layers.convolution import batch_norm
from hfcount.architectures.layers.series import distribution_parameters, forecast, series_patches
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import MAX_LAYERS, Config, Sizes, flag, size
from hfcount.spec import Layer, Layers, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block

# models/tinytimemixer/modeling_tinytimemixer.py and configuration_tinytimemixer.py of ibm-granite/granite-tsfm 0.3.11
MODEL_TYPES = ("tinytimemixer",)
CLASSES = ("TinyTimeMixerForPrediction", "TinyTimeMixerModel")
IGNORED = tuple(
    "combine_quantiles_via_variance decoder_dropout exogenous_channel_indices fcm_context_length fcm_gated_attn"
    " fcm_mix_layers fcm_prepend_past fcm_prepend_past_offset fcm_use_mixer forecast_loss_type huber_delta init_embed"
    " init_linear init_processing joint_loss_weight light_mode mask_value masked_context_length"
    " mq_cond_mode mq_cond_path mq_decoder_d_model mq_eps mq_hidden mq_kernel_size mq_q50_type mq_use_decoder_pool"
    " mq_use_positional num_parallel_samples patch_last penalize_large_width_ratio point_extra_weight"
    " positional_encoding_type post_init prediction_channel_indices quantile quantile_levels residual_context_length"
    " residual_loss_weight scaling self_attn_heads trend_adaptive_patching_levels trend_d_model"
    " trend_decoder_d_model trend_decoder_num_layers trend_fft_length trend_head_d_model trend_loss_weight"
    " trend_multi_scale trend_num_layers trend_patch_length trend_patch_stride trend_register_tokens use_fft_embedding"
    " width_penalty_mode distribution_output frequency_token_vocab_size decoder_adaptive_patching_levels".split()
)

_HEADS = keys.named(ForPrediction="prediction", Model="base")
_LATER = (
    *("multi_scale", "register_tokens", "fft_length", "multi_quantile_head", "decompose", "enable_base_norm_always"),
    *("enable_forecast_channel_mixing", "categorical_vocab_size_list", "gate_mode", "use_register_context_gating"),
)
"""What is not described: the parts of its third release, channels mixed once more, and categories."""
_FINEST = 4  # elements, which no level's patches may fall to


class Stage(NamedTuple):
    """Layers of one width: those of a level, or all if there are none."""

    leveled: bool
    decoding: bool


class Mixed(Record):
    """How many patches a layer mixes, each as wide as the layer."""

    patches: int
    stage: Stage


class TinyTimeMixer(Sizes):
    channels: int = size("C", "num_input_channels", absent=1)
    patch_length: int = size("P", absent=8)
    patches: int
    expansion_factor: int = size("e", absent=2)
    out: int
    decoder_width: int | None
    mixed: bool
    remixed: bool
    gated_attn: bool = flag(absent=True)
    batch_norm: bool
    placed: bool = flag("use_positional_encoding", absent=False)
    raw: bool = flag("decoder_raw_residual", absent=False)
    frequencies: int | None
    parameters: int


def spec(c: Config) -> Spec[TinyTimeMixer]:
    keys.head_of(c, _HEADS)
    c.assuming({"d_model": 16, "num_layers": 3})
    if further := [key for key in _LATER if c.value(key)]:
        raise UnknownArchitecture(f"{c.where}: TinyTimeMixer is described without {further[0]}.")
    d, side = c.int("d_model"), c.int("patch_length", default=8)
    tuned = c.bool("resolution_prefix_tuning", default=False)
    patches, out = _patches(c, side, tuned), c.int("prediction_length", default=16)
    decoding = c.bool("use_decoder", default=True)
    width = c.int("decoder_d_model", default=8) if decoding else None
    layers = _stages(c, d, patches, ("num_layers", 3), "adaptive_patching_levels", False)
    if width:
        layers += _stages(c, width, patches, ("decoder_num_layers", 8), "decoder_adaptive_patching_levels", True)
    sized = c.str("loss", default="mse") == "nll"
    shown = c.int("prediction_filter_length", default=None)
    sizes = TinyTimeMixer.read(
        c,
        patches=patches,
        out=keys.dim("t_p", shown if sized and shown else out),
        decoder_width=keys.dim("d_d", width) if width else None,
        mixed=c.str("mode", default="common_channel") == "mix_channel",
        remixed=c.str("decoder_mode", default="common_channel") == "mix_channel",
        batch_norm="batch" in c.str("norm_mlp", default="LayerNorm").lower(),
        frequencies=keys.dim("n_f", c.int("frequency_token_vocab_size", default=5)) if tuned else None,
        parameters=distribution_parameters(c) if sized else 0,
    )
    return keys.imaging(c, layers, _HEADS, hidden=d, uncounted=keys.COARSER).having(sizes)


def _patches(c: Config, side: int, tuned: bool) -> int:
    """How many patches a series has, with one for its frequency if that is `tuned`; num_patches wins if it is given."""
    step = c.int("patch_stride", default=8)
    if side != step:
        text = f"patch_length is {side:,} and patch_stride {step:,}, which must be equal."
        raise c.error("contradiction", text, "patch_stride", "Correct one of them.", expected=side, observed=step)
    number, given = series_patches(c, side, 8, length=64), c.int("num_patches", default=None)
    return keys.dim("n_p", given or number + tuned)


def _stages(c: Config, d: int, patches: int, depth: tuple[str, int], levels: str, decoding: bool) -> list[Layers]:
    count, number = (
        c.int(depth[0], default=depth[1], maximum=MAX_LAYERS),
        c.int(levels, default=0, minimum=0, maximum=64),
    )
    attended, stages = c.bool("self_attn", default=False), []
    for level in reversed(range(max(number, 1))):
        factor = 2**level if d // 2**level > _FINEST else 1
        if d % factor:
            text = f"level {level} of {levels} parts d_model {d:,} by {factor}, which does not divide it."
            raise c.error("not-divisible", text, levels)
        wide = d // factor if factor > 1 else d
        mixer = keys.multi_head(c, wide, c.int("self_attn_heads", default=1)) if attended else None
        own = Mixed(patches=patches * factor if factor > 1 else patches, stage=Stage(number > 0, decoding))
        stages.append(Layers(indices=Indices.below(count), layer=Layer(mixer=mixer, stage_width=wide, own=own)))
    return stages


def blueprint(s: Spec[TinyTimeMixer]) -> Block:
    d, of = s.hidden, s.own

    def layer_block(layer: Layer) -> Block:
        wide, own = layer.width, layer.sizes(Mixed)
        patches, across = own.patches, of.remixed if own.stage.decoding else of.mixed
        norm = block(norm=block(batchnorm=batch_norm(wide)) if of.batch_norm else layer_norm(wide))

        def mixing(size: int, **more: Block | None) -> Block:
            gate = block("mlp", attn_layer=Linear(size, size, True)) if of.gated_attn else None
            return block(norm=norm, mlp=mlp(size, size * of.expansion_factor), gating_block=gate, **more)

        attention = {"self_attn_layer": mha(wide, layer.attention), "norm_attn": norm} if layer.mixer else {}
        return block(
            patch_mixer=mixing(patches, **attention) if patches > 1 else None,
            feature_mixer=mixing(wide),
            channel_feature_mixer=mixing(of.channels) if across else None,
        )

    def mixers(decoding: bool) -> Block:
        stages = tuple(part for part in s.layers if part.layer.sizes(Mixed).stage.decoding == decoding)
        if not stages[0].layer.sizes(Mixed).stage.leveled:
            return block(mixers=stack(stages, layer_block))
        return block(
            mixers=Block({str(at): block(mixer_layers=stack((part,), layer_block)) for at, part in enumerate(stages)})
        )

    side, middle = of.patch_length, (of.patch_length + d) // 2
    tuned: Node | None = None
    if of.frequencies:
        table = block(weight=Tensor((of.frequencies, side)))
        tuned = Block({"0": table, "1": Linear(side, middle, True), "3": Linear(middle, d, True)}, "embedding")
    encoder = block(
        patcher=Linear(side, d, True, "embedding"),
        positional_encoder=block("embedding", position_enc=Tensor((of.patches, d))) if of.placed else None,
        mlp_mixer_encoder=mixers(False),
        freq_mod=tuned,
    )
    wide, decoder = of.decoder_width or d, None
    if of.decoder_width:
        decoder = block(
            adapter=Linear(d, wide, True, "projector") if wide != d else None,
            decoder_raw_embedding=Linear(side, wide, True, "embedding") if of.raw else None,
            decoder_block=mixers(True),
        )
    ahead = block(base_forecast_block=forecast(of.patches * wide, of.out, of.parameters))
    return headed(s, "backbone", block(encoder=encoder), prediction=block(decoder=decoder, head=ahead))
