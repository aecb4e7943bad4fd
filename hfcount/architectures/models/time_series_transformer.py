"""Time series transformer, Informer, Autoformer: BART over lagged values (arXiv:2012.07436, arXiv:2106.13008)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, embedding, layer_norm, stack
from hfcount.architectures.layers.seq2seq import bart_layer
from hfcount.architectures.layers.series import distribution_parameters, drawn
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, Layers, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block, buffer

# transformers 5.23: modeling_time_series_transformer.py, modeling_informer.py, modeling_autoformer.py
MODEL_TYPES = ("time_series_transformer", "informer", "autoformer")
IGNORED = tuple(
    "lags_sequence num_parallel_samples sampling_factor label_length moving_average autocorrelation_factor scaling"
    " cardinality embedding_dimension".split()
)

_HEADS = keys.named(("Model",), ForPrediction="prediction")
_FEATURES = ("num_dynamic_real_features", "num_time_features", "num_static_real_features")


class Category(Record):
    """A table for a category that does not change with time."""

    rows: int
    width: int


class TimeSeriesTransformer(Sizes):
    """Sizes specific to these models.

    A moment has `features` elements, of which `input_size` are values, and the distribution of each has `parameters`;
    `distil` is whether layers that halve the series stand between those of the encoder.
    """

    input_size: int
    features: int
    parameters: int
    distil: bool
    categories: tuple[Category, ...]


def spec(c: Config) -> Spec[TimeSeriesTransformer]:
    numbers, kinds = c.int("input_size", default=1), c.int("num_static_categorical_features", default=0, minimum=0)
    cardinality = c.ints("cardinality") if kinds else []
    widths = c.ints("embedding_dimension") if kinds else []
    widths = widths or [min(50, (rows + 1) // 2) for rows in cardinality]
    if len(cardinality) != len(widths) or (cardinality and len(cardinality) != kinds):
        raise c.error(
            "list-length", "cardinality and embedding_dimension must name each static category.", "cardinality"
        )
    features = sum(widths) + sum(c.int(key, default=0, minimum=0) for key in _FEATURES) + 2 * numbers
    ahead = c.int("prediction_length")
    lags = c.length("lags_sequence")
    features += numbers * (7 if lags is None else lags)
    places = c.int("context_length", default=ahead) + ahead
    model = keys.sequence_to_sequence(c, heads=_HEADS, vocab=0, positions=places)
    if predicts := model.head != "base":
        c.choice("loss", ("nll",), "nll")
    sizes = TimeSeriesTransformer.read(
        c,
        input_size=keys.dim("n_i", numbers),
        features=keys.dim("d_i", c.int("feature_size", default=features)),
        parameters=distribution_parameters(c) if predicts else 0,
        distil=c.family == "informer" and c.bool("distil", default=True),
        categories=tuple(
            Category(rows=keys.dim(f"n_{place}", rows), width=keys.dim(f"d_{place}", width))
            for place, (rows, width) in enumerate(zip(cardinality, widths, strict=True))
        ),
    )
    return model.replace(causal=False, tied=False).having(sizes)


def blueprint(s: Spec[TimeSeriesTransformer]) -> Block:
    d, of, auto = s.hidden, s.own, s.family == "autoformer"
    size = of.features
    trend = block("other", weight=Tensor((size, d, 3)))

    def layer_block(layer: Layer, crossed: bool) -> Block:
        usual, last = bart_layer(d, layer, crossed), block(layernorm=layer_norm(d))
        more = {"trend_projection": trend} if crossed else {}
        return altered(usual, final_layer_norm=last, **more) if auto else usual

    def side(layers: tuple[Layers, ...], crossed: bool, **more: Block | Linear | Repeat | None) -> Block:
        return block(
            value_embedding=block("embedding", value_projection=Linear(size, d)),
            embed_positions=block("embedding", weight=buffer(s.positions or 0, d)),
            layers=stack(layers, lambda layer: layer_block(layer, crossed)),
            layernorm_embedding=layer_norm(d),
            **more,
        )

    statistics = block(running_mean=buffer(d), running_var=buffer(d), num_batches_tracked=buffer(whole=True))
    norm = altered(layer_norm(d), **statistics.children)
    shorter = block("other", downConv=block(weight=Tensor((d, d, 3)), bias=Tensor((d,))), norm=norm)
    count = sum(part.indices.count for part in s.stack("encoder")) - 1
    shortened = Repeat(Indices.below(count), shorter) if of.distil and count > 0 else None
    tables = {str(place): embedding(category.rows, category.width) for place, category in enumerate(of.categories)}
    seasons = Linear(d, size, True, "other") if auto else None
    body = block(
        embedder=block(embedders=Block(tables)) if tables else None,
        encoder=side(s.stack("encoder"), False, conv_layers=shortened),
        decoder=side(s.layers, True, seasonality_projection=seasons),
    )
    series = drawn(size if auto else d, of.input_size, of.parameters)
    return body if s.head == "base" else block(model=body, parameter_projection=series)
