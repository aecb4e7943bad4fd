"""A quantisation scheme with its settings: which modules are packed, and in which layout."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from hfcount.mapper.loader_differences import NEWER
from hfcount.quantization.layout import Layout
from hfcount.quantization.matcher import Hit, Matcher
from hfcount.quantization.settings import Contradiction

TOWERS = ("vision", "audio", "projector")
"""Components that packers of decoder layers leave alone."""


Renames = tuple[tuple[str, str], ...]
"""Beginnings of names, and those in their place."""


class Module(NamedTuple):
    """One module of the blueprint that has a matrix.

    Args:
        name: as the blueprint has it.
        component: what it is counted under, such as `router`, `lm_head`, `embedding`.
        linear: whether it is a linear map; a lookup table and most routers are none.
        prediction: whether it belongs to multi-token-prediction layers.
        inputs, outputs: the length of a row and of a column, in elements.
        inner: whether it is a part of torch's MultiheadAttention, whose own class of linear maps it is of.
        plain: whether it has no tensors but a weight and a bias.
    """

    name: str
    component: str
    linear: bool = True
    prediction: bool = False
    inputs: int = 0
    outputs: int = 0
    inner: bool = False
    plain: bool = True


class Choice(NamedTuple):
    """How a module should be stored.

    Args:
        layout: None for dense.
        why: why another way of storing it is a note; empty if it is an error.
        noted: whether the settings, read strictly, say otherwise, which is worth a note.
        either: whether the settings leave open which way it is, so that neither is worth a note.
        strictly: the layout that the settings mean if they are read strictly, which is worth no note either.
        shown: whether the module is packed only if its scales are stored, so that dense is as good as packed.
        likely: how tools of today store the module, where the settings leave it open; None for dense.
    """

    layout: Layout | None
    why: str = ""
    noted: bool = False
    either: bool = False
    strictly: Layout | None = None
    shown: bool = False
    likely: Layout | None = None


DENSE = Choice(None)

ROUTER = Choice(None, either=True)
"""A router that is no linear map here, and may have been one to the tool that packed the model."""

_LINEAR_ROUTER = "it is a router, which publishers leave dense whatever their list says"
PREDICTION = Choice(None, "it is a prediction layer's own matrix, which publishers leave dense without a warning", True)
TOWER = Choice(None, either=True)
"""A map of a tower beside the decoder, whose layers alone some tools pack."""

KEPT = Choice(None, f"{NEWER} keeps it as it is, in list or not, as its own class asks for it in full precision")
RELATIVE = Choice(None, "the list names it without the prefix of its model", True)


_KEPT_MODULES = (".indexer.weights_proj", ".DenseReluDense.wo")


class Scheme(ABC):
    """A quantisation scheme with its settings.

    Args:
        name: as it is announced.
        packs_experts: whether stacks of experts are packed as one linear map an expert.
        packs_turned: whether transformers' Conv1D is packed as a linear map is.
        caches: whether scales for an 8-bit cache of keys and values are announced.
        caches_heads: whether each head has one, and not each tensor.
        caches_stored: whether every block of attention has them stored.
        renames: beginnings of the blueprint's names, and those that the scheme's tools write in their place, in tables
            for kinds of models.
        own_names: whether the scheme's tools name modules of some architectures in their own way.
        text_alone: whether the scheme's tools may leave out the towers of a model.
        spellings: patterns of names that only its readers take for the model's, and what is put in their place.
        matchers: all patterns that decide which modules are packed.
        contradictions: numbers of the settings that names in them rule out.
        text_only: whether the settings are those of the language model within another, whose towers they do not mean.
        stack: what the scheme's tools call the one stack that they make of a layer's experts; empty if they make none.
        fused_suffix: what follows the name of a stack of experts in that of its scales; empty if no tool has such.
        foreign: whether transformers does not read it, so that no base model's prefix is taken off names or put on.
        by_path: whether readers compare the patterns with the paths of modules in memory.
        path: gives that path by the blueprint's name; None where both are alike.
        manifest: bytes that each file's metadata says of every tensor of the model, besides its name, at the most.
    """

    name: str = ""
    packs_experts = True
    packs_turned = False
    caches = False
    caches_heads = False
    caches_stored = False
    renames: tuple[Renames, ...] = ()
    text_alone = False
    own_names = False
    spellings: tuple[tuple[re.Pattern[str], str], ...] = ()
    matchers: tuple[Matcher, ...] = ()
    contradictions: Sequence[Contradiction] = ()
    text_only = False
    stack: tuple[str, ...] = ()
    fused_suffix = ""
    foreign = False
    manifest = 0
    by_path = False
    path: Callable[[str], str] | None = None

    def fused(self, stacked: bool, beside: bool = True) -> "Scheme":
        """The scheme where the scales of a layer's experts are one tensor.

        Args:
            stacked: whether their weights are, too.
            beside: whether the scales then have the name of the weights, with an ending.
        """
        return self

    def fused_scale(self, outputs: int, inputs: int, fewest: int) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """The shape and dtypes of the scales of one matrix in a stack, which is of at least `fewest` matrices."""
        raise NotImplementedError  # abstract: called only for a scheme whose `fused` returns another scheme

    def chosen(self, module: Module) -> Choice:
        """How the module should be stored, by where the settings are and what they say."""
        return TOWER if self.text_only and module.component in TOWERS else self.choose(module)

    @abstractmethod
    def choose(self, module: Module) -> Choice:
        """How the module should be stored, by what the settings say."""

    @property
    @abstractmethod
    def layouts(self) -> Iterable[Layout]:
        """The layouts that modules may have, the usual one first; stored names choose among them."""


class ExclusionScheme(Scheme):
    """A scheme that packs every linear map but those that a list excludes, and without a list all but the head.

    Args:
        excluded: the list; None if there is none.
        tables: whether lookup tables are packed, too.
        towers: whether vision and audio towers are packed.
    """

    def __init__(
        self, name: str, layout: Layout, excluded: Matcher | None, *others: Layout, towers: bool = True
    ) -> None:
        self.name, self.layout, self.excluded, self.others, self.towers = name, layout, excluded, others, towers
        self.matchers = (excluded,) if excluded else ()

    @property
    def layouts(self) -> Iterable[Layout]:
        return (self.layout, *self.others)

    def choose(self, module: Module) -> Choice:
        hit = excludes(self.excluded, module) if self.excluded is not None else ""
        if hit == "own":
            return DENSE
        if module.name.endswith(_KEPT_MODULES):
            return KEPT
        if module.inner and self.exact:
            return DENSE
        if self.excluded is None and module.component == "lm_head" and module.inputs == module.outputs:
            # Without a list only what makes the logits is left dense, not what stands before it.
            return Choice(self.layout, either=True)
        choice = usual(module, self.layout, head=self.excluded is not None and self.heads, towers=self.towers)
        if self.excluded is None and choice.layout and module.component == "projector":
            # Without a list, transformers leaves the last matrix of a model dense, and that may be this one.
            return choice._replace(either=True)
        if choice.layout and module.component == "experts" and not self.stores_experts:
            # Older versions saw a linear map an expert, newer ones see a stack, which they leave as it is.
            return Choice(None, either=True)
        return relative(choice) if hit else choice

    stores_experts = True
    """Whether experts are packed whatever version of the tool wrote them."""

    exact = False
    """Whether only maps of the class Linear itself are packed, and none of a class derived from it."""

    heads = True
    """Whether a head that a given list does not name is packed."""


class InMemory(ExclusionScheme):
    """A scheme that transformers applies to a model that it has loaded."""

    stores_experts = False


def excludes(listed: Matcher, module: Module) -> Hit:
    """Whether a list excludes a module; `lm_head` in it means the head, whatever a checkpoint calls that."""
    if module.component == "lm_head" and "." not in module.name and listed.matches("lm_head"):
        return "own"
    return listed.find(module.name)


def excludes_path(listed: Matcher, module: Module, path: Callable[[str], str] | None) -> Hit:
    """The same for readers that compare the path of a module in memory; parts of it are no match."""
    hit = excludes(listed, module)
    if path is None or (held := path(module.name)) == module.name:
        return hit
    return "own" if listed.matches(held) else "inner" if hit or listed.find(held) else ""


def relative(choice: Choice) -> Choice:
    """How a module should be stored that a list names without the prefix of its model, and `choice` if it did not."""
    return RELATIVE._replace(strictly=choice.layout) if choice.layout else choice


def usual(module: Module, layout: Layout, head: bool = False, towers: bool = True) -> Choice:
    """The layout for a linear map; dense for what packers leave alone if they are not told to.

    Args:
        head: whether the head is packed.
        towers: whether vision and audio towers are packed.
    """
    if module.component == "embedding" and not module.linear:  # gemma4 has a projection there, too
        return DENSE
    if module.component == "router" and not module.linear:
        return ROUTER
    if module.prediction and module.name.endswith((".eh_proj", ".shared_head.head", ".embed_tokens")):
        return PREDICTION
    if not module.linear or (module.component == "lm_head" and not head):
        return DENSE
    if module.component in TOWERS and not towers:
        return TOWER
    return Choice(layout, _LINEAR_ROUTER if module.component == "router" else "")
