"""Draft models for speculative decoding: the target's hidden states and vocabulary that they use."""

from typing import Self

from hfcount.architectures.keys import dim
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config, Sizes
from hfcount.spec import Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, Presence, Repeat, Tensor, block
from hfcount.text import printable


class Needs(Record):
    """The requirements of a draft on its target.

    Args:
        width: of the target's states that it reads; None if it reads none, or they may be of any width.
        layers: the numbers of the target's layers whose states it reads, as far as its config says.
        first: the smallest of these numbers that there may be; -1 where it may be that of the embedding.
        last: the largest of these numbers that there may be, counted from the number of layers: -1 is the last layer.
        depth: how many layers it takes the target to have; None if it does not say.
        shared: the tensors that it takes from the target where it stores none, by their width.
        alike: whether its layer is one of the target's, with the same rotary positions.
        masked: whether it fills a block with a token of the target's that mask_token_id names.
    """

    width: int | None
    layers: tuple[int, ...] = ()
    first: int = 0
    last: int = -1
    depth: int | None = None
    shared: tuple[str, ...] = ("embed_tokens.weight", "lm_head.weight")
    alike: bool = False
    masked: bool = False


class Draft(Sizes):
    """Sizes of a draft, whose target is another model."""

    def needs(self, s: Spec) -> Needs:
        """The requirements on its target."""
        raise NotImplementedError  # abstract: every subclass names the sizes that its target must have


LAYER = "transformer_layer_config"
"""The key of the layers' config in configs of speculators."""

SAID = ("speculators_config", "speculators_version", "speculators_model_type", "embed_requires_grad")
"""Keys of speculators that bear on no shape."""


def of_speculators(c: Config) -> bool:
    """Whether the config is in the layout of the library speculators, which has the layers' config below a key."""
    return c.family.startswith("speculators_")


def layers_of(c: Config, *known: str) -> Config:
    """The config of the layers; `known` are the types that speculators has layers of, or none if any will do.

    Raises:
        UnknownArchitecture: it has none of that type.
    """
    if not of_speculators(c):
        return c
    inner = c.part(LAYER)
    kind = inner.str("model_type", default="qwen3")
    inner.kind = kind
    if known and kind not in known:
        text = f"{LAYER} is of type {printable(kind, 60)}, and {c.family.removeprefix('speculators_')} has layers of"
        raise UnknownArchitecture(f"{c.where}: {text} {' and '.join(known)} alone.")
    return inner


def numbers(c: Config | None, key: str) -> tuple[int, ...]:
    """The numbers of the target's layers in a list; empty if it is absent."""
    return tuple(map(int, c.ints(key, default=()))) if c else ()


class Vocabulary(Record):
    """The draft's vocabulary: `size` tokens of the target's `whole`."""

    whole: int
    size: int

    @classmethod
    def read(cls, c: Config, vocab: int, absent: int | None = None) -> Self:
        """The vocabulary by draft_vocab_size; `absent` is its default, instead of the target's size."""
        size = c.int("draft_vocab_size", default=absent) or vocab
        if size > vocab:
            text = f"draft_vocab_size {size:,} exceeds vocab_size {vocab:,}, of which the draft knows some."
            c.cannot_run(
                "out-of-range",
                text,
                "draft_vocab_size",
                "Correct one of them.",
                expected=int(vocab),
                observed=int(size),
            )
        return cls(whole=vocab, size=vocab if size == vocab else dim("|V_d|", size))

    @property
    def reduced(self) -> bool:
        """Whether the draft's vocabulary is smaller than the target's."""
        return int(self.size) != int(self.whole)

    def tensors(self, d: int, own_head: bool) -> Block:
        """The embedding, which may be the target's; the head, and tables of which words the draft knows.

        Tensors: embed_tokens (|V|, d), lm_head (|V_d|, d), d2t (|V_d|), what is to be added to the number of a draft's
        word for the target's, and t2d (|V|), which marks the words known.

        Args:
            own_head: whether the head is the draft's own even if it knows all words.
        """
        head: Presence = "required" if own_head or self.reduced else "spare"
        return block(
            embed_tokens=block("embedding", weight=Tensor((self.whole, d), presence="spare")),
            lm_head=Linear(d, self.size, component="lm_head", presence=head),
            d2t=Tensor((self.size,), "buffer", "required" if self.reduced else "optional", whole=True),
            t2d=Tensor((self.whole,), "buffer", "optional", whole=True),
        )


def series(model: Block) -> list[Block]:
    """The layers of a model, one of each kind."""
    layers = model.children["layers"]
    kinds = layers if isinstance(layers, tuple) else (layers,)
    return [kind.body for kind in kinds if isinstance(kind, Repeat) and isinstance(kind.body, Block)]
