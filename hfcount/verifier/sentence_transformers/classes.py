"""The tensors, inputs and outputs of each sentence-transformers class, by its config.

Source: sentence-transformers 6.2, base/modules, sentence_transformer/modules and sparse_encoder/modules.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from hfcount.text import shown
from hfcount.verifier.sentence_transformers.activations import is_built, parameters
from hfcount.verifier.sentence_transformers.settings import Settings

TOKENS, SENTENCE, LENGTHS = "token_embeddings", "sentence_embedding", "sentence_lengths"

Shape = tuple[int | None, ...]
"""Sides in elements; None for one that the config leaves open."""


@dataclass(frozen=True, slots=True)
class ModuleLayout:
    """The tensors, inputs and outputs of a module.

    Args:
        tensors: shapes by name, of all that its file has to hold.
        second: other names under which a tensor may be stored in place of its own.
        exact: whether any other tensor in the file is refused.
        reads: the feature that it reads; empty if it begins with the text.
        width: of the feature that it reads; None if it takes any.
        key: of the config that gives `width`.
        gives: the feature that it writes; empty if it changes no width.
        out: the width of that; None if it is `times` the width that it reads.
        needs: another feature that it reads; brings: another that it writes.
        by: the tensor and the axis that tell `out` where the config does not.
        declared: the width that its config gives for what it reads, where it takes any.
    """

    tensors: Mapping[str, Shape] = field(default_factory=dict)
    second: Mapping[str, str] = field(default_factory=dict)
    exact: bool = True
    reads: str = ""
    width: int | None = None
    key: str = ""
    gives: str = ""
    out: int | None = None
    times: int = 1
    needs: str = ""
    brings: str = ""
    by: tuple[str, int] | None = None
    declared: object = None


_RENAMED = {
    "CNN": {"in_word_embedding_dimension": "in_embedding_dimension"},
    "LSTM": {"word_embedding_dimension": "embedding_dimension"},
    "Pooling": {"word_embedding_dimension": "embedding_dimension"},
    "SpladePooling": {"word_embedding_dimension": "embedding_dimension"},
    "WeightedLayerPooling": {"word_embedding_dimension": "embedding_dimension"},
}
_MODES = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
_OLD_MODES = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}


def layout(kind: str, file: str, values: Mapping[str, object]) -> ModuleLayout | None:
    """The layout of a module; None for an unknown class.

    Args:
        kind: its class; file: where its config is; values: the config.

    Raises:
        DocumentError: HF801, the config builds no module.
    """
    build = _CLASSES.get(kind)
    return build(Settings(kind, file, values, _RENAMED.get(kind))) if build else None


def _dense(s: Settings) -> ModuleLayout:
    wide, out = s.size("in_features"), s.size("out_features")
    activation = s.get("activation_function", "torch.nn.Tanh")
    if not isinstance(activation, str):
        raise s.refused("must name a class of torch for activation_function", "activation_function")
    if not is_built(activation):
        text = f"has {shown(activation)} for activation_function, and torch builds no module of that path"
        raise s.refused(text, "activation_function")
    tensors: dict[str, Shape] = {"linear.weight": (out, wide)}
    if s.get("bias", True):
        tensors["linear.bias"] = (out,)
    if s.get("use_residual", False) and wide != out:
        tensors["residual.weight"] = (out, wide)
    tensors |= {f"activation_function.{name}": shape for name, shape in parameters(activation).items()}
    reads = s.text("module_input_name", SENTENCE)
    gives = reads if s.get("module_output_name") is None else s.text("module_output_name", reads)
    return ModuleLayout(tensors, reads=reads, width=wide, key="in_features", gives=gives, out=out)


def _layer_norm(s: Settings) -> ModuleLayout:
    s.check_known(["dimension"])
    wide = s.size("dimension")
    tensors: dict[str, Shape] = {"norm.weight": (wide,), "norm.bias": (wide,)}
    return ModuleLayout(tensors, reads=SENTENCE, width=wide, key="dimension")


def _cnn(s: Settings) -> ModuleLayout:
    s.check_known(["in_embedding_dimension", "out_channels", "kernel_sizes", "stride_sizes"])
    wide, out, kernels = (
        s.size("in_embedding_dimension"),
        s.size("out_channels", 256),
        s.sizes("kernel_sizes", (1, 3, 5)),
    )
    if s.get("stride_sizes") is not None:
        kernels = kernels[: len(s.sizes("stride_sizes"))]
    tensors: dict[str, Shape] = {}
    for number, kernel in enumerate(kernels):
        tensors |= {f"convs.{number}.weight": (out, wide, kernel), f"convs.{number}.bias": (out,)}
    key = "in_embedding_dimension"
    return ModuleLayout(tensors, reads=TOKENS, width=wide, key=key, gives=TOKENS, out=out * len(kernels))


def _lstm(s: Settings) -> ModuleLayout:
    s.check_known(["embedding_dimension", "hidden_dim", "num_layers", "dropout", "bidirectional"])
    wide, inner, layers = s.size("embedding_dimension"), s.size("hidden_dim"), s.size("num_layers", 1)
    if layers > _MOST_LAYERS:
        raise s.refused(f"has {layers:,} for num_layers; at most {_MOST_LAYERS:,} are counted", "num_layers")
    ends = ("", "_reverse") if s.get("bidirectional", True) else ("",)
    tensors: dict[str, Shape] = {}
    for layer in range(layers):
        rows, below = 4 * inner, inner * len(ends) if layer else wide
        for end in ends:
            named = f"l{layer}{end}"
            tensors |= {f"encoder.weight_ih_{named}": (rows, below), f"encoder.weight_hh_{named}": (rows, inner)}
            tensors |= {f"encoder.bias_ih_{named}": (rows,), f"encoder.bias_hh_{named}": (rows,)}
    out = inner * len(ends)
    return ModuleLayout(
        tensors, reads=TOKENS, width=wide, key="embedding_dimension", gives=TOKENS, out=out, needs=LENGTHS
    )


_MOST_LAYERS = 1_000


def _weighted_layers(s: Settings) -> ModuleLayout:
    s.check_known(["embedding_dimension", "layer_start", "num_hidden_layers", "layer_weights"])
    if "embedding_dimension" not in s:
        raise s.refused(
            "has no embedding_dimension, which WeightedLayerPooling needs", "embedding_dimension", "Add it."
        )
    layers, start = s.size("num_hidden_layers", 12), s.get("layer_start", 4)
    if type(start) is not int:
        raise s.refused("must give a number for layer_start", "layer_start")
    return ModuleLayout({"layer_weights": (max(layers + 1 - start, 0),)}, reads=TOKENS)


def _pooling(s: Settings) -> ModuleLayout:
    s.check_known(["embedding_dimension", "pooling_mode", "include_prompt", *_OLD_MODES])
    if (declared := s.get("embedding_dimension")) is None:
        raise s.refused("has no embedding_dimension, which Pooling needs", "embedding_dimension", "Add it.")
    modes = s.get("pooling_mode", [new for old, new in _OLD_MODES.items() if s.get(old)] or "mean")
    modes = modes if isinstance(modes, list) else [modes]
    if unknown := [mode for mode in modes if mode not in _MODES] or ([] if modes else [[]]):
        text = f"has {shown(unknown[0])} for pooling_mode, but must give some of {', '.join(_MODES)}"
        raise s.refused(text, "pooling_mode")
    return ModuleLayout(reads=TOKENS, gives=SENTENCE, times=len(modes), declared=declared)


def _normalize(s: Settings) -> ModuleLayout:
    s.text("module_input_name", SENTENCE)
    return ModuleLayout()  # it passes on what it does not find


def _dropout(s: Settings) -> ModuleLayout:
    s.check_known(["dropout"])
    share = s.get("dropout", 0.2)
    if not isinstance(share, int | float) or not 0 <= share <= 1:
        raise s.refused(f"has {shown(share)} for dropout, but must give a number from 0 to 1", "dropout")
    return ModuleLayout(reads=SENTENCE)


def _splade(s: Settings) -> ModuleLayout:
    s.check_known(["pooling_strategy", "activation_function", "embedding_dimension", "chunk_size"])
    for key, known in (("pooling_strategy", ("max", "sum")), ("activation_function", ("relu", "log1p_relu"))):
        if s.get(key, known[0]) not in known:
            raise s.refused(f"must give {' or '.join(known)} for {key}", key)
    return ModuleLayout(reads=TOKENS, gives=SENTENCE)


def _autoencoder(s: Settings) -> ModuleLayout:
    s.check_known(["input_dim", "hidden_dim", "k", "k_aux", "normalize", "dead_threshold"])
    wide, out = s.size("input_dim"), s.size("hidden_dim", 512)
    tensors: dict[str, Shape] = {"encoder.weight": (out, wide), "pre_bias": (wide,), "latent_bias": (out,)}
    tensors["stats_last_nonzero"] = (out,)
    second = {"encoder.weight": "decoder.linear.weight"}  # which is tied to it
    return ModuleLayout(tensors, second, reads=SENTENCE, width=wide, key="input_dim", gives=SENTENCE, out=out)


def _static(s: Settings) -> ModuleLayout:
    return ModuleLayout(
        {"embedding.weight": (None, None)},
        {"embedding.weight": "embeddings"},  # as model2vec writes it
        exact=False,
        gives=SENTENCE,
        by=("embedding.weight", 1),
    )


def _sparse_static(s: Settings) -> ModuleLayout:
    if isinstance(path := s.get("path"), str) and path.endswith(".json"):
        return ModuleLayout(gives=SENTENCE)  # the weights are in that file
    s.check_known(["frozen", "path"])
    return ModuleLayout({"weight": (None,)}, gives=SENTENCE, by=("weight", 0))


def _word_embeddings(s: Settings) -> ModuleLayout:
    s.check_known(["tokenizer_class", "update_embeddings", "max_seq_length"])
    if "." not in s.text("tokenizer_class", ""):
        text = f"has {shown(s.get('tokenizer_class'))} for tokenizer_class, but must name a class with its module"
        raise s.refused(text, "tokenizer_class")
    by = ("emb_layer.weight", 1)
    return ModuleLayout({"emb_layer.weight": (None, None)}, exact=False, gives=TOKENS, by=by, brings=LENGTHS)


def _bag_of_words(s: Settings) -> ModuleLayout:
    s.check_known(["vocab", "word_weights", "unknown_word_weight", "cumulative_term_frequency"])
    return ModuleLayout(gives=SENTENCE, out=len(dict.fromkeys(s.words("vocab"))))


def _word_weights(s: Settings) -> ModuleLayout:
    s.check_known(["vocab", "word_weights", "unknown_word_weight"])
    s.words("vocab")
    if "word_weights" not in s:
        raise s.refused("has no word_weights, which WordWeights needs", "word_weights", "Add it.")
    return ModuleLayout(exact=False, reads=TOKENS)  # its weights are made from the config


_CLASSES: Mapping[str, Callable[[Settings], ModuleLayout]] = {
    "BoW": _bag_of_words,
    "CNN": _cnn,
    "Dense": _dense,
    "Dropout": _dropout,
    "LSTM": _lstm,
    "LayerNorm": _layer_norm,
    "Normalize": _normalize,
    "Pooling": _pooling,
    "SparseAutoEncoder": _autoencoder,
    "SparseStaticEmbedding": _sparse_static,
    "SpladePooling": _splade,
    "StaticEmbedding": _static,
    "WeightedLayerPooling": _weighted_layers,
    "WordEmbeddings": _word_embeddings,
    "WordWeights": _word_weights,
}

_UNDESCRIBED: Collection[str] = ("HierarchicalTokenPooling", "LogitScore", "MultiVectorMask")
"""Classes without tensors of which nothing is described."""


def known(kind: str) -> bool:
    """Whether there is a class of this name, of a module that is neither a transformer nor a router."""
    return kind in _CLASSES or kind in _UNDESCRIBED
