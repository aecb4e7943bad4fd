"""Speech encoders with the heads of wav2vec 2.0."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Self, TypeVar

from hfcount.architectures.keys import decoder_spec, dim, divides, named
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.norms import layer_norm
from hfcount.architectures.layers.temporal import conv
from hfcount.errors import ConfigError
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Head, Lacking, Layer, Layers, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

T = TypeVar("T")

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


def needed(sizes: T | None, head: Head) -> T:
    """The sizes of a head, which the config has.

    Raises:
        TypeError: it does not.
    """
    if sizes is None:
        raise Lacking(f"this encoder of speech has no sizes of the head {head}")
    return sizes


class Frames(NamedTuple):
    """A layer that makes `width` elements of each `kernel` frames."""

    width: int
    kernel: int


class Speakers(Record):
    """X-vectors, by layers of T_i elements that see w_i frames each (https://doi.org/10.1109/ICASSP.2018.8461375)."""

    layers: tuple[Frames, ...]
    xvector_output_dim: int

    @classmethod
    def read(cls, c: Config) -> Self:
        """The layers that make a vector of a speaker, and that vector's width.

        Raises:
            ConfigError: there are no layers, or not all have a kernel.
        """
        widths, kernels = c.ints("tdnn_dim"), c.ints("tdnn_kernel")
        if not widths or len(kernels) < len(widths):
            text = f"tdnn_dim has {len(widths):,} entries and tdnn_kernel {len(kernels):,}."
            raise c.error("list-length", text, "tdnn_dim", "Correct one of them.")
        layers = tuple(
            Frames(dim(f"T{number}", width), dim(f"w_t{number}", kernel))
            for number, (width, kernel) in enumerate(zip(widths, kernels, strict=False), 1)
        )
        return cls(layers=layers, xvector_output_dim=dim("d_x", c.int("xvector_output_dim")))

    def tensors(self, d: int, labels: int) -> Block:
        """Its tensors, for frames of `d` elements.

        projector (T_1, d), tdnn.i.kernel (T_i, w_i·T_i-1), feature_extractor (d_x, 2·T_n), classifier (d_x, d_x),
        objective.weight (d_x, c).
        """
        x, layers = self.xvector_output_dim, dict[str, Block]()
        before = first = self.layers[0].width
        for number, layer in enumerate(self.layers):
            layers[str(number)] = block("other", kernel=Linear(before * layer.kernel, layer.width, True))
            before = layer.width
        return block(
            projector=Linear(d, first, True, "other"),
            tdnn=Block(layers),
            feature_extractor=Linear(2 * before, x, True, "other"),
            classifier=Linear(x, x, True, "other"),
            objective=block("other", weight=Tensor((x, labels))),
        )


class Codebooks(Record):
    """The quantiser of wav2vec 2.0's pretraining: G codebooks of V vectors, d_q wide together."""

    num_codevector_groups: int
    num_codevectors_per_group: int
    codevector_dim: int
    proj_codevector_dim: int

    @classmethod
    def read(cls, c: Config) -> Self:
        """Its sizes.

        Raises:
            ConfigError: the groups do not divide the width of their vectors.
        """
        groups, wide = c.int("num_codevector_groups"), c.int("codevector_dim")
        divides(c, "num_codevector_groups", groups, "codevector_dim", wide)
        return cls(
            num_codevector_groups=dim("G", groups),
            num_codevectors_per_group=dim("V", c.int("num_codevectors_per_group")),
            codevector_dim=dim("d_q", wide),
            proj_codevector_dim=dim("d_p", c.int("proj_codevector_dim")),
        )

    @property
    def words(self) -> int:
        """The vectors of all codebooks."""
        return self.num_codevector_groups * self.num_codevectors_per_group

    def tensors(self, d: int, inputs: int) -> Block:
        """Its tensors, for `inputs` elements of a frame before the layers and `d` behind them.

        quantizer.codevectors (1, G·V, d_q/G) and weight_proj (G·V, inputs), project_hid (d_p, d), project_q (d_p, d_q).
        """
        groups, wide, narrow = self.num_codevector_groups, self.codevector_dim, self.proj_codevector_dim
        return block(
            quantizer=block(
                "other",
                codevectors=Tensor((1, self.words, wide // groups)),
                weight_proj=Linear(inputs, self.words, True),
            ),
            project_hid=Linear(d, narrow, True, "other"),
            project_q=Linear(wide, narrow, True, "other"),
        )


class Adapter(Sizes):
    """Convolutions that shorten the output."""

    num_adapter_layers: int = count("N_a")
    adapter_kernel_size: int = size("w_a")

    def tensors(self, d: int, out: int) -> Block:
        """Its tensors: proj (d_o, d) and its norm unless d_o is d, layers.i.conv (2·d_o, d_o, w_a)."""
        convolution = block(conv=conv(out, 2 * out, self.adapter_kernel_size))
        apart = out != d
        return block(
            "other",
            proj=Linear(d, out, True) if apart else None,
            proj_layer_norm=layer_norm(out) if apart else None,
            layers=Repeat(Indices.below(self.num_adapter_layers), convolution),
        )


class Speech(Record):
    """The sizes of a speech encoder beside its layers; those of absent heads are None.

    `weighted` says whether a head reads a weighted sum of all layers.
    """

    weighted: bool
    adapter: Adapter | None
    vocab_size: int | None = None
    classifier_proj_size: int | None = None
    speakers: Speakers | None = None
    codebooks: Codebooks | None = None

    def adapted(self, s: Spec) -> Block | None:
        """The convolutions behind the layers of `s`, if there are any."""
        return self.adapter.tensors(s.hidden, s.output) if self.adapter else None

    def heads(self, s: Spec, prefix: str, body: Block, **more: Block) -> Block:
        """An encoder with its head: characters, classes of recordings or of frames, or speakers; `more` are others.

        Tensors: lm_head (|V|, d_o); or, the last with layer_weights (N + 1) if `weighted`, projector (d_c, d) and
        classifier (c, d_c); classifier (c, d); or, for speakers, those of `Speakers`.
        """
        d, labels = s.hidden, dict[str, Block]()
        weights = Tensor((s.depth + 1,), component="other") if self.weighted else None
        if s.head == "sequence_classification":
            wide = needed(self.classifier_proj_size, s.head)
            labels[s.head] = block(
                layer_weights=weights, projector=Linear(d, wide, True, "other"), classifier=classifier(s, wide)
            )
        if s.head == "token_classification":
            labels[s.head] = block(layer_weights=weights, classifier=classifier(s))
        if s.head == "speaker_classification":
            heads = needed(self.speakers, s.head).tensors(d, s.labels)
            labels[s.head] = Block({**block(layer_weights=weights).children, **heads.children})
        if s.head == "ctc":
            labels[s.head] = block(lm_head=Linear(s.output, needed(self.vocab_size, s.head), True, "lm_head"))
        return headed(s, prefix, body, **labels, **more)


def speech(c: Config, layers: Layer | Sequence[Layers], *, heads: Mapping[str, Head] = SPEECH_HEADS) -> Spec[Speech]:
    """The Spec of an encoder of speech, with convolutions behind it if add_adapter says so.

    Args:
        layers: its layers, or one that is repeated.
        heads: endings of class names, as in `decoder_spec`; a part of another model has none.
    """
    d, weighted = c.int("hidden_size"), c.bool("use_weighted_layer_sum", default=False)
    adapter = Adapter.read(c) if c.bool("add_adapter", default=False) else None
    known = decoder_spec(c, layers, vocab=0, hidden=d, heads=heads)
    out = c.int("output_hidden_size", default=None) if adapter else None
    known = known.replace(causal=False, out=out, **({"architecture": "", "head": "base"} if c.nested else {}))
    sizes, described = Speech(weighted=weighted, adapter=adapter), list[Head]()
    for head in known.heads:
        needed, read = _OWN.get(head, ((), lambda sizes, c: sizes))
        # The sizes of another head than the model's are not asked for where the config lacks them, nor have to agree.
        if head != known.head and not all(map(c.given, needed)):
            continue
        try:
            sizes = read(sizes, c)
        except ConfigError:
            if head == known.head:
                raise
            continue
        described.append(head)
    vocab = (sizes.vocab_size or 0) if known.head == "ctc" else 0
    return known.replace(vocab=vocab, heads=tuple(described)).having(sizes)


_OWN: Mapping[str, tuple[Sequence[str], Callable[[Speech, Config], Speech]]] = {
    "ctc": (("vocab_size",), lambda sizes, c: sizes.replace(vocab_size=dim("|V|", c.int("vocab_size")))),
    "sequence_classification": (
        ("classifier_proj_size",),
        lambda sizes, c: sizes.replace(classifier_proj_size=dim("d_c", c.int("classifier_proj_size"))),
    ),
    "speaker_classification": (
        ("tdnn_dim", "tdnn_kernel", "xvector_output_dim"),
        lambda sizes, c: sizes.replace(speakers=Speakers.read(c)),
    ),
    "pretraining": (
        ("num_codevector_groups", "num_codevectors_per_group", "codevector_dim", "proj_codevector_dim"),
        lambda sizes, c: sizes.replace(codebooks=Codebooks.read(c)),
    ),
}
"""For each head: the keys that only it reads, and the function that reads them."""
