"""Layers by kind, and the whole model."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from hfcount.spec.components import GQA, MLA, SSM, Dense, FeedForward, Frozen, Mixer, MoE, Traits, Vision, symbol
from hfcount.tree.dims import Dim, has_key
from hfcount.tree.indices import Indices


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer(Frozen):
    """What one layer is made of: a mixer of tokens and a feed-forward network; some layers have one of them alone.

    `parallel_mixer` is a second mixer of the same tokens. A layer that `shares_kv` takes the keys and values of
    an earlier one. `repeats` is how often a token passes through it. `traits` are sizes and switches that one
    architecture alone has, by the name of their key.
    """

    mixer: Mixer | None = None
    ffn: FeedForward | None = None
    parallel_mixer: Mixer | None = None
    shares_kv: bool = False
    repeats: int = 1
    traits: Traits = field(default_factory=dict)

    @property
    def attention(self) -> GQA:
        """The mixer of a layer that is known to have softmax attention."""
        if not isinstance(self.mixer, GQA):
            raise TypeError("this layer has no grouped-query attention")
        return self.mixer

    @property
    def latent(self) -> MLA:
        """The mixer of a layer that is known to have latent attention."""
        if not isinstance(self.mixer, MLA):
            raise TypeError("this layer has no latent attention")
        return self.mixer

    @property
    def parallel_attention(self) -> GQA:
        """The second mixer of a layer that is known to have attention beside its first."""
        if not isinstance(self.parallel_mixer, GQA):
            raise TypeError("this layer has no attention beside its mixer")
        return self.parallel_mixer

    @property
    def ssm(self) -> SSM:
        """The mixer, or the second one, of a layer that is known to have a state space."""
        for mixer in (self.mixer, self.parallel_mixer):
            if isinstance(mixer, SSM):
                return mixer
        raise TypeError("this layer has no state space")

    @property
    def dense(self) -> Dense:
        """The feed-forward network of a layer that is known to have one for all tokens."""
        if not isinstance(self.ffn, Dense):
            raise TypeError("this layer has no feed-forward network for all tokens")
        return self.ffn

    @property
    def moe(self) -> MoE:
        """The experts of a layer that is known to have them."""
        if not isinstance(self.ffn, MoE):
            raise TypeError("this layer has no experts")
        return self.ffn


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers(Frozen):
    """The layers that are alike, by their numbers; formulas call how many they are `letter`."""

    indices: Indices
    layer: Layer
    letter: str = "N"

    def __post_init__(self) -> None:
        indices = replace(self.indices, count=Dim.named(self.letter, self.indices.count))
        object.__setattr__(self, "indices", indices)


def _numbered(parts: tuple[Layers, ...], letter: str) -> tuple[Layers, ...]:
    """Kinds of layers whose numbers are N1, N2, ...: equal numbers of different layers stay two symbols."""
    letters = [f"{letter}{place}" for place in range(1, len(parts) + 1)] if len(parts) > 1 else [letter]
    return tuple(part.but(letter=own) for part, own in zip(parts, letters, strict=False))


@dataclass(frozen=True, slots=True, kw_only=True)
class Window(Frozen):
    """Layers, by their numbers, whose attention looks at `extent` tokens at most, the token itself included."""

    indices: Indices
    extent: Annotated[int, symbol("t_w")]


Head = Literal[
    "causal_lm",
    "base",
    "sequence_classification",
    "token_classification",
    "question_answering",
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
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec(Frozen):
    """A whole model.

    Args:
        heads: those that the architecture's classes have.
        layer_count: the number of layers as the config gives it, where they are of several kinds.
        causal: whether a token sees none behind it, so that keys and values of earlier ones can be kept.
        windows: layers whose attention does not look back at all tokens.
        uncounted: why the mixers do not tell what the model keeps of earlier tokens, where they do not.
        labels: the width of a classification head.
        dtype: what the config declares the weights to be.
        positions: rows of a learned table of positions.
        mtp: multi-token-prediction layers, which are no part of the model proper; `mtp_announced` is False where the
            architecture has them and the config does not say whether the checkpoint does.
        encoder: the layers of the encoder, where there is one besides the decoder.
        languages: those that have parts of their own.
        traits: sizes and switches that one architecture alone has, by the name of their key.
        vision: the tower that sees images; text: the language model, where any may be nested.
    """

    family: str
    architecture: str
    dtype: str | None
    vocab: Annotated[int, symbol("|V|")]
    hidden: Annotated[int, symbol("d")]
    layers: tuple[Layers, ...]
    head: Head
    heads: tuple[Head, ...] = ()
    tied: bool
    causal: bool = True
    layer_count: int | None = None
    windows: tuple[Window, ...] = ()
    uncounted: str = ""
    labels: Annotated[int, symbol("c")] = 2
    positions: Annotated[int, symbol("n_p")] | None = None
    mtp: tuple[Layers, ...] = ()
    mtp_announced: bool = True
    encoder: tuple[Layers, ...] = ()
    languages: tuple[str, ...] = ()
    traits: Traits = field(default_factory=dict)
    vision: Vision | None = None
    text: "Spec | None" = None

    def __post_init__(self) -> None:
        Frozen.__post_init__(self)
        object.__setattr__(self, "layers", _numbered(self.layers, "N"))
        object.__setattr__(self, "encoder", _numbered(self.encoder, "N_e"))

    @property
    def eyes(self) -> Vision:
        """The tower of a model that is known to see."""
        if self.vision is None:
            raise TypeError("this model has no vision tower")
        return self.vision

    @property
    def depth(self) -> int:
        """The number of layers; a Dim where a key gives it."""
        counts = [part.indices.count for part in self.layers]
        total = sum(map(int, counts))
        return next((count for count in (*counts, self.layer_count) if count == total and has_key(count)), total)
