"""Whole models: the Spec around the layers, and embedding, layers, final norm and head as tensors."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict, Unpack

from hfcount.architectures.layers.attention import Indivisible, multi_head
from hfcount.architectures.layers.ffn import dense
from hfcount.architectures.layers.norms import rms_norm
from hfcount.architectures.layers.sizes import layer_count
from hfcount.architectures.layers.stacks import stack, uniform
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.mapper.class_defaults import knows
from hfcount.mapper.loader_differences import TIE
from hfcount.spec import GQA, MLA, Dense, Entries, Head, Layer, Layers, Patches, Spec, Window
from hfcount.spec.tree.dims import Dim
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, Tied, block, obsolete
from hfcount.text import printable

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
}
"""Heads by the common endings of class names; the longest matching ending applies."""


Heads = Sequence[str] | Mapping[str, Head]
"""Endings from HEADS, or a mapping of endings to heads."""


_LABELLED = (
    "_classification", "_segmentation", "_detection", "question_answering", "pretraining", "multiple_choice",
    "pose_estimation", "dense_prediction", "double_heads",
)  # fmt: skip


_DECODER_HEADS = ("ForCausalLM", "Model", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")


GPT_HEADS = ("LMHeadModel", *_DECODER_HEADS[1:], "ForCausalLM")
"""Endings for early decoders, whose generative class is called LMHeadModel."""


ENCODER_HEADS = ("ForMaskedLM", *_DECODER_HEADS, "ForMultipleChoice")
"""Endings for encoders like BERT."""


# Classes with these in their names are not base models, even if they end in Model.
_NO_BASE = re.compile("For[A-Z]|(DoubleHeads|Encoder|Reward)$")


class Fields(TypedDict, total=False):
    """Fields of a Spec that a family may set."""

    vocab: int
    hidden: int
    layer_count: int | None
    causal: bool
    windows: tuple[Window, ...]
    entries: tuple[Entries, ...]
    uncounted: str
    positions: int | None
    patches: Patches | None
    out: int | None
    token_types: int | None
    languages: tuple[str, ...]
    parts: Mapping[str, Spec]


ACROSS = "its layers also keep what they see of an encoder's output, whose length no context tells"
"""Reason why the cache size is unknown: the model attends to an encoder."""


def decoder_spec(
    c: Config,
    layers: Layer | Sequence[Layers],
    *,
    tied: bool = False,
    heads: Heads = _DECODER_HEADS,
    whole: Config | None = None,
    default_labels: int = 2,
    **more: Unpack[Fields],
) -> Spec:
    """The Spec of a model with these layers: reads vocabulary, width, head, ties and dtype.

    Args:
        layers: one layer that is repeated num_hidden_layers times, or the layers by kind.
        tied: the default of tie_word_embeddings.
        heads: endings of this architecture's class names; the first is the default if the config names no class.
        whole: the outer config, if `c` is the nested language model of a composite model.
        default_labels: the default width of a classification head.
        more: further fields of the Spec.
    """
    whole = whole or c
    if isinstance(layers, Layer):
        layers = [Layers(indices=Indices.below(layer_count(c)), layer=layers)]
    known = named(heads)
    architecture, head = head_of(whole, known)
    own_dtype = c.dtype()  # which is checked, whatever that of the whole is
    if "vocab" not in more:
        more["vocab"] = c.int("vocab_size")
    if "hidden" not in more:
        more["hidden"] = c.int("hidden_size")
    more.setdefault("layer_count", c.layer_count)
    labelled = head.endswith(_LABELLED)
    return Spec(
        family=whole.family,
        architecture=architecture,
        dtype=whole.dtype() or own_dtype,
        layers=tuple(layers),
        head=head,
        heads=tuple(dict.fromkeys(known.values())),
        labels=labels(whole, default_labels) if labelled else 2,
        tied=head_tied(whole, c, tied),
        **more,
    )


def named(heads: Heads = (), **further: Head) -> dict[str, Head]:
    """Maps class-name endings to heads; `further` adds this architecture's own endings."""
    given = heads if isinstance(heads, Mapping) else {ending: HEADS[ending] for ending in heads}
    return {**given, **further}


def head_of(c: Config, heads: Mapping[str, Head]) -> tuple[str, Head]:
    """The class in `architectures` and its head; an empty string and the first of `heads` if there is none."""
    names = c.strs("architectures")
    if not names:
        return "", next(iter(heads.values()))
    for ending in sorted({**HEADS, **heads}, key=len, reverse=True):
        stem = names[0].removesuffix(ending)
        if stem == names[0]:
            continue
        if ending not in heads or _NO_BASE.search(stem):
            break
        return names[0], heads[ending]
    raise UnknownArchitecture(
        f"{c.where}: {printable(names[0])} is no class of {c.family}, but a variant with tensors of its own, which no"
        f" family describes. Described are classes that end in {', '.join(heads)}."
    )


def labels(c: Config, default: int) -> int:
    """The number of labels, from id2label or num_labels, or `default`."""
    names, number = c.object("id2label"), c.int("num_labels", default=None)
    if names and number is not None and len(names) != number:
        text = f"id2label names {len(names):,} labels and num_labels is {number:,}."
        raise c.error(
            "list-length", text, "num_labels", "Correct one of them.", expected=len(names), observed=int(number)
        )
    if names:
        return Dim.named("id2label", len(names), "id2label")
    return number or Dim.named("num_labels", default, "num_labels, by default")


def encoder(
    c: Config,
    *,
    heads: Heads = ENCODER_HEADS,
    tied: bool = True,
    bias: bool = True,
    decoding: bool = True,
    rotary: bool = False,
    types: bool = True,
    narrow: bool = False,
) -> Spec:
    """An encoder like BERT: learned positions, token types, layers of attention and two projections.

    With is_decoder its tokens see only earlier ones, in any of its classes.

    Args:
        heads: endings of class names, as in `decoder_spec`.
        tied: the default of tie_word_embeddings.
        bias: whether queries, keys and values have a bias.
        decoding: whether the architecture can be a decoder, with cross attention or without.
        rotary: whether its positions may be rotary.
        types: whether there is a table of token types.
        narrow: whether the embedding has a separate width even without the key embedding_size.
    """
    # Code of other models has these types, too, and says so by positions of another kind.
    if c.value("position_embedding_type") in ("alibi", *(() if rotary else ("rope", "rotary"))):
        raise UnknownArchitecture(f"{c.where}: {c.family} has learned positions, and this names others.")
    d, crossed = c.int("hidden_size"), decoding and c.bool("add_cross_attention", default=False)
    # transformers 5.23 asks whether the heads divide hidden_size, unless there is an embedding_size.
    narrow = narrow or c.has("embedding_size")
    layer = Layer(
        mixer=multi_head(
            c, d, c.int("num_attention_heads"), qkv_bias=bias, indivisible="built" if narrow else "refused"
        ),
        ffn=dense(c, bias=True),
        cross_attention=crossed,
    )
    kinds = c.int("type_vocab_size") if types else None
    fields: Fields = {"hidden": d, "positions": c.int("max_position_embeddings"), "token_types": kinds}
    spec = decoder_spec(c, layer, heads=heads, tied=tied, **fields)
    return spec.replace(causal=decoding and is_causal(c, crossed), uncounted=ACROSS if crossed else "")


def is_causal(c: Config, crossed: bool) -> bool:
    """Whether tokens see only earlier ones, by is_decoder.

    Raises:
        ConfigError: they see all, and the layers attend to an encoder besides.
    """
    causal: bool = c.bool("is_decoder", default=False)
    if crossed and not causal:  # BertLayer and those copied from it
        text = "add_cross_attention is true, but is_decoder is not: only a decoder attends to an encoder."
        raise c.error("contradiction", text, "is_decoder", "Set is_decoder to true.")
    return causal


def sequence_to_sequence(
    c: Config,
    *,
    heads: Heads,
    offset: int = 0,
    default_labels: int = 2,
    encoder: Spec | None = None,
    bias: bool = True,
    **more: Unpack[Fields],
) -> Spec:
    """An encoder and a decoder like BART's, each with its own depth, heads and feed-forward width.

    Args:
        offset: reserved rows at the start of the tables of positions.
        encoder: the encoder, if it is not built like the decoder.
        bias: whether the projections of attention have a bias.
    """
    d = c.int("d_model", "hidden_size")

    # The decoder alone is built for a causal class, whatever the config says of an encoder.
    alone = head_of(c, named(heads))[1] == "causal_lm"

    def layers(side: str) -> tuple[Layers, ...]:
        indivisible: Indivisible = "run" if alone and side == "encoder" else "refused"
        mixer = multi_head(c, d, c.int(f"{side}_attention_heads"), bias=bias, indivisible=indivisible)
        layer = Layer(mixer=mixer, ffn=Dense(width=c.int(f"{side}_ffn_dim"), bias=True))
        return tuple(uniform(layer, layer_count(c, f"{side}_layers")))

    if "positions" not in more:
        more["positions"] = c.int("max_position_embeddings") + offset
    encoder = encoder or Spec(family=c.family, hidden=d, layers=layers("encoder"), causal=False)
    fields: Fields = {"hidden": d, "parts": {"encoder": encoder}, "uncounted": ACROSS, **more}
    return decoder_spec(c, layers("decoder"), heads=heads, tied=True, default_labels=default_labels, **fields)


def composite(
    c: Config,
    text: Spec,
    towers: Mapping[str, Spec],
    *,
    key: str = "text_config",
    heads: Heads,
    tied: bool = False,
    **more: Unpack[Fields],
) -> Spec:
    """The Spec of a composite model around a language model of any architecture.

    Args:
        text: the language model.
        towers: the other parts, by name.
        key: the key of the language model's config.
        more: further fields of the Spec.
    """
    fields: Fields = {
        "vocab": text.vocab,
        "hidden": text.hidden,
        "causal": text.causal,
        "layer_count": text.layer_count,
        "windows": text.windows,
        "entries": text.entries,
        "uncounted": text.uncounted,
        "parts": {**towers, "text": text},
        **more,
    }
    return decoder_spec(c.part(key), text.layers, whole=c, heads=heads, tied=tied, **fields)


def head_tied(whole: Config, c: Config, default: bool) -> bool:
    """Whether the head is tied, which the class with the head reads from the config of the whole model.

    transformers 5.23: modeling_utils.py, get_expanded_tied_weights_keys.
    """
    outer = whole.bool(TIE, default=None)
    inner = c.bool(TIE, default=None) if c.has(TIE) else None  # read, even where it does not count
    if outer is None and not knows(whole.family):
        outer = inner  # custom code for transformers 4, which reads the language model's config
    return default if outer is None else outer


def tied_anywhere(whole: Config, part: Config, default: bool = False) -> bool:
    """Whether either config ties the head, for classes that adopt the language model's setting if it is true.

    Args:
        default: the default of the whole model's class; that of the part's class is False.
    """
    inner = part.bool(TIE, default=False)
    return whole.bool(TIE, default=default) or inner


def embedding(rows: int, width: int) -> Block:
    """A lookup table. Tensors: weight (rows, width)."""
    return block("embedding", weight=Tensor((rows, width)))


def base(s: Spec, layer: Callable[[Layer], Node], norm: Block | None = None) -> Block:
    """Embedding, layers and final norm under their usual names: embed_tokens, layers, norm.

    Multi-token-prediction layers follow the others, if the spec has any.
    """
    return block(
        embed_tokens=embedding(s.vocab, s.hidden),
        layers=(*stack(s.layers, layer), *stack(s.stack("mtp"), layer)),
        norm=norm or rms_norm(s.hidden),
        rotary_emb=_rotary(s),
    )


def _rotary(s: Spec) -> Block | None:
    """The frequencies that some writers store once for all layers; transformers skips them."""
    for part in s.layers:
        if isinstance(part.layer.mixer, GQA | MLA):
            mixer = part.layer.mixer
            return block(inv_freq=obsolete((mixer.head_dim if isinstance(mixer, GQA) else mixer.rope_dim) // 2))
    return None


def decoder(
    s: Spec, layer: Callable[[Layer], Node], question_answering: str = "model", norm: Block | None = None
) -> Block:
    """A decoder-only transformer: embedding, layers, final norm, and the head that the architecture names.

    Args:
        layer: builds one layer.
        question_answering: name of the base model inside the question answering class.
        norm: the final norm, by default RMSNorm.
    """
    return with_head(s, base(s, layer, norm), question_answering=question_answering)


def with_head(
    s: Spec,
    body: Block,
    prefix: str = "model",
    table: str = "embed_tokens",
    *,
    question_answering: str | None = None,
    bias: bool = False,
    score_bias: bool = False,
) -> Block:
    """A base model with its head.

    Args:
        prefix: name of the base model inside classes with a head.
        table: name of the input embedding within the base model.
        question_answering: `prefix` of the question answering class, if it differs.
        bias: whether lm_head has a bias.
        score_bias: whether the head of a sequence classifier has a bias.
    """
    if s.head == "base":
        return body
    if s.head == "question_answering":
        prefix = question_answering or prefix
    d, children = s.hidden, {prefix: body}
    if s.head == "question_answering":
        return Block({**children, "qa_outputs": Linear(d, 2, bias=True, component="other")})
    if s.head in ("sequence_classification", "token_classification"):
        with_bias = score_bias or s.head == "token_classification"
        return Block({**children, "score": Linear(d, s.labels, with_bias, component="other")})
    return Block({**children, "lm_head": lm_head(s, f"{prefix}.{table}.weight", bias)})


def lm_head(s: Spec, tied_to: str, bias: bool = False, width: int | None = None, anyway: bool = False) -> Node:
    """The head over the vocabulary: tied to the tensor `tied_to`, or else (|V|, d); `width` replaces d.

    With `anyway` the reference ties it regardless of the config, unless it is stored.
    """
    inputs = width or s.hidden
    if not s.tied:
        return Linear(inputs, s.vocab, bias, "lm_head", "dispensable" if anyway else "required")
    return Tied(tied_to, (s.vocab, inputs), "lm_head", bias)
