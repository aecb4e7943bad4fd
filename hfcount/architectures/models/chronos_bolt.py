"""Chronos-Bolt: T5 over patches of a time series, which predicts all quantiles of what follows at once."""

from hfcount.architectures import keys
from hfcount.architectures.components.forecasts import Forecast, forecasts, residual
from hfcount.architectures.components.t5 import t5_gated, t5_layer, t5_layers
from hfcount.architectures.layers import embedding, rms_norm, stack
from hfcount.mapper import MAX_LAYERS, Config, Sizes, derived
from hfcount.spec import GQA, Dense, Layers, Spec
from hfcount.spec.tree.nodes import Block, Tied, block

MODEL_TYPES = ("chronos_bolt",)  # chronos_bolt.py of chronos-forecasting 2.3.2, whose configs are of type t5
CLASSES = ("ChronosBoltModelForForecasting",)
IGNORED = ("vocab_size", "n_positions", "chronos_pipeline_class")


class ChronosBolt(Sizes):
    gated: bool
    forecast: Forecast = derived(lambda c: forecasts(c, inputs=2, ahead="prediction_length"))


def spec(c: Config) -> Spec[ChronosBolt]:
    c.kind = "t5"  # whose defaults are its own
    d, heads = c.int("d_model", "hidden_size"), c.int("num_heads", "num_attention_heads")
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=c.int("d_kv", "head_dim"))
    ffn, buckets = Dense(width=c.int("d_ff")), keys.dim("b", c.int("relative_attention_num_buckets"))
    gated = t5_gated(c, "relu")
    count = keys.layer_count(c, "num_layers", "num_hidden_layers")

    def layers(count: int) -> tuple[Layers, ...]:
        return t5_layers(count, mixer, ffn, buckets)

    sizes = ChronosBolt.read(c, gated=gated)
    decoding = c.int("num_decoder_layers", default=count, maximum=MAX_LAYERS)
    parts = {"encoder": Spec(family=c.family, hidden=d, layers=layers(count), causal=False)}
    known = keys.named(ModelForForecasting="prediction")
    model = keys.decoder_spec(
        c,
        layers(decoding),
        layer_count=decoding,
        hidden=d,
        vocab=sizes.forecast.tokens,
        tied=True,
        heads=known,
        parts=parts,
    )
    return model.replace(uncounted=keys.ACROSS).having(sizes)


def blueprint(s: Spec[ChronosBolt]) -> Block:
    d, of, width = s.hidden, s.own, s.layers[0].layer.dense.width

    def side(layers: tuple[Layers, ...], crossed: bool) -> Block:
        blocks = stack(layers, lambda layer: t5_layer(d, layer, of.gated, crossed))
        return block(embed_tokens=Tied("shared.weight", (s.vocab, d)), block=blocks, final_layer_norm=rms_norm(d))

    return block(
        shared=embedding(s.vocab, d),
        input_patch_embedding=residual(of.forecast.inputs, width, d),
        encoder=side(s.stack("encoder"), False),
        decoder=side(s.layers, True),
        output_patch_embedding=residual(d, width, of.forecast.outputs),
    )
