"""PatchTSMixer: perceptrons over the patches, features and channels of a time series (arXiv:2306.09364)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.classic import headed, mha
from hfcount.architectures.layers.convolution import batch_norm
from hfcount.architectures.layers.series import forecast, forecast_parameters, series_patches
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("patchtsmixer",)  # transformers 5.23: modeling_patchtsmixer.py
IGNORED = tuple(
    "scaling mask_value num_forecast_mask_patches unmasked_channel_indices output_range num_parallel_samples patch_last"
    " channel_consistent_masking masked_loss prediction_channel_indices self_attn_heads".split()
)

_CLASSES = keys.named(("Model",), ForPretraining="pretraining", ForTimeSeriesClassification="series_classification")
_HEADS = keys.named(_CLASSES, ForPrediction="prediction", ForRegression="regression")


class Patchtsmixer(Sizes):
    channels: int = size("C", "num_input_channels", absent=1)
    patch_length: int
    patches: int
    expansion_factor: int = size("e", absent=2)
    prediction_length: int = size("t_p", absent=16)
    num_targets: int = size("n_t", absent=3)
    mixed: bool
    gated_attn: bool = flag(absent=True)
    batch_norm: bool
    placed: bool = flag("use_positional_encoding", absent=False)
    flat: bool
    scaled: bool
    parameters: int


def spec(c: Config) -> Spec[Patchtsmixer]:
    d, side = c.int("d_model", "hidden_size"), keys.dim("P", c.int("patch_length", default=8))
    attended, count = c.bool("self_attn", default=False), keys.layer_count(c, "num_layers", "num_hidden_layers")
    sizes = Patchtsmixer.read(
        c,
        patch_length=side,
        patches=keys.dim("n_p", c.int("num_patches", default=series_patches(c, side, 8))),
        mixed=c.str("mode", default="common_channel") == "mix_channel",
        batch_norm="batch" in c.str("norm_mlp", default="LayerNorm").lower(),
        flat=c.is_null("head_aggregation"),
        scaled=not c.has("scaling") or c.value("scaling") in ("std", "mean", True),
        parameters=forecast_parameters(c),
    )
    mixer = keys.multi_head(c, d, c.int("self_attn_heads", default=1)) if attended else None
    layers = keys.uniform(Layer(mixer=mixer), count)
    return keys.decoder_spec(c, layers, vocab=0, hidden=d, heads=_HEADS).replace(causal=False).having(sizes)


def blueprint(s: Spec[Patchtsmixer]) -> Block:
    d, of, parameters = s.hidden, s.own, s.own.parameters
    patches, channels = of.patches, of.channels
    norm = block(norm=block(batchnorm=batch_norm(d)) if of.batch_norm else layer_norm(d))

    def mixing(size: int, **more: Block | None) -> Block:
        gate = block("mlp", attn_layer=Linear(size, size, True)) if of.gated_attn else None
        return block(norm=norm, mlp=mlp(size, size * of.expansion_factor), gating_block=gate, **more)

    def layer_block(layer: Layer) -> Block:
        attention = {"self_attn_layer": mha(d, layer.attention), "norm_attn": norm} if layer.mixer else {}
        mixed = mixing(channels) if of.mixed else None
        return block(patch_mixer=mixing(patches, **attention), feature_mixer=mixing(d), channel_feature_mixer=mixed)

    places = block("embedding", position_enc=Tensor((patches, d))) if of.placed else None
    encoder = block(
        patcher=Linear(of.patch_length, d, True, "embedding"),
        positional_encoder=places,
        mlp_mixer_encoder=block(mixers=stack(s.layers, layer_block)),
    )
    wide = d * channels * patches if of.flat else d * channels
    twice = 2 * d
    scaler = block(
        "other",
        inverse_trans_expansion=Linear(d + 2, twice, True),
        inverse_trans_compression=Linear(twice, d, True),
        map_scale_expansion=Linear(2, 4, True),
        map_scale_compression=Linear(4, 2, True),
    )

    def aggregated(parameters: int) -> Block:
        head = block(projection=forecast(wide, of.num_targets, parameters))
        return block(head=head, inject_scale=scaler if of.scaled else None)

    ahead = forecast(patches * d, of.prediction_length, parameters)
    return headed(
        s,
        "model",
        block(encoder=encoder),
        pretraining=block(head=block(base_pt_block=Linear(d, of.patch_length, True, "other"))),
        prediction=block(head=block(base_forecast_block=ahead)),
        series_classification=aggregated(0),
        regression=aggregated(parameters),
    )
