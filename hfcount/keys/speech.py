"""Encoders of speech with the heads of wav2vec 2.0."""

from collections.abc import Callable, Mapping, Sequence

from hfcount.errors import ConfigError
from hfcount.keys.model import decoder_spec, named
from hfcount.keys.sizes import divides, sized
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Head, Layer, Layers, Spec

SPEECH_HEADS: Mapping[str, Head] = {
    **named(("Model", "ForSequenceClassification"), ForCTC="ctc", ForAudioFrameClassification="token_classification"),
    "ForXVector": "speaker_classification",
}
"""Endings of the classes that most encoders of speech have."""

UNHEARD = tuple(
    "adapter_kernel_size adapter_stride apply_spec_augment classifier_proj_size codevector_dim conv_stride"
    " ctc_zero_infinity mask_feature_length mask_feature_min_masks mask_time_length mask_time_min_masks"
    " max_source_positions num_adapter_layers num_codevector_groups num_codevectors_per_group num_feat_extract_layers"
    " num_negatives output_hidden_size proj_codevector_dim rotary_embedding_base tdnn_dilation tdnn_dim tdnn_kernel"
    " xvector_output_dim".split()
)
"""Keys of encoders of speech that affect no shape, or only those of a head or an adapter that a model may lack."""


def speech(
    c: Config, layers: Layer | Sequence[Layers], traits: Mapping[str, int], *, heads: Mapping[str, Head] = SPEECH_HEADS
) -> Spec:
    """The Spec of an encoder of speech, with convolutions behind it if add_adapter says so.

    Args:
        layers: its layers, or one that is repeated.
        traits: sizes and switches that only this architecture has; those of the head and of the adapter are added.
        heads: endings of class names, as in `decoder_spec`; a part of another model has none.
    """
    d, own = c.int("hidden_size"), dict(traits)
    own["weighted"] = c.bool("use_weighted_layer_sum", default=False)
    adapting = c.bool("add_adapter", default=False)
    if adapting:
        own["num_adapter_layers"] = sized("N_a", c.int("num_adapter_layers", maximum=MAX_LAYERS))
        own["adapter_kernel_size"] = sized("w_a", c.int("adapter_kernel_size"))
    known = decoder_spec(c, layers, vocab=0, hidden=d, heads=heads, traits=own)
    out = c.int("output_hidden_size", default=None) if adapting else None
    known = known.but(causal=False, out=out, **({"architecture": "", "head": "base"} if c.nested else {}))
    described = list[Head]()
    for head in known.heads:
        needed, sizes = _OWN.get(head, ((), lambda c: {}))
        # The sizes of another head than the model's are not asked for where the config lacks them, nor have to agree.
        if head != known.head and not all(map(c.given, needed)):
            continue
        try:
            own |= sizes(c)
        except ConfigError:
            if head == known.head:
                raise
            continue
        described.append(head)
    vocab = own["vocab_size"] if known.head == "ctc" else 0
    return known.but(vocab=vocab, traits=own, heads=tuple(described))


def _speakers(c: Config) -> dict[str, int]:
    """The layers that make a vector of a speaker, by number, and that vector's width."""
    widths, kernels = c.ints("tdnn_dim"), c.ints("tdnn_kernel")
    if not widths or len(kernels) < len(widths):
        said = f"tdnn_dim has {len(widths):,} entries and tdnn_kernel {len(kernels):,}."
        raise c.error(said, "tdnn_dim", "Correct one of them.")
    traits: dict[str, int] = {"tdnn": len(widths)}
    for number, (width, kernel) in enumerate(zip(widths, kernels, strict=False)):
        traits[f"tdnn_dim.{number}"] = sized(f"T{number + 1}", width)
        traits[f"tdnn_kernel.{number}"] = sized(f"w_t{number + 1}", kernel)
    return traits | {"xvector_output_dim": sized("d_x", c.int("xvector_output_dim"))}


def _codebooks(c: Config) -> dict[str, int]:
    """The sizes of the codebooks that wav2vec 2.0 learns in its first training."""
    groups, wide = c.int("num_codevector_groups"), c.int("codevector_dim")
    divides(c, "num_codevector_groups", groups, "codevector_dim", wide)
    return {
        "num_codevector_groups": sized("G", groups),
        "num_codevectors_per_group": sized("V", c.int("num_codevectors_per_group")),
        "codevector_dim": sized("d_q", wide),
        "proj_codevector_dim": sized("d_p", c.int("proj_codevector_dim")),
    }


_OWN: Mapping[str, tuple[Sequence[str], Callable[[Config], dict[str, int]]]] = {
    "ctc": (("vocab_size",), lambda c: {"vocab_size": sized("|V|", c.int("vocab_size"))}),
    "sequence_classification": (
        ("classifier_proj_size",),
        lambda c: {"classifier_proj_size": sized("d_c", c.int("classifier_proj_size"))},
    ),
    "speaker_classification": (("tdnn_dim", "tdnn_kernel", "xvector_output_dim"), _speakers),
    "pretraining": (
        ("num_codevector_groups", "num_codevectors_per_group", "codevector_dim", "proj_codevector_dim"),
        _codebooks,
    ),
}
"""By head, the keys of sizes that only it has, and what reads them."""
