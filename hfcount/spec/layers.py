"""Layers by kind, and those that see only so far."""

from typing import Annotated, TypeVar

from hfcount.spec.components import GQA, MLA, SSM, Dense, FeedForward, Frozen, Mixer, MoE, symbol
from hfcount.spec.tree.dims import Dim
from hfcount.spec.tree.indices import Indices

Other = TypeVar("Other")


class Lacking(TypeError):
    """A layer, a model or a part lacks what the family asks of it, since it is of another kind."""


def known_as(sizes: object, kind: type[Other], whose: str) -> Other:
    """The sizes of a layer or model that is known to have them of this kind; Lacking says whose they are not."""
    if not isinstance(sizes, kind):
        raise Lacking(f"this {whose} has no {kind.__name__}")
    return sizes


class Layer(Frozen):
    """One layer: a mixer of tokens and a feed-forward network; some layers have only one of them.

    Args:
        parallel_mixer: a second mixer of the same tokens.
        shares_kv: whether the layer uses the keys and values of an earlier one.
        repeats: how often a token passes through it.
        later_window: the most tokens that passes after the first keep of their own, if these also read what the first
            keeps; None if each pass is as the first.
        stage_width: elements of what a stage of layers makes, where stages differ.
        cross_attention: whether it attends to another sequence, too.
        memory: elements of that sequence's tokens, if not as many as of its own.
        mtp: whether it predicts further tokens.
        first: whether it begins a round of layers, and `last` whether it ends one.
        convolved: elements of the inputs of a convolution that it keeps beside its mixers.
        own: the sizes and switches of such layers in one architecture, as a Record.
    """

    mixer: Mixer | None = None
    ffn: FeedForward | None = None
    parallel_mixer: Mixer | None = None
    shares_kv: bool = False
    repeats: int = 1
    later_window: int | None = None
    stage_width: int | None = None
    cross_attention: bool = False
    memory: int | None = None
    mtp: bool = False
    first: bool = False
    last: bool = False
    convolved: int = 0
    own: object = None

    def sizes(self, kind: type[Other]) -> Other:
        """The sizes and switches of a layer that is known to have them of this kind."""
        return known_as(self.own, kind, "layer")

    @property
    def width(self) -> int:
        """The width of a layer whose stage is known to have one of its own."""
        if self.stage_width is None:
            raise Lacking("this layer belongs to no stage with a width of its own")
        return self.stage_width

    @property
    def attention(self) -> GQA:
        """The mixer of a layer that is known to have softmax attention."""
        if not isinstance(self.mixer, GQA):
            raise Lacking("this layer has no grouped-query attention")
        return self.mixer

    @property
    def latent(self) -> MLA:
        """The mixer of a layer that is known to have latent attention."""
        if not isinstance(self.mixer, MLA):
            raise Lacking("this layer has no latent attention")
        return self.mixer

    @property
    def parallel_attention(self) -> GQA:
        """The second mixer of a layer that is known to have attention beside its first."""
        if not isinstance(self.parallel_mixer, GQA):
            raise Lacking("this layer has no attention beside its mixer")
        return self.parallel_mixer

    @property
    def ssm(self) -> SSM:
        """The mixer, or the second one, of a layer that is known to have a state space."""
        for mixer in (self.mixer, self.parallel_mixer):
            if isinstance(mixer, SSM):
                return mixer
        raise Lacking("this layer has no state space")

    @property
    def dense(self) -> Dense:
        """The feed-forward network of a layer that is known to have one for all tokens."""
        if not isinstance(self.ffn, Dense):
            raise Lacking("this layer has no feed-forward network for all tokens")
        return self.ffn

    @property
    def moe(self) -> MoE:
        """The experts of a layer that is known to have them."""
        if not isinstance(self.ffn, MoE):
            raise Lacking("this layer has no experts")
        return self.ffn


class Layers(Frozen):
    """Layers that are alike, by their numbers; `letter` is the symbol of their count in formulas."""

    indices: Indices
    layer: Layer
    letter: str = "N"

    def _settle(self) -> None:
        super()._settle()
        indices = self.indices.replace(count=Dim.named(self.letter, self.indices.count))
        self.__dict__["indices"] = indices


def numbered(parts: tuple[Layers, ...], letter: str) -> tuple[Layers, ...]:
    """The kinds of layers with counts called N1, N2, ..., so that equal counts stay two symbols."""
    letters = [f"{letter}{place}" for place in range(1, len(parts) + 1)] if len(parts) > 1 else [letter]
    return tuple(part.replace(letter=label) for part, label in zip(parts, letters, strict=False))


class Window(Frozen):
    """Layers, by their numbers, whose attention sees at most `extent` tokens, the current one included."""

    indices: Indices
    extent: Annotated[int, symbol("t_w")]


class Entries(Frozen):
    """What some layers read beside the keys and values of their tokens: entries that each stand for several tokens.

    Args:
        indices: the layers, by their numbers.
        kind: what the entries are, such as `compressed`.
        rate: how many tokens one stands for.
        width: elements of one; 0 if an earlier layer keeps them.
        waiting: the most elements that are kept of tokens whose entry is not complete.
        top_k: the most entries that are read; None for all.
        products: multiply-adds for each that is read.
    """

    indices: Indices
    kind: str
    rate: int
    width: int = 0
    waiting: int = 0
    top_k: int | None = None
    products: int = 0
