"""The whole model: its stacks of layers, and what is around them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, cast

from hfcount.spec.components import Frozen, Patches, symbol
from hfcount.spec.layers import Entries, Lacking, Layers, Window, known_as, numbered
from hfcount.spec.nesting import nested, symbol_within, symbols_of
from hfcount.spec.tree.dims import Dim, has_key

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Own = TypeVar("Own", covariant=True, default=object)
else:  # before Python 3.13 a type variable has no default
    from typing import TypeVar

    Own = TypeVar("Own", covariant=True)
Other = TypeVar("Other")

NOTHING: Mapping[str, Any] = {}
"""No parts."""


Head = Literal[
    "causal_lm",
    "retrieval",
    "contrastive",
    "alignment",
    "entity_linking",
    "grounding",
    "recognition",
    "image_segmentation",
    "object_detection",
    "base",
    "sequence_classification",
    "token_classification",
    "question_answering",
    "answer_spans",
    "entity_classification",
    "entity_pair_classification",
    "entity_span_classification",
    "masked_lm",
    "conditional_generation",
    "multiple_choice",
    "pretraining",
    "next_sentence",
    "image_classification",
    "double_heads",
    "reward",
    "encoder",
    "masked_image",
    "projection",
    "ctc",
    "prediction",
    "mtp",
    "regression",
    "series_classification",
    "speaker_classification",
    "speech_to_text",
    "text_to_speech",
    "speech_to_speech",
    "transducer",
    "backbone",
    "semantic_segmentation",
    "depth_estimation",
    "universal_segmentation",
    "instance_segmentation",
    "panoptic_segmentation",
    "pose_estimation",
    "image_to_image",
    "keypoint_matching",
    "dense_prediction",
    "normal_estimation",
]


Role = Literal[
    "action",
    "adapter",
    "atoms",
    "audio",
    "backbone",
    "both",
    "codes",
    "decoder",
    "depth",
    "detector",
    "diarization",
    "diffused",
    "encoder",
    "esmc",
    "fov",
    "high_res_vision",
    "image",
    "keypoints",
    "language",
    "mask",
    "meaning",
    "mels",
    "msa",
    "mtp",
    "multimodal",
    "patch",
    "perceiver",
    "placing",
    "predictor",
    "prompt",
    "protein",
    "qformer",
    "queries",
    "reading",
    "sam",
    "speech",
    "text",
    "tracker",
    "tts",
    "video",
    "vision",
    "vocoder",
    "vq",
    "waves",
    "words",
]
"""What a part is in the model around it."""


class Spec(Frozen, Generic[Own]):
    """A stack of layers and what is around it; a model of several stacks has the others as parts.

    Args:
        family: the model_type whose family builds the tree.
        dtype: the dtype that the config declares for the weights.
        vocab: rows of the embedding; 0 for a tower, which has none.
        heads: all heads that classes of the architecture have.
        layer_count: the number of layers that the config gives, if they are of several kinds.
        causal: whether tokens see only earlier ones, so that keys and values can be cached.
        windows: layers whose attention is limited to a window.
        entries: what layers read beside their tokens, which no window limits.
        uncounted: why the cache cannot be derived from the mixers; empty if it can.
        labels: the width of a classification head.
        positions: rows of a learned table of positions.
        patches: how a vision tower reads images.
        out: the width of a tower's output, if it is not `hidden`.
        features: of a backbone, the widths of what its stem and each stage make, if they do not follow from its layers.
        given_out: of a backbone, the stages that it gives out, from 1; the stem is 0.
        adapted: of a part, whether the model around it has it otherwise than it is alone.
        token_types: rows of a table of token types, if it has one.
        languages: languages that have parameters of their own.
        kind: where it has activations with weights, the model_type that says which modules hold them.
        trained: the activations with weights that the config names, by key.
        own: the sizes and switches that only this architecture has, mostly as Sizes.
        parts: the other stacks, each a Spec: `text` (a nested language model, whose layers are also this Spec's),
            `vision` and `audio` (towers), `encoder`, `mtp` (layers that predict further tokens).
        place: the name of this part in the model around it; empty for a whole model.
        announced: of a part, whether the config says that checkpoints have it.
    """

    family: str
    architecture: str = ""
    dtype: str | None = None
    vocab: Annotated[int, symbol("|V|")] = 0
    hidden: Annotated[int, symbol("d")]
    layers: tuple[Layers, ...]
    head: Head = "base"
    heads: tuple[Head, ...] = ()
    tied: bool = False
    causal: bool = True
    layer_count: int | None = None
    windows: tuple[Window, ...] = ()
    entries: tuple[Entries, ...] = ()
    uncounted: str = ""
    labels: Annotated[int, symbol("c")] = 2
    positions: Annotated[int, symbol("n_p")] | None = None
    patches: Patches | None = None
    out: Annotated[int, symbol("d_o")] | None = None
    features: tuple[int, ...] = ()
    given_out: tuple[int, ...] = ()
    adapted: bool = False
    token_types: int | None = None
    languages: tuple[str, ...] = ()
    kind: str = ""
    trained: Mapping[str, str] = NOTHING
    own: Own = cast(Any, None)
    parts: "Mapping[str, Spec]" = NOTHING
    place: str = ""
    announced: bool = True

    def _settle(self) -> None:
        super()._settle()
        letter = symbol_within("N", self.place[0]) if self.place not in ("", "text") else "N"
        if self.place or not any("_" in part.letter for part in self.layers):  # else they keep those of their place
            self.__dict__["layers"] = numbered(self.layers, letter)
        if any(part.place != name for name, part in self.parts.items()):
            known = symbols_of({**self.__dict__, "parts": ()}) if self.parts.keys() - _SAME else set()
            parts = {name: _placed(part, name, known) for name, part in self.parts.items()}
            self.__dict__["parts"] = parts

    @property
    def depth(self) -> int:
        """The number of layers; a Dim where a key gives it."""
        counts = [part.indices.count for part in self.layers]
        total = sum(map(int, counts))
        return next((count for count in (*counts, self.layer_count) if count == total and has_key(count)), total)

    @property
    def count_key(self) -> str | None:
        """The key that gives the number of layers; None if no single one does."""
        return self.depth.source if isinstance(self.depth, Dim) and has_key(self.depth) else None

    @property
    def seen(self) -> Patches:
        """The patches of a tower that is known to read images."""
        if self.patches is None:
            raise Lacking("this model sees no images")
        return self.patches

    @property
    def output(self) -> int:
        """The width of a tower's output."""
        return self.hidden if self.out is None else self.out

    def sizes(self, kind: type[Other]) -> Other:
        """The sizes and switches of a part that is known to have them of this kind."""
        return known_as(self.own, kind, f"model of type {self.family}")

    def having(self, sizes: Other) -> "Spec[Other]":
        """A copy with what only this architecture has."""
        return cast("Spec[Other]", self.replace(own=sizes))

    def part(self, role: Role) -> "Spec":
        """A part that the model is known to have."""
        return self.parts[role]

    def stack(self, part: str) -> tuple[Layers, ...]:
        """The layers of a part; none if the model has no such part."""
        return self.parts[part].layers if part in self.parts else ()

    def announces(self, part: str) -> bool:
        """Whether the config says that checkpoints have a part."""
        return part in self.parts and self.parts[part].announced

    def without(self, part: str) -> "Spec":
        """A copy without a part; the model need not have it."""
        return self.replace(parts={name: spec for name, spec in self.parts.items() if name != part})


_SAME = {"text", "mtp"}
"""Parts whose sizes are also those of the model around them."""


def _placed(part: Spec, name: str, known: set[tuple[str, str]]) -> Spec:
    """Gives a part its place; only parts with sizes of their own get symbols marked with their letter."""
    placed = part if name in _SAME or part.place else nested(part, name[0], known)
    return placed.replace(place=name)
