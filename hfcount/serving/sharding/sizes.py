"""Lists the sizes that ranks divide among them, and the part of each that one rank holds."""

import re
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from hfcount.blueprints.blueprint import Blueprint
from hfcount.mapper.loader_differences import SGLANG, VLLM
from hfcount.spec import GQA, LRU, MLA, MLSTM, RWKV, SSM, DeltaNet, Dense, Layer, Lightning, MoE, ShortConv, Spec
from hfcount.spec.names import called
from hfcount.spec.tree.dims import Dim, has_key, origin, polynomial
from hfcount.spec.tree.leaves import Leaf
from hfcount.spec.tree.polynomials import Atom

How = Literal["evenly", "or copied", "or single", "padded"]
"""Evenly; else each rank a copy of one; else all ranks a copy of a single one; or filled up to a number they share."""

Engine = Literal["vLLM", "SGLang"]
ENGINES: tuple[Engine, ...] = ("vLLM", "SGLang")

TOWERS = ("vision", "audio")
"""Parts that every rank is taken to hold whole."""

_PADDING = 64  # both engines fill a vocabulary up to a multiple of this


class Shared(NamedTuple):
    """One size that ranks share.

    Args:
        value: the size, with its symbol and its key where it has them.
        what: what it counts, in the plural.
        where: the layers of the engines that split it.
    """

    value: int
    what: str
    how: How = "evenly"
    where: str = ""

    @property
    def key(self) -> str | None:
        """What gives the size in the config; None if the architecture fixes it."""
        return origin(self.value) if has_key(self.value) else None

    @property
    def atom(self) -> Atom | None:
        """The symbol that extents made of this size have; None if it is no single one."""
        terms = polynomial(self.value)
        return next(iter(terms))[0] if len(terms) == 1 and len(next(iter(terms))) == 1 else None

    def of(self, ranks: int) -> int | None:
        """What one rank holds; None if they cannot share it."""
        value = int(self.value)
        if self.how == "padded":
            return padded(value, ranks) // ranks
        if value % ranks == 0:
            return value // ranks
        copied = (self.how == "or copied" and value and ranks % value == 0) or (self.how == "or single" and value == 1)
        return 1 if copied else None


def padded(vocab: int, ranks: int = 1) -> int:
    """Rows of a vocabulary that is filled up: to a multiple of 64, and beyond that until ranks can share it."""
    rows = -(-vocab // _PADDING) * _PADDING
    return rows if rows % ranks == 0 else -(-vocab // (_PADDING * ranks)) * _PADDING * ranks


_QKV, _LINEAR, EXPERTS = "QKVParallelLinear", "MergedColumnParallelLinear and RowParallelLinear", "FusedMoE"
_FIELDS: dict[type, tuple[tuple[str, str, How, str], ...]] = {
    GQA: (("heads", "query heads", "evenly", _QKV), ("kv_heads", "key/value heads", "or copied", _QKV)),
    MLA: (("heads", "query heads", "evenly", "ColumnParallelLinear"),),
    DeltaNet: (
        ("key_heads", "key heads of linear attention", "evenly", "MergedColumnParallelLinear"),
        ("value_heads", "value heads of linear attention", "evenly", "MergedColumnParallelLinear"),
    ),
    Lightning: (
        ("heads", "heads of linear attention", "evenly", "ColumnParallelLinear"),
        ("kv_heads", "key/value heads of linear attention", "or copied", "ColumnParallelLinear"),
    ),
    SSM: (
        ("inner", "channels of the state space", "evenly", "MergedColumnParallelLinear"),
        ("heads", "heads of the state space", "evenly", "MambaMixer2"),
        ("groups", "groups of the state space", "or single", "MambaMixer2"),
    ),
    ShortConv: (),
    Dense: (("width", "intermediate channels", "evenly", _LINEAR),),
    MoE: (
        ("width", "intermediate channels of an expert", "evenly", EXPERTS),
        ("shared", "intermediate channels of the shared expert", "evenly", _LINEAR),
    ),
}
"""By kind of part: its fields that ranks share, what they count, how, and the layers of the engines that split it."""


def stacks(spec: Spec) -> Iterator[Spec]:
    """The model, and those of its parts that ranks share."""
    yield spec
    for name, part in spec.parts.items():
        if name not in TOWERS:
            yield from stacks(part)


def unshared(spec: Spec) -> str:
    """Why it is not known how ranks share a model; empty if it is."""
    if not spec.vocab or not spec.layers:
        return "it is not a language model that hfcount knows"
    for layer in _layers(spec):
        for part in (layer.mixer, layer.parallel_mixer):
            if isinstance(part, LRU | RWKV | MLSTM):
                return f"neither {VLLM} nor {SGLANG} splits the layers of {called(part)}"
    return ""


def sizes(blueprint: Blueprint) -> list[Shared]:
    """The sizes that ranks share, each once, in the order of the model."""
    by_atom = {(size.atom, size.what, int(size.value)): size for size in _of_spec(blueprint.spec)}
    known = {size.atom for size in by_atom.values()}
    for leaf in blueprint.leaves:
        for atom in _further(leaf):
            if atom not in known:
                known.add(atom)
                where = EXPERTS if leaf.component == "experts" else _LINEAR
                size = Shared(Dim.of(atom.value, {(atom,): 1}), _FURTHER[leaf.component], "evenly", where)
                by_atom[atom, size.what, atom.value] = size
    return list(by_atom.values())


_FURTHER: Mapping[str, str] = {
    "mlp": "intermediate channels",
    "experts": "intermediate channels of an expert",
    "attention": "groups of outputs of attention",
}
"""What further sizes count that only one architecture has, by the component of the tensors that they are in."""

_KEYS = re.compile(r"([^ ]*\.)?(\w*intermediate_size|\w*ffn_hidden_size|\w*ffn_dim|o_groups)(\[\d+\])?(, by default)?")


def _further(leaf: Leaf) -> Iterator[Atom]:
    """The sizes in a leaf that ranks share, by the names of their keys."""
    if leaf.component in _FURTHER:
        for extent in leaf.shape:
            if isinstance(extent, Dim):
                yield from (atom for term in extent.terms for atom in term if _KEYS.fullmatch(atom.source))


def _of_spec(spec: Spec) -> Iterator[Shared]:
    for stack in stacks(spec):
        for part in stack.layers:
            for module in (part.layer.mixer, part.layer.parallel_mixer, part.layer.ffn):
                for name, what, how, where in _FIELDS.get(type(module), ()):
                    if value := getattr(module, name):
                        yield Shared(value, what, how, where)
                if isinstance(module, ShortConv):
                    yield Shared(stack.hidden, "channels of the convolution", "evenly", "ShortConv")
        if stack.vocab:
            yield Shared(stack.vocab, "words", "padded", "VocabParallelEmbedding")


def _layers(spec: Spec) -> Iterator[Layer]:
    return (part.layer for stack in stacks(spec) for part in stack.layers)


def of_rank(spec: Spec, ranks: int) -> Spec:
    """The Spec with the mixers of one rank, for what these cache; the ranks must be able to share all sizes.

    `hidden` is then what a convolution of a rank is wide.
    """
    layers = tuple(part.replace(layer=_rank_layer(part.layer, ranks)) for part in spec.layers)
    return spec.replace(layers=layers, hidden=int(spec.hidden) // ranks)


def _rank_layer(layer: Layer, ranks: int) -> Layer:
    mixers = {name: getattr(layer, name) for name in ("mixer", "parallel_mixer")}
    changes = {
        name: mixer.replace(
            **{
                field: Shared(getattr(mixer, field), what, how).of(ranks)
                for field, what, how, _ in _FIELDS.get(type(mixer), ())
                if getattr(mixer, field)
            }
        )
        for name, mixer in mixers.items()
        if mixer is not None
    }
    return layer.replace(**changes)
