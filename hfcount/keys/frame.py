"""What stands around the layers: vocabulary, width, head, ties, dtype; encoders; what predicts further tokens."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hfcount.errors import ConfigError, UnknownArchitecture
from hfcount.keys.attention import multi_head
from hfcount.keys.ffn import dense
from hfcount.keys.layers import alike
from hfcount.keys.sizes import layer_count
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.mapper.provenance import Sourced
from hfcount.spec import Dense, Head, Layer, Layers, Spec
from hfcount.text import printable
from hfcount.tree.indices import Indices

HEADS: Mapping[str, Head] = {
    "ForCausalLM": "causal_lm",
    "LMHeadModel": "causal_lm",
    "Model": "base",
    "ForSequenceClassification": "sequence_classification",
    "ForTokenClassification": "token_classification",
    "ForQuestionAnswering": "question_answering",
    "ForMaskedLM": "masked_lm",
    "ForConditionalGeneration": "conditional_generation",
    "ForMultipleChoice": "multiple_choice",
    "ForPreTraining": "pretraining",
    "ForNextSentencePrediction": "next_sentence",
    "ForImageClassification": "image_classification",
    "DoubleHeadsModel": "double_heads",
    "RewardModel": "reward",
    "EncoderModel": "encoder",
    "Encoder": "encoder",
    "ForMaskedImageModeling": "masked_image",
    "GenerationDecoder": "causal_lm",
    "GenerationEncoder": "base",
    "MTModel": "conditional_generation",
    "ModelWithLMHead": "causal_lm",
    "ForQuestionAnsweringSimple": "question_answering",
    "MiniCPMV": "causal_lm",
}
"""How the name of a class ends, and which head it has; the longest that fits counts."""


_DECODER_HEADS = ("ForCausalLM", "Model", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")


GPT_HEADS = ("LMHeadModel", *_DECODER_HEADS[1:], "ForCausalLM")
"""Of the early decoders, whose generative class is called so."""


ENCODER_HEADS = (
    "ForMaskedLM",
    *_DECODER_HEADS,
    "ForMultipleChoice",
)
"""Of the encoders in the manner of BERT."""


ACROSS = "its layers also keep what they see of an encoder's output, whose length no context tells"
"""Why what a model keeps cannot be told of one that attends to an encoder."""


def decoder_spec(
    c: Config,
    layers: Layer | Sequence[Layers],
    *,
    tied: bool = False,
    heads: Sequence[str] = _DECODER_HEADS,
    whole: Config | None = None,
    default_labels: int = 2,
    **more: Any,
) -> Spec:
    """What stands around the layers: vocabulary, width, head, ties, dtype.

    Args:
        layers: the one layer that is repeated num_hidden_layers times, or the layers by kind.
        tied: what an absent tie_word_embeddings means.
        heads: endings of class names that this architecture has, from HEADS.
        whole: the config that `c` is a part of, where a composite model nests its language model.
        default_labels: the width of a classification head where the config does not say.
        more: further fields of the Spec.
    """
    whole = whole or c
    if isinstance(layers, Layer):
        layers = [Layers(indices=Indices.below(layer_count(c)), layer=layers)]
    architecture, head = head_of(whole, heads)
    fields: dict[str, Callable[[], Any]] = {
        "vocab": lambda: c.int("vocab_size"),
        "hidden": lambda: c.int("hidden_size"),
        "tied": lambda: _tied(whole, c, tied),
    }
    return Spec(
        family=whole.family,
        architecture=architecture,
        dtype=whole.dtype() or c.dtype(),
        layers=tuple(layers),
        head=head,
        heads=tuple(dict.fromkeys(HEADS[ending] for ending in heads)),
        labels=_labels(whole, default_labels)
        if head.endswith(("_classification", "question_answering", "pretraining"))
        else 2,
        **{name: read() for name, read in fields.items() if name not in more},
        **more,
    )


def _tied(whole: Config, c: Config, default: bool) -> bool:
    outer = whole.bool("tie_word_embeddings", default=None)
    inner = c.bool("tie_word_embeddings", default=None)
    return next((value for value in (outer, inner) if value is not None), default)


def tied_anywhere(whole: Config, part: Config) -> bool:
    """Whether either config ties the head, where an outer false does not override an inner true."""
    return any(config.bool("tie_word_embeddings", default=False) for config in (whole, part))


def head_of(c: Config, heads: Sequence[str]) -> tuple[str, Head]:
    """The class that a config names, empty where it names none, and its head; without a class the first of `heads`."""
    names = c.strs("architectures")
    if not names:
        return "", HEADS[heads[0]]
    for ending in sorted(HEADS, key=len, reverse=True):
        stem = names[0].removesuffix(ending)
        if stem == names[0]:
            continue
        if ending not in heads:
            break
        # `XForCausalLMY` and `XForRewardModel` are other classes, whatever they end in.
        if not re.search("For[A-Z]", stem):
            return names[0], HEADS[ending]
    raise UnknownArchitecture(
        f"{c.where}: no head of {c.family} is called {printable(names[0])}. Known are names that end in"
        f" {', '.join(heads)}."
    )


def _labels(c: Config, default: int) -> int:
    names, number = c.object("id2label"), c.int("num_labels", default=None)
    if names and number is not None and len(names) != number:
        raise ConfigError(
            f"{c.where}: id2label names {len(names):,} labels and num_labels is {number:,}. Correct one of them."
        )
    return Sourced.read(len(names), "id2label") if names else number or Sourced.read(default, "num_labels, by default")


def encoder(
    c: Config,
    *,
    heads: Sequence[str] = ENCODER_HEADS,
    tied: bool = True,
    bias: bool = True,
    traits: Mapping[str, int] | None = None,
) -> Spec:
    """An encoder in the manner of BERT: learned positions, token types, layers of attention and two projections.

    With is_decoder it is a decoder, which sees earlier tokens alone, whatever its class.

    Args:
        bias: whether queries, keys and values have one.
        traits: sizes and switches that this architecture alone has.
    """
    d, crossed = c.int("hidden_size"), c.bool("add_cross_attention", default=False)
    layer = Layer(
        mixer=multi_head(c, d, c.int("num_attention_heads"), qkv_bias=bias),
        ffn=dense(c, bias=True),
        traits={"add_cross_attention": crossed},
    )
    sizes = {"type_vocab_size": c.int("type_vocab_size"), **(traits or {})}
    rows = c.int("max_position_embeddings")
    seen: dict[str, Any] = {"causal": c.bool("is_decoder", default=False), "uncounted": ACROSS if crossed else ""}
    return decoder_spec(c, layer, heads=heads, tied=tied, hidden=d, positions=rows, traits=sizes, **seen)


def sequence_to_sequence(
    c: Config, *, heads: Sequence[str], offset: int = 0, encoder: Spec | None = None, **more: Any
) -> Spec:
    """An encoder and a decoder in the manner of BART, each with its own depth, heads and width.

    Args:
        offset: rows of the tables of positions before the first.
        encoder: what the encoder is, where it is not as the decoder.
    """
    d = c.int("d_model", "hidden_size")

    def layers(side: str) -> tuple[Layers, ...]:
        mixer = multi_head(c, d, c.int(f"{side}_attention_heads"))
        layer = Layer(mixer=mixer, ffn=Dense(width=c.int(f"{side}_ffn_dim"), bias=True))
        return tuple(alike(layer, layer_count(c, f"{side}_layers")))

    if "positions" not in more:
        more["positions"] = c.int("max_position_embeddings") + offset
    encoder = encoder or Spec(family=c.family, hidden=d, layers=layers("encoder"), causal=False)
    fields = {"hidden": d, "parts": {"encoder": encoder}, "tied": True, "uncounted": ACROSS, **more}
    return decoder_spec(c, layers("decoder"), heads=heads, **fields)


def ahead(c: Config, layers: Sequence[Layers], announced: bool = True) -> dict[str, Spec]:
    """Layers that predict further tokens, as the part `mtp` of a model; no layers make no part.

    Args:
        announced: whether the config says that checkpoints have them.
    """
    if not layers:
        return {}
    vocab, hidden = c.int("vocab_size"), c.int("hidden_size")
    return {"mtp": Spec(family=c.family, vocab=vocab, hidden=hidden, layers=tuple(layers), announced=announced)}


def mtp(c: Config, layer: Callable[[], Layer]) -> dict[str, Spec]:
    """Multi-token-prediction layers, numbered on behind the others; each is `layer` with an entrance and a head."""
    more = c.int("num_nextn_predict_layers", "num_mtp_layers", default=0, minimum=0, maximum=MAX_LAYERS)
    if not more:
        return {}
    start, one = int(layer_count(c)), layer()
    marked = one.but(traits={**one.traits, "mtp": 1})
    return ahead(c, [Layers(indices=Indices.of(range(start, start + more)), layer=marked)])


def drafts(c: Config, key: str, layer: Layer, default: int = 0, announced: bool = True) -> dict[str, Spec]:
    """The layers of a small model that drafts further tokens, as many as `key` says, numbered from 0."""
    count = c.int(key, default=default, minimum=0, maximum=MAX_LAYERS)
    return ahead(c, alike(layer, count) if count else (), announced)


def around(
    c: Config, text: Spec, *, key: str = "text_config", parts: Mapping[str, Spec] | None = None, **more: Any
) -> Spec:
    """What stands around a language model of any architecture.

    Args:
        key: where the config of the language model is.
        parts: the towers beside it.
        more: further arguments of decoder_spec() and fields of the Spec.
    """
    inner = {name: getattr(text, name) for name in ("vocab", "hidden", "causal", "windows", "uncounted")}
    return decoder_spec(c.part(key), text.layers, whole=c, parts={**(parts or {}), "text": text}, **{**inner, **more})
