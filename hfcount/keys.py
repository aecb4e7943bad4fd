"""Groups of config keys that many architectures share: attention, feed-forward, the frame around the layers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hfcount.errors import ConfigError, UnknownArchitecture
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import GQA, Dense, Head, Layer, Layers, MoE, Spec
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
}
"""How the name of a class ends, and which head it has; the first that fits counts."""

_DECODER_HEADS = ("ForCausalLM", "Model", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")


def attention(
    c: Config,
    *,
    qkv_bias: bool = False,
    out_bias: bool = False,
    qk_norm: bool = False,
    head_dim: int | None = None,
    kv_heads_optional: bool = False,
) -> GQA:
    """Grouped-query attention.

    Args:
        head_dim: the head width where the config gives none; None derives it as hidden / heads.
        kv_heads_optional: whether configs of this type may leave num_key_value_heads out and mean one per head; in
            every type a null means that.
    """
    heads = c.int("num_attention_heads")
    if kv_heads_optional or c.is_null("num_key_value_heads"):
        kv_heads = c.int("num_key_value_heads", default=heads)
    else:
        kv_heads = c.int("num_key_value_heads")
    width = c.int("head_dim", default=head_dim)
    if width is None:
        hidden = c.int("hidden_size")
        if hidden % heads:
            raise ConfigError(
                f"{c.where}: hidden_size {hidden:,} is not a multiple of num_attention_heads {heads:,}, and there is no"
                " head_dim to go by. Correct one of them, or give head_dim."
            )
        width = hidden // heads
    if heads % kv_heads:
        raise ConfigError(
            f"{c.where}: num_attention_heads {heads:,} is not a multiple of num_key_value_heads {kv_heads:,}, so the"
            " heads cannot share keys and values. Correct one of them."
        )
    return GQA(heads=heads, kv_heads=kv_heads, head_dim=width, qkv_bias=qkv_bias, out_bias=out_bias, qk_norm=qk_norm)


def dense(c: Config, *, bias: bool = False) -> Dense:
    """One feed-forward network for all tokens."""
    return Dense(width=c.int("intermediate_size"), bias=bias)


def moe(c: Config, width: str) -> MoE:
    """Routed experts, each `width` wide."""
    experts, active = c.int("num_experts", "num_local_experts"), c.int("num_experts_per_tok")
    if active > experts:
        raise ConfigError(
            f"{c.where}: num_experts_per_tok {active:,} exceeds the number of experts {experts:,}. Correct one of them."
        )
    return MoE(experts=experts, active=active, width=c.int(width))


def layer_count(c: Config) -> int:
    """The number of layers."""
    return c.int("num_hidden_layers", maximum=MAX_LAYERS)


def sparse_steps(c: Config, mixer: GQA, dense: Dense, sparse: Callable[[], MoE]) -> list[Layers]:
    """Experts in every decoder_sparse_step-th layer but those of mlp_only_layers; no experts at all when there are 0.

    Source: transformers 5.23, modeling_qwen3_moe.py, Qwen3MoeDecoderLayer.
    """
    every = Indices.upto(layer_count(c))
    only_dense = c.ints("mlp_only_layers")
    step = c.int("decoder_sparse_step", default=1, maximum=MAX_LAYERS)
    if not c.int("num_experts", "num_local_experts", minimum=0):
        return [Layers(indices=every, layer=Layer(mixer=mixer, ffn=dense))]
    stepped = Indices.of(range(step - 1, int(every.count), step))
    spared = Indices.of(number for number in only_dense if number in stepped)
    routed = stepped.less(spared)
    kinds = [(routed, sparse()), (spared if step == 1 else every.less(routed), dense)]
    return [Layers(indices=indices, layer=Layer(mixer=mixer, ffn=ffn)) for indices, ffn in kinds if indices.count]


def by_kind(c: Config, kinds: Mapping[str, Layer], given: Sequence[str], key: str = "layer_types") -> list[Layers]:
    """Layers by the kind that a list of the config gives each.

    Args:
        kinds: the layer of each kind; the config's list must name no other.
        given: what the config's `key` holds, or what the architecture makes of an absent one.
    """
    count = layer_count(c)
    if len(given) != count:
        raise ConfigError(
            f"{c.where}: {key} has {len(given):,} entries and num_hidden_layers is {count:,}. Correct one."
        )
    places: dict[str, list[int]] = {}
    for place, kind in enumerate(given):
        places.setdefault(kind, []).append(place)
    for kind in places:
        if kind not in kinds:
            raise ConfigError(f"{c.where}: {key} names {printable(kind, 40)}, and {c.family} knows {', '.join(kinds)}.")
    return [Layers(indices=Indices.of(numbers), layer=kinds[kind]) for kind, numbers in places.items()]


def split(c: Config, *kinds: tuple[Indices, Callable[[], Layer]]) -> list[Layers]:
    """Layers by sets of numbers; a kind without numbers is left out, and its keys are not asked for."""
    return [Layers(indices=indices, layer=layer()) for indices, layer in kinds if indices.count]


def frame(
    c: Config,
    layers: Layer | Sequence[Layers],
    *,
    tied: bool = False,
    heads: Sequence[str] = _DECODER_HEADS,
    whole: Config | None = None,
    **more: Any,
) -> Spec:
    """What stands around the layers: vocabulary, width, head, ties, dtype.

    Args:
        layers: the one layer that is repeated num_hidden_layers times, or the layers by kind.
        tied: what an absent tie_word_embeddings means.
        heads: endings of class names that this architecture has, from HEADS.
        whole: the config that `c` is a part of, where a composite model nests its language model.
        more: further fields of the Spec.
    """
    whole = whole or c
    if isinstance(layers, Layer):
        layers = [Layers(indices=Indices.upto(layer_count(c)), layer=layers)]
    architecture, head = _head(whole, heads)
    fields: dict[str, Callable[[], Any]] = {
        "vocab": lambda: c.int("vocab_size"),
        "hidden": lambda: c.int("hidden_size"),
        "tied": lambda: _tied(whole, c, tied),
    }
    return Spec(
        family=whole.str("model_type"),
        architecture=architecture,
        dtype=whole.dtype() or c.dtype(),
        layers=tuple(layers),
        head=head,
        labels=_labels(whole) if head.endswith("_classification") else 2,
        **{name: read() for name, read in fields.items() if name not in more},
        **more,
    )


def _tied(whole: Config, c: Config, default: bool) -> bool:
    outer = whole.bool("tie_word_embeddings", default=None)
    inner = c.bool("tie_word_embeddings", default=None)
    return next((value for value in (outer, inner) if value is not None), default)


def _head(c: Config, heads: Sequence[str]) -> tuple[str, Head]:
    names = c.strs("architectures")
    if not names:
        return "", HEADS[heads[0]]
    for ending in sorted(heads, key=len, reverse=True):
        stem = names[0].removesuffix(ending)
        # `XForCausalLMY` and `XForRewardModel` are other classes, whatever they end in.
        if stem != names[0] and "For" not in stem:
            return names[0], HEADS[ending]
    raise UnknownArchitecture(
        f"{c.where}: no head of {c.family} is called {printable(names[0])}. Known are names that end in"
        f" {', '.join(heads)}."
    )


def _labels(c: Config) -> int:
    names, number = c.object("id2label"), c.int("num_labels", default=None)
    if names and number is not None and len(names) != number:
        raise ConfigError(
            f"{c.where}: id2label names {len(names):,} labels and num_labels is {number:,}. Correct one of them."
        )
    return len(names) if names else number or 2
