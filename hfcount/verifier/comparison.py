"""The input of the checks: what a checkpoint must hold, what it holds, and how the two match."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from hfcount.fetcher.weights import Weights
from hfcount.formats.index import Index
from hfcount.formats.safetensors import Shard
from hfcount.formats.samples import Samples
from hfcount.plan import Blueprint
from hfcount.storage import dtypes
from hfcount.storage.schemes import Announcement, scheme_of_names
from hfcount.tree.leaves import Finder, Leaf
from hfcount.verifier import names, sizes
from hfcount.verifier.header_view import HeaderView
from hfcount.verifier.names import Match

CACHE_SCALES = (".k_scale", ".v_scale")
"""Ends of names of scales of attention's cache."""

if TYPE_CHECKING:
    from hfcount.tree.spellings import Rules, Spellings
    from hfcount.verifier.packed import Packed

Evidence = Literal["listing", "index alone", "files", "headers", "names", "dense", "packed", "scheme"]
"""What a check needs: which weight files are there; an index without headers; files that were read; headers of all
files or with an index; names that were compared with the blueprint's, of dense or of packed weights; or a scheme that
makes that impossible."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The input of the checks.

    Args:
        index: None for a single file, or at depth config.
        view: the merged headers; None if they were not read.
        evidence: what is available to checks.
        names: how the stored names match the blueprint's; None if they were not compared.
        scheme: the quantisation of the weights, if it is not described; None if it is, or names were not read.
        announced: what announces a quantisation.
        packed: how packed modules are stored; None if nothing says that weights are packed.
        declared: the config's dtype by the format's name; None if it declares none.
        reading: dtypes that make the index's total_size come out exactly; None if there are none.
        spelling: stored names that differ from the blueprint's, by the blueprint's name.
        weights: which weight files are there, and the index that was read: `index` is None if it is of other files.
        beside: files that were read and that the index does not name.
        samples: pieces of files that were read.
    """

    blueprint: Blueprint
    index: Index | None
    view: HeaderView | None
    evidence: frozenset[Evidence]
    names: Match | None
    scheme: str | None
    declared: str | None
    reading: sizes.Reading | None
    spelling: Mapping[str, str]
    announced: Sequence[Announcement] = ()
    packed: "Packed | None" = None
    weights: Weights = field(default_factory=Weights)
    beside: Mapping[str, Shard] = field(default_factory=dict)
    samples: Samples = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        blueprint: Blueprint,
        index: Index | None,
        view: HeaderView | None,
        announced: Sequence[Announcement],
        match: Match | None,
        listing: Weights | None = None,
        beside: Mapping[str, Shard] = MappingProxyType({}),
        samples: Samples = MappingProxyType({}),
    ) -> "Comparison":
        """Matches the names unless the weights are packed, and explains total_size if every listed tensor is known."""
        evidence: set[Evidence] = set() if view is None else {"files"}
        evidence |= set() if listing is None else {"listing"}
        there = listing or Weights()
        declared, reading = dtypes.code(blueprint.spec.dtype), None
        if index is None and (view is None or not view.complete):
            found = frozenset(evidence)
            return cls(blueprint, index, view, found, None, None, declared, None, {}, (), None, there, beside)
        packed, scheme = None, None
        if announced:
            packed, scheme = _packed(blueprint, index, view, announced, declared)
        else:
            sized = view is None and there.whole and there.sizes is not None
            match = _match(blueprint, index, view, match, sized)
            if match.unexpected:
                find = Finder(blueprint.leaves).find
                scheme = scheme_of_names(match.unexpected, lambda name: find(name) is not None)
                if scheme is None and any(name.endswith(CACHE_SCALES) for name in match.unexpected):
                    packed, _ = _packed(blueprint, index, view, (), declared)
        match = packed.match if packed else None if scheme else match
        evidence |= {"scheme" if scheme else "names", "headers" if view else "index alone"}
        evidence |= {"packed" if packed else "dense"}
        if not packed and match and index and index.total_size and not match.unexpected and not blueprint.asides:
            weights, copies = match.weights, sum(count * leaf.size for leaf, count in match.extra("tied"))
            for counted in (weights, weights - copies) if copies else (weights,):  # writers once counted a storage once
                reading = reading or sizes.exact(index.total_size, counted, match.buffers, declared, match.flags)
        spelling = packed.spelling if packed else match.spelling if match else {}
        found = frozenset(evidence)
        return cls(
            blueprint,
            index,
            view,
            found,
            match,
            scheme,
            declared,
            reading,
            spelling,
            announced,
            packed,
            there,
            beside,
            samples,
        )

    @property
    def match(self) -> Match:
        """`names`, for checks that need them."""
        assert self.names is not None
        return self.names

    @property
    def packing(self) -> "Packed":
        """`packed`, for checks that need it."""
        assert self.packed is not None
        return self.packed

    @property
    def headers(self) -> HeaderView:
        """`view`, for checks that need it."""
        assert self.view is not None
        return self.view

    @property
    def subject(self) -> str:
        """The class or family that the blueprint describes, for messages."""
        return self.blueprint.spec.architecture or self.blueprint.spec.family

    def matched(self, listed: Collection[str]) -> Match:
        """How other names match the blueprint's."""
        return matched_with(self.blueprint, self.blueprint.leaves, listed)

    @property
    def stored_names(self) -> Collection[str]:
        """The names of the checkpoint, as far as they were read."""
        return _listed(self.blueprint, self.index, self.view)

    def bytes(self, leaf: Leaf, count: int) -> int | None:
        """Bytes of `count` tensors of a leaf; None if their dtype is unknown."""
        if self.view is not None:
            stored = [self.view.entries.get(self.spelling.get(name, name)) for name in self.match.names(leaf)]
            return sum(entry.end - entry.begin for entry in stored if entry)
        elements, buffer = count * leaf.size, leaf.kind == "buffer"
        if self.reading is not None:
            if leaf.whole:
                return elements * max(self.reading.flag_bits // 8, 1)
            return elements * (self.reading.buffer_width if buffer else self.reading.width)
        return elements * dtypes.width(self.declared) if self.declared and not buffer else None

    def stored(self, found: list[tuple[Leaf, int]]) -> dict[str, Any]:
        """The arguments of `report` for the given numbers of stored tensors of some leaves."""
        known = [self.bytes(leaf, count) for leaf, count in found]
        return {
            "tensors": [leaf.name for leaf, _ in found],
            "count": sum(count for _, count in found),
            "parameters": sum(count * leaf.size for leaf, count in found),
            "bytes": None if None in known else sum(size for size in known if size is not None),
        }


def _packed(
    blueprint: Blueprint,
    index: Index | None,
    view: HeaderView | None,
    announced: Sequence[Announcement],
    declared: str | None,
) -> tuple["Packed | None", str | None]:
    """How packed weights are stored, or the name of a scheme that is not described."""
    from hfcount.packing.reading import exact  # most checkpoints are not quantised
    from hfcount.storage.schemes.layout import Unmodelled
    from hfcount.storage.schemes.registry import described
    from hfcount.verifier.packed import EXPERTS, Dense, look

    try:
        scheme, first = described(announced, blueprint.spec.dtype) if announced else (Dense(), None)
        names = _listed(blueprint, index, view)
        further = EXPERTS if scheme.own_experts else ()
        matching = partial(matched_with, blueprint, further=further, foreign=scheme.foreign)
        packed = look(blueprint, names, view, scheme, first, matching)
    except Unmodelled as said:
        return None, str(said)
    if index and index.total_size and packed.complete and not blueprint.asides:
        packed.reading = exact(index.total_size, packed.match.listed, declared)
    return packed, None


def _match(
    blueprint: Blueprint, index: Index | None, view: HeaderView | None, match: Match | None, sized: bool
) -> Match:
    if match is None or (index and view and view.omitted):
        files = index.weight_map if index and sized else None
        match = matched_with(blueprint, blueprint.leaves, _listed(blueprint, index, view), files)
    return match


def _listed(blueprint: Blueprint, index: Index | None, view: HeaderView | None) -> Mapping[str, object]:
    """The names of the checkpoint: the index's, and those in headers that it omits, or all in headers."""
    listed: Mapping[str, object] = index.weight_map if index else view.entries if view else {}
    if index and view and view.omitted:
        find = Finder(blueprint.leaves).find
        listed = dict(listed) | {name: None for name, _ in view.omitted if find(name)}
    return listed


def matched_with(
    blueprint: Blueprint,
    leaves: Collection[Leaf],
    listed: Collection[str],
    files: Mapping[str, str] | None = None,
    further: "Rules" = (),
    foreign: bool = False,
) -> Match:
    """How names match the leaves of a blueprint, with the spellings that it takes, and `further` ones.

    Args:
        foreign: whether transformers does not read the checkpoint. Only it takes a base model's prefix off and adds it;
            what others read for a class without a head may have the prefix or not.
    """

    def spellings() -> "Spellings":
        known = blueprint.spellings
        if foreign and known.prefix and any(leaf.name.startswith(known.prefix) for leaf in blueprint.leaves):
            known = replace(known, prefix="")
        return replace(known, rules=(*known.rules, *further)) if further else known

    kept = blueprint.kept_names if leaves is blueprint.leaves else {}
    match = names.match(leaves, listed, blueprint.asides, spellings, files, kept)
    if match.unexpected:
        names.set_heads_apart(match, leaves, blueprint.other_heads)
    return match
