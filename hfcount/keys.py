"""Groups of config keys that many architectures share: attention, feed-forward, the frame around the layers."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from hfcount.errors import ConfigError, UnknownArchitecture
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import GQA, MLA, SSM, DeltaNet, Dense, Head, Layer, Layers, Mixer, MoE, Spec, Vision
from hfcount.text import printable
from hfcount.tree.indices import Indices, common

T = TypeVar("T")

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


def attention(
    c: Config,
    *,
    qkv_bias: bool = False,
    out_bias: bool = False,
    qk_norm: bool | Literal["width"] = False,
    sinks: bool = False,
    gated: bool = False,
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
    return GQA(
        heads=heads,
        kv_heads=kv_heads,
        head_dim=width,
        qkv_bias=qkv_bias,
        out_bias=out_bias,
        qk_norm=qk_norm,
        sinks=sinks,
        gated=gated,
    )


def dense(c: Config, *, bias: bool = False) -> Dense:
    """One feed-forward network for all tokens."""
    return Dense(width=c.int("intermediate_size"), bias=bias)


def moe(
    c: Config,
    width: str,
    *,
    experts: Sequence[str] = ("num_experts", "num_local_experts"),
    active: Sequence[str] = ("num_experts_per_tok",),
    shared: Sequence[str] = (),
) -> MoE:
    """Routed experts, each `width` wide.

    Args:
        experts: what the number of experts may be called, and `active` how many of them a token passes.
        shared: what the number of experts that all tokens pass may be called; together they are one wide network.
    """
    among, chosen = c.int(*experts), c.int(*active)
    if chosen > among:
        raise ConfigError(
            f"{c.where}: {active[0]} {chosen:,} exceeds the number of experts {among:,}. Correct one of them."
        )
    each = c.int(width)
    without = not shared or c.is_null(shared[0])
    return MoE(experts=among, active=chosen, width=each, shared=None if without else each * c.int(*shared, minimum=0))


def mla(c: Config, value_dim: int | None = None) -> MLA:
    """Latent attention; a q_lora_rank of null leaves the queries unranked.

    Args:
        value_dim: what an absent v_head_dim means; None when there must be one.
    """
    for derived in ("num_key_value_heads", "head_dim", "qk_head_dim"):
        c.int(derived, default=None)  # written beside the others, and of no effect
    return MLA(
        heads=c.int("num_attention_heads"),
        query_rank=None if c.is_null("q_lora_rank") else c.int("q_lora_rank"),
        kv_rank=c.int("kv_lora_rank"),
        nope_dim=c.int("qk_nope_head_dim"),
        rope_dim=c.int("qk_rope_head_dim"),
        value_dim=c.int("v_head_dim") if value_dim is None else c.int("v_head_dim", default=value_dim),
        bias=c.bool("attention_bias", default=False),
    )


def dense_and_sparse(
    c: Config, *names: str, default: int | None = None, listed: str | None = "mlp_layer_types"
) -> tuple[Indices, Indices]:
    """Which layers have one network for all tokens, and which have experts.

    Args:
        names: what the number of dense layers, which stand first, may be called; `default` is that of an absent one.
        listed: a list of `dense` and `sparse` that comes before the number where the config has it.
    """
    count = layer_count(c)
    given = c.strs(listed) if listed else []
    number = c.int(
        *names, minimum=0, maximum=MAX_LAYERS, **({} if default is None and not given else {"default": default})
    )
    if not given:
        first = min(number, count)
        return Indices.upto(first), Indices.of(range(first, count))
    dense, sparse = listing(c, listed or "", given, "dense", "sparse")
    return dense, sparse


def listing(c: Config, key: str, given: Sequence[T], *kinds: T) -> list[Indices]:
    """The layers of each of `kinds`, by a list that the config has under `key`, one entry for each layer."""
    count = layer_count(c)
    if len(given) != count:
        raise ConfigError(
            f"{c.where}: {key} has {len(given):,} entries and num_hidden_layers is {count:,}. Correct one."
        )
    for kind in set(given) - set(kinds):
        known = ", ".join(map(str, kinds))
        raise ConfigError(f"{c.where}: {key} names {printable(str(kind), 40)}, and {c.family} knows {known}.")
    return [Indices.of(place for place, own in enumerate(given) if own == kind) for kind in kinds]


def mtp(c: Config, layer: Callable[[], Layer]) -> tuple[Layers, ...]:
    """Multi-token-prediction layers, numbered on behind the others; each is `layer` with an entrance and a head."""
    more = c.int("num_nextn_predict_layers", "num_mtp_layers", default=0, minimum=0, maximum=MAX_LAYERS)
    if not more:
        return ()
    start, one = int(layer_count(c)), layer()
    marked = one.but(extras={**one.extras, "mtp": 1})
    return (Layers(indices=Indices.of(range(start, start + more)), layer=marked),)


def layer_count(c: Config, *names: str) -> int:
    """The number of layers, under the first of `names` where they are not num_hidden_layers."""
    return c.int(*(names or ("num_hidden_layers",)), maximum=MAX_LAYERS)


def alike(layer: Layer, count: int) -> list[Layers]:
    """`count` layers that are all alike."""
    return [Layers(indices=Indices.upto(count), layer=layer)]


def encoder(
    c: Config,
    *,
    heads: Sequence[str] = ENCODER_HEADS,
    tied: bool = True,
    bias: bool = True,
    extras: Mapping[str, int] | None = None,
) -> Spec:
    """An encoder in the manner of BERT: learned positions, token types, layers of attention and two projections.

    Args:
        bias: whether queries, keys and values have one.
        extras: sizes and switches that this architecture alone has.
    """
    d = c.int("hidden_size")
    layer = Layer(
        mixer=multi_head(c, d, c.int("num_attention_heads"), qkv_bias=bias),
        ffn=dense(c, bias=True),
        extras={"add_cross_attention": c.bool("add_cross_attention", default=False)},
    )
    sizes = {"type_vocab_size": c.int("type_vocab_size"), **(extras or {})}
    rows = c.int("max_position_embeddings")
    return frame(c, layer, heads=heads, tied=tied, hidden=d, positions=rows, extras=sizes)


def sequence_to_sequence(c: Config, *, heads: Sequence[str], offset: int = 0, **more: Any) -> Spec:
    """An encoder and a decoder in the manner of BART, each with its own depth, heads and width.

    Args:
        offset: rows of the tables of positions before the first.
    """
    d = c.int("d_model", "hidden_size")

    def layers(side: str, *names: str) -> tuple[Layers, ...]:
        count = layer_count(c, f"{side}_layers", *names)
        mixer = multi_head(c, d, c.int(f"{side}_attention_heads"))
        return tuple(alike(Layer(mixer=mixer, ffn=Dense(width=c.int(f"{side}_ffn_dim"), bias=True)), count))

    if "positions" not in more:
        more["positions"] = c.int("max_position_embeddings") + offset
    fields = {"hidden": d, "encoder": layers("encoder"), "tied": True, **more}
    return frame(c, layers("decoder"), heads=heads, **fields)


def rotary_share(c: Config, *names: str, default: float = 1.0) -> float:
    """The part of a head that has rotary positions, among the keys of rope_parameters or, older, of the config."""
    inner, names = c.sub("rope_parameters"), ("partial_rotary_factor", *names)
    return c.share(*names, default=default) if inner is None else inner.share(*names, default=default)


def summary(c: Config, width: int, labels: int = 1) -> int:
    """Outputs of the projection that sums a sequence up for multiple choice; 0 when there is none."""
    if not c.bool("summary_use_proj", default=True):
        return 0
    return labels if c.bool("summary_proj_to_labels", default=True) else width


def multi_head(c: Config, width: int, heads: int, *, qkv_bias: bool = True, out_bias: bool = True) -> GQA:
    """Attention in its first form (arXiv:1706.03762): heads share the width, each with keys and values of its own."""
    if width % heads:
        raise ConfigError(
            f"{c.where}: the width {width:,} is not a multiple of the {heads:,} attention heads, which share it."
            " Correct one of them."
        )
    return GQA(heads=heads, kv_heads=heads, head_dim=width // heads, qkv_bias=qkv_bias, out_bias=out_bias)


def sparse_steps(
    c: Config, mixer: GQA, dense: Dense, sparse: Callable[[], MoE], only_dense: Sequence[int] = ()
) -> list[Layers]:
    """Experts in every decoder_sparse_step-th layer but those of mlp_only_layers; no experts at all when there are 0.

    Args:
        only_dense: what an absent mlp_only_layers means.

    Source: transformers 5.23, modeling_qwen3_moe.py, Qwen3MoeDecoderLayer.
    """
    every = Indices.upto(layer_count(c))
    only_dense = c.ints("mlp_only_layers", default=only_dense)
    step = c.int("decoder_sparse_step", default=1, maximum=MAX_LAYERS)
    if not c.int("num_experts", "num_local_experts", minimum=0):
        return [Layers(indices=every, layer=Layer(mixer=mixer, ffn=dense))]
    stepped = Indices.of(range(step - 1, int(every.count), step))
    spared = Indices.of(number for number in only_dense if number in stepped)
    routed = stepped.less(spared)
    kinds = [(routed, sparse()), (spared if step == 1 else every.less(routed), dense)]
    return [Layers(indices=indices, layer=Layer(mixer=mixer, ffn=ffn)) for indices, ffn in kinds if indices.count]


def by_kind(
    c: Config,
    kinds: Mapping[str, Layer | Callable[[], Layer]],
    given: Sequence[str],
    key: str = "layer_types",
    count: int | None = None,
) -> list[Layers]:
    """Layers by the kind that a list of the config gives each.

    Args:
        kinds: the layer of each kind, or what makes it when it is asked for; the config's list must name no other.
        given: what the config's `key` holds, or what the architecture makes of an absent one.
        count: how many layers there are, where num_hidden_layers need not say so.
    """
    count = layer_count(c) if count is None else count
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
    made = {kind: one if isinstance(one, Layer) else one() for kind, one in kinds.items() if kind in places}
    return [Layers(indices=Indices.of(numbers), layer=made[kind]) for kind, numbers in places.items()]


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


def _head(c: Config, heads: Sequence[str]) -> tuple[str, Head]:
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
    return len(names) if names else number or default


_LATER_NAMES = {"attention": "full_attention", "mamba": "linear_attention"}


def kinds(c: Config, *names: str) -> list[str]:
    """What the config's list gives each layer, under the names that transformers 5 has for the kinds."""
    return [_LATER_NAMES.get(kind, kind) for kind in c.strs(*(names or ("layer_types", "layers_block_type")))]


def every_nth(c: Config, key: str, default: int | None = None, *, offset: str | None = None) -> Indices:
    """The last layer of each period of the length that `key` gives, or the one that `offset` gives."""
    count = layer_count(c)
    period = c.int(key, maximum=MAX_LAYERS) if default is None else c.int(key, default=default, maximum=MAX_LAYERS)
    first = period - 1 if offset is None else c.int(offset, minimum=0, maximum=MAX_LAYERS)
    if first >= period:
        raise ConfigError(f"{c.where}: {offset} is {first:,}, and must be smaller than {key}, which is {period:,}.")
    return Indices.of(range(first, count, period))


def mixed(c: Config, full: Mixer, other: Mixer, given: Sequence[str], places: Indices) -> list[Layers]:
    """Layers of softmax attention and of another mixer in turn, as the config's list says.

    Args:
        given: the kinds of the layers; when empty, `full` stands at `places`.
    """
    if given:
        return by_kind(c, {"full_attention": Layer(mixer=full), "linear_attention": Layer(mixer=other)}, given)
    rest = Indices.upto(layer_count(c)).less(places)
    return split(c, (places, lambda: Layer(mixer=full)), (rest, lambda: Layer(mixer=other)))


def crossed(mixers: Sequence[Layers], networks: Sequence[Layers]) -> list[Layers]:
    """Layers whose mixer goes by one rule and whose feed-forward network by another."""
    return [
        Layers(indices=both, layer=mixer.layer.model_copy(update={"ffn": network.layer.ffn}))
        for mixer in mixers
        for network in networks
        if (both := common(mixer.indices, network.indices)).count
    ]


def delta_net(c: Config) -> DeltaNet:
    """Gated DeltaNet, whose key heads serve several value heads each."""
    key_heads, value_heads = c.int("linear_num_key_heads"), c.int("linear_num_value_heads")
    if value_heads % key_heads:
        raise ConfigError(
            f"{c.where}: linear_num_value_heads {value_heads:,} is not a multiple of linear_num_key_heads"
            f" {key_heads:,}, so the values cannot share keys. Correct one of them."
        )
    return DeltaNet(
        key_heads=key_heads,
        value_heads=value_heads,
        key_dim=c.int("linear_key_head_dim"),
        value_dim=c.int("linear_value_head_dim"),
        kernel=c.int("linear_conv_kernel_dim"),
    )


def gated_moe(c: Config) -> MoE:
    """Routed experts, and one for all tokens that a gate opens."""
    routed = moe(c, "moe_intermediate_size")
    return MoE(**{**dict(routed), "shared": c.int("shared_expert_intermediate_size")})


def qwen3_vision(c: Config) -> Vision:
    """The tower of Qwen3-VL and its successors; `deepstack` is how many layers hand tokens on besides the last.

    Source of what absent keys mean: transformers 5.23, configuration_qwen3_vl.py, Qwen3VLVisionConfig.
    """
    published = {"depth": 27, "hidden_size": 1152, "intermediate_size": 4304, "patch_size": 16, "in_channels": 3}
    merging = {"temporal_patch_size": 2, "spatial_merge_size": 2, "out_hidden_size": 3584}
    eyes = c.part("vision_config", defaults={**published, **merging, "num_position_embeddings": 2304})
    side = eyes.int("patch_size")
    return Vision(
        hidden=seeing(eyes),
        layers=eyes.int("depth", maximum=MAX_LAYERS),
        width=eyes.int("intermediate_size"),
        patch=(eyes.int("temporal_patch_size"), side, side),
        channels=eyes.int("in_channels"),
        positions=eyes.int("num_position_embeddings"),
        merge=eyes.int("spatial_merge_size"),
        out=eyes.int("out_hidden_size"),
    )


def drafts(c: Config, key: str, layer: Layer, default: int = 0) -> tuple[Layers, ...]:
    """The layers of a small model that drafts further tokens, as many as `key` says, numbered from 0."""
    count = c.int(key, default=default, minimum=0, maximum=MAX_LAYERS)
    return (Layers(indices=Indices.upto(count), layer=layer),) if count else ()


def around(c: Config, part: Config, text: Spec, **more: Any) -> Spec:
    """What stands around a language model of any architecture, whose own config is the `part` of `c`.

    Args:
        more: further arguments of frame() and fields of the Spec.
    """
    return frame(part, text.layers, whole=c, vocab=text.vocab, hidden=text.hidden, text=text, **more)


def siglip(eyes: Config) -> Vision:
    """SigLIP's tower; `vision_use_head` is whether it pools its tokens.

    Source of what absent keys mean: transformers 5.23, configuration_siglip.py, SiglipVisionConfig.
    """
    side = eyes.int("patch_size", default=16)
    along = eyes.int("image_size", default=224) // side
    return Vision(
        hidden=seeing(eyes, default=768),
        layers=eyes.int("num_hidden_layers", default=12, maximum=MAX_LAYERS),
        width=eyes.int("intermediate_size", default=3072),
        patch=(side, side),
        channels=eyes.int("num_channels", default=3),
        positions=along * along,
        extras={"vision_use_head": int(eyes.bool("vision_use_head", default=True))},
    )


def divides(c: Config, name: str, part: int, whole_name: str, whole: int) -> int:
    """`whole` / `part`, of which nothing may remain."""
    if whole % part:
        raise ConfigError(
            f"{c.where}: {whole_name} is {whole:,}, which is not a multiple of {name}, {part:,}. Correct one of them."
        )
    return whole // part


def expanded(c: Config, key: str, default: int | None = None) -> int:
    """The inner width of a state space: `key` times the hidden size, rounded down."""
    factor = c.number(key) if default is None else c.number(key, default=default)
    inner = int(factor * c.int("hidden_size"))
    if not inner:
        raise ConfigError(f"{c.where}: {key} times hidden_size is less than 1. Correct one of them.")
    return inner


def step_rank(c: Config, key: str) -> int:
    """The rank from which Mamba makes its steps; `auto`, or none, is a sixteenth of the hidden size, rounded up."""
    return c.int(key) if c.is_int(key) else _auto(c, key, -(-c.int("hidden_size") // 16))


def mamba2(c: Config, inner: str | None = None) -> SSM:
    """Mamba-2 by the keys that begin with mamba_; `inner` gives its width where the config has that key."""
    width = c.int(inner, default=None) if inner else None
    width = expanded(c, "mamba_expand", 2) if width is None else width
    heads = c.int("mamba_n_heads")
    each = divides(c, "mamba_n_heads", heads, "the inner width", width)
    given = c.int("mamba_d_head") if c.is_int("mamba_d_head") else _auto(c, "mamba_d_head", each)
    if given != each:
        raise ConfigError(
            f"{c.where}: mamba_d_head is {given:,}, and {heads:,} heads of an inner width of {width:,} have {each:,}"
            " each. Correct one of them."
        )
    return SSM(
        inner=width,
        state=c.int("mamba_d_state"),
        kernel=c.int("mamba_d_conv"),
        heads=heads,
        groups=c.int("mamba_n_groups"),
        conv_bias=c.bool("mamba_conv_bias", default=True),
        bias=c.bool("mamba_proj_bias", default=False),
    )


def _auto(c: Config, key: str, value: int) -> int:
    found = c.str(key, default="auto")
    if found != "auto":
        raise ConfigError(f"{c.where}: {key} is {printable(found, 40)}, and must be a whole number or auto.")
    return value


def repeated(
    c: Config, kinds: Mapping[str, Callable[[], Layer]], given: Sequence[str], times: int
) -> tuple[Layers, ...]:
    """A short stack of layers `times` over, by the config's kinds; the first and last of each are marked as such."""
    found = []
    for place, kind in enumerate(given):
        if kind not in kinds:
            raise ConfigError(f"{c.where}: layers that predict further tokens cannot be {printable(kind, 40)}.")
        ends = {"first": int(place == 0), "last": int(place == len(given) - 1)}
        one = kinds[kind]()
        indices = Indices.of(range(place, len(given) * times, len(given)))
        found.append(Layers(indices=indices, layer=one.model_copy(update={"extras": {**one.extras, **ends}})))
    return tuple(found)


def periodic(c: Config, kinds: Mapping[str, Layer], pattern: Sequence[str], key: str) -> list[Layers]:
    """Layers whose kinds repeat after a while, as the list under `key` says."""
    count = layer_count(c)
    for kind in pattern:
        if kind not in kinds:
            raise ConfigError(f"{c.where}: {key} names {printable(kind, 40)}, and {c.family} knows {', '.join(kinds)}.")
    places = [(kind, range(place, max(place, count), len(pattern))) for place, kind in enumerate(pattern)]
    return [Layers(indices=Indices.of(numbers), layer=kinds[kind]) for kind, numbers in places if numbers]


def seeing(eyes: Config, *names: str, default: int | None = None) -> int:
    """The width of a tower, which its attention heads share; `names` are what the width may be called."""
    width = eyes.int(*(names or ("hidden_size",)), **({} if default is None else {"default": default}))
    heads = eyes.int("num_attention_heads", "num_heads", "attention_heads", "encoder_attention_heads", default=None)
    if heads and width % heads:
        raise ConfigError(
            f"{eyes.where}: the width {width:,} is not a multiple of the {heads:,} attention heads, which share it."
            " Correct one of them."
        )
    return width


def wide_attention(c: Config) -> GQA:
    """Attention over a state and the embedding beside it, twice as wide as either, which its heads share."""
    heads, hidden = c.int("num_attention_heads"), c.int("hidden_size")
    width = c.int("attention_head_dim", default=None)
    if width is None:
        width = divides(c, "num_attention_heads", heads, "2 · hidden_size", 2 * hidden)
    kv_heads = c.int("num_key_value_heads", default=heads)
    divides(c, "num_key_value_heads", kv_heads, "num_attention_heads", heads)
    return GQA(heads=heads, kv_heads=kv_heads, head_dim=width)


def hybrids(c: Config) -> list[int]:
    """The numbers of the layers that the config's list calls hybrid."""
    given = kinds(c, "layers_block_type")
    known = {"linear_attention": Layer(), "hybrid": Layer(extras={"hybrid": 1})}
    parts = by_kind(c, known, given, "layers_block_type") if given else []
    return [number for part in parts if part.layer.extras for number in part.indices]


def owned(c: Config, one: Layer, owners: Sequence[Indices], sharing: Indices) -> list[Layers]:
    """Layers of which some share a second mixer and a network, which the `owners` hold, one block each.

    An owner is marked by the number of its block, from 1; layers that do not share have neither.
    """
    alone = Indices.upto(layer_count(c)).less(*owners, sharing)
    result = [(alone, one.model_copy(update={"beside": None})), (sharing, one)]
    result += [(place, one.model_copy(update={"extras": {"owns": block + 1}})) for block, place in enumerate(owners)]
    return [Layers(indices=indices, layer=layer) for indices, layer in result if indices.count]


def clip_or_siglip(eyes: Config) -> Vision:
    """The tower that vision_config's model_type names; SigLIP's has `vision_use_head` in its extras."""
    kind = eyes.str("model_type", default="clip_vision_model")
    if kind == "siglip_vision_model":
        return siglip(eyes)
    if kind != "clip_vision_model":
        raise UnknownArchitecture(
            f"{eyes.where}: model_type is {printable(kind, 60)}, and of the towers of {eyes.family} those called"
            " clip_vision_model and siglip_vision_model are described."
        )
    side = eyes.int("patch_size", default=32)
    along = eyes.int("image_size", default=224) // side
    return Vision(
        hidden=seeing(eyes, default=768),
        layers=eyes.int("num_hidden_layers", default=12, maximum=MAX_LAYERS),
        width=eyes.int("intermediate_size", default=3072),
        patch=(side, side),
        channels=eyes.int("num_channels", default=3),
        positions=along * along + 1,
    )


def whisper(ears: Config) -> dict[str, int]:
    """The sizes of Whisper's encoder, by the names of hfcount.tree.parts.audio.whisper's arguments.

    Source of what absent keys mean: transformers 5.23, configuration_voxtral.py and configuration_qwen2_audio.py.
    """
    return {
        "d": seeing(ears, "hidden_size", "d_model", default=1280),
        "layers": ears.int("num_hidden_layers", "encoder_layers", default=32, maximum=MAX_LAYERS),
        "width": ears.int("intermediate_size", "encoder_ffn_dim", default=5120),
        "mel": ears.int("num_mel_bins", default=128),
        "positions": ears.int("max_source_positions", default=1500),
    }


def tied_anywhere(whole: Config, part: Config) -> bool:
    """Whether either config ties the head, where an outer false does not override an inner true."""
    return any(config.bool("tie_word_embeddings", default=False) for config in (whole, part))
