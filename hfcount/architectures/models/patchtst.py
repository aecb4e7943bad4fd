"""PatchTST: a transformer over patches of each channel of a time series (arXiv:2211.14730)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import headed, mha
from hfcount.architectures.layers.convolution import batch_norm
from hfcount.architectures.layers.series import forecast, forecast_parameters, series_patches
from hfcount.mapper import Config, Sizes, count, flag, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("patchtst",)  # transformers 5.23: modeling_patchtst.py
IGNORED = tuple(
    "scaling mask_value num_forecast_mask_patches unmasked_channel_indices output_range pre_norm num_parallel_samples"
    " do_mask_input channel_consistent_masking".split()
)

_CLASSES = keys.named(("Model",), ForPretraining="pretraining", ForClassification="series_classification")
_HEADS = keys.named(_CLASSES, ForPrediction="prediction", ForRegression="regression")
_NORMS = ("batchnorm", "layernorm")


class Patchtst(Sizes):
    channels: int = count("C", "num_input_channels", absent=1)
    patch_length: int
    patches: int
    prediction_length: int = size("t_p", absent=24)
    num_targets: int = size("n_t", absent=1)
    pooled: bool
    batch_norm: bool
    parameters: int
    share_embedding: bool = flag(absent=True)
    share_projection: bool = flag(absent=True)
    channel_attention: bool = flag(absent=False)
    use_cls_token: bool = flag(absent=False)


def spec(c: Config) -> Spec[Patchtst]:
    d, bias, norm = (
        c.int("d_model", "hidden_size"),
        c.bool("bias", default=True),
        c.choice("norm_type", _NORMS, "batchnorm"),
    )
    c.choice("positional_encoding_type", ("random", "sincos"), "sincos")
    side = keys.dim("P", c.int("patch_length", default=1))
    sizes = Patchtst.read(
        c,
        patch_length=side,
        patches=series_patches(c, side, 1),
        pooled=not c.is_null("pooling_type") and c.str("pooling_type", default="mean") != "",
        batch_norm=norm == "batchnorm",
        parameters=forecast_parameters(c),
    )
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"))
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("ffn_dim", default=512), bias=bias))
    return keys.decoder_spec(c, layer, vocab=0, hidden=d, heads=_HEADS).replace(causal=False).having(sizes)


def blueprint(s: Spec[Patchtst]) -> Block:
    d, of = s.hidden, s.own
    channels, first, parameters = Indices.below(of.channels), of.use_cls_token, of.parameters
    norm = block(batchnorm=batch_norm(d)) if of.batch_norm else layer_norm(d)

    def layer_block(layer: Layer) -> Block:
        width, bias = layer.dense.width, layer.dense.bias
        return block(
            self_attn=mha(d, layer.attention),
            norm_sublayer1=norm,
            norm_sublayer2=norm if of.channel_attention else None,
            ff=Block({"0": Linear(d, width, bias), "3": Linear(width, d, bias)}, "mlp"),
            norm_sublayer3=norm,
        )

    into = Linear(of.patch_length, d, True, "embedding")
    encoder = block(
        embedder=block(input_embedding=into if of.share_embedding else Repeat(channels, into)),
        positional_encoder=block(
            "embedding",
            cls_token=Tensor((1, 1, 1, d)) if first else None,
            position_enc=Tensor((of.patches + 1 if first else of.patches, d)),
        ),
        layers=stack(s.layers, layer_block),
    )
    wide = of.channels * d
    ahead = forecast(d if first or of.pooled else d * of.patches, of.prediction_length, parameters)
    each = block(projection=ahead) if of.share_projection else block(projections=Repeat(channels, ahead))
    return headed(
        s,
        "model",
        block(encoder=encoder),
        pretraining=block(head=block(linear=Linear(d, of.patch_length, True, "other"))),
        series_classification=block(head=block(linear=Linear(wide, of.num_targets, True, "other"))),
        prediction=block(head=each),
        regression=block(head=block(projection=forecast(wide, of.num_targets, parameters))),
    )
