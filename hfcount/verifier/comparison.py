"""The input of the checks: the blueprint, the stored tensors, and how they match."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from hfcount.blueprints.blueprint import Blueprint
from hfcount.fetcher.layout import ADAPTER, MODULES
from hfcount.fetcher.weights import Weights
from hfcount.formats import dtypes
from hfcount.formats.index import Index
from hfcount.formats.safetensors import Shard
from hfcount.formats.samples import Samples
from hfcount.mapper.quantization_config import Announcement, scheme_of_names
from hfcount.record import Record, made
from hfcount.spec.tree.leaves import Finder, Leaf
from hfcount.verifier import dtypes_from_total, names
from hfcount.verifier.findings import TensorFacts
from hfcount.verifier.header_view import HeaderView
from hfcount.verifier.match import Match

CACHE_SCALES = (".k_scale", ".v_scale")
"""Ends of names of scales of attention's cache."""

if TYPE_CHECKING:
    from hfcount.quantization.packing.packed import Packed
    from hfcount.quantization.scheme import Scheme
    from hfcount.spec.tree.spellings import Rules, Spellings
    from hfcount.verifier.float32_rows import Float32Rows

Evidence = Literal[
    "listing", "index alone", "files", "headers", "names", "dense", "packed", "scheme", "modules", "adapter"
]
"""Evidence for checks: the list of weight files; an index without headers; files that were read; headers of all files
or with an index; names compared with the blueprint, of dense or of packed weights; a scheme that prevents that;
modules.json; or an adapter next to weights."""


class Comparison(Record, kw_only=False):
    """The input of the checks.

    Args:
        index: None for a single file, or at depth config.
        view: the merged headers; None if they were not read.
        evidence: the evidence that is available.
        names: how the stored names match the blueprint's; None if they were not compared.
        scheme: the quantisation of the weights, if it is not described; None if it is.
        announced: the quantisation configs.
        packed: how packed modules are stored; None if nothing says that weights are packed.
        declared: the config's dtype by the format's name; None if it declares none.
        reading: dtypes that make the index's total_size come out exactly; None if there are none.
        spelling: stored names that differ from the blueprint's, by the blueprint's name.
        weights: which weight files are there, and the index that was read: `index` is None if it is of other files.
        beside: files outside the index, by name.
        samples: digests of pieces of files.
        modules: weight files of sentence-transformers modules, by path.
    """

    blueprint: Blueprint
    index: Index | None
    view: HeaderView | None
    evidence: frozenset[Evidence]
    names: Match | None
    scheme: str | None
    declared: str | None
    reading: dtypes_from_total.Reading | None
    spelling: Mapping[str, str]
    announced: Sequence[Announcement] = ()
    packed: "Packed[Match] | None" = None
    weights: Weights = made(factory=Weights)
    beside: Mapping[str, Shard] = made(factory=dict)
    samples: Samples = made(factory=dict)
    modules: Mapping[str, Shard] = made(factory=dict)

    @classmethod
    def of(
        cls,
        blueprint: Blueprint,
        index: Index | None,
        view: HeaderView | None,
        announced: Sequence[Announcement],
        *,
        match: Match | None,
        listing: Weights | None = None,
        beside: Mapping[str, Shard] = MappingProxyType({}),
        samples: Samples = MappingProxyType({}),
    ) -> "Comparison":
        """Matches the names unless the weights are packed, and explains total_size if every listed tensor is known."""
        evidence: set[Evidence] = set() if view is None else {"files"}
        evidence |= set() if listing is None else _listed_evidence(listing)
        weights, declared = listing or Weights(), dtypes.code(blueprint.spec.dtype)
        bare = cls(
            blueprint, index, view, frozenset(evidence), None, None, declared, None, {}, (), None, weights, beside
        )
        if index is None and (view is None or not view.complete):
            unknown = _undescribed(announced, blueprint.spec.dtype) if announced and view is None else None
            evidence |= {"scheme"} if unknown else set()
            return bare.replace(evidence=frozenset(evidence), scheme=unknown, announced=announced) if unknown else bare
        names, packed, scheme = _matched(bare, announced, match)
        evidence |= {"scheme" if scheme else "names", "headers" if view else "index alone"}
        return bare.replace(
            evidence=frozenset(evidence | {"packed" if packed else "dense"}),
            names=names,
            scheme=scheme,
            reading=_reading(bare, names) if names and not packed else None,
            spelling=packed.spelling if packed else names.spelling if names else {},
            announced=announced,
            packed=packed,
            samples=samples,
        )

    @property
    def match(self) -> Match:
        """`names`, for checks that need them."""
        assert self.names is not None
        return self.names

    @property
    def packing(self) -> "Packed[Match]":
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
        """The names of the checkpoint, if they were read."""
        return _listed(self.blueprint, self.index, self.view)

    def bytes(self, leaf: Leaf, count: int) -> int | None:
        """Bytes of `count` tensors of a leaf; None if their dtype is unknown."""
        if self.view is not None:
            stored = [self.view.entries.get(self.spelling.get(name, name)) for name in self.match.names(leaf)]
            return sum(entry.end - entry.begin for entry in stored if entry)
        elements, buffer = count * leaf.size, leaf.kind == "buffer"
        if self.reading is not None:
            return elements * self.reading.bits(leaf) // 8
        return elements * dtypes.width(self.declared) if self.declared and not buffer else None

    def stored(self, leaves: list[tuple[Leaf, int]]) -> TensorFacts:
        """The arguments of a finding for the given numbers of stored tensors of some leaves."""
        known = [self.bytes(leaf, count) for leaf, count in leaves]
        return {
            "tensors": tuple(leaf.name for leaf, _ in leaves),
            "count": sum(count for _, count in leaves),
            "parameters": sum(count * leaf.size for leaf, count in leaves),
            "bytes": None if None in known else sum(size for size in known if size is not None),
        }


def _listed_evidence(listing: Weights) -> set[Evidence]:
    evidence: set[Evidence] = {"listing"}
    if listing.listed and MODULES in listing.companions:
        evidence.add("modules")
    if ADAPTER in listing.files and listing.there:
        evidence.add("adapter")
    return evidence


def _matched(
    bare: Comparison, announced: Sequence[Announcement], match: Match | None
) -> tuple[Match | None, "Packed[Match] | None", str | None]:
    """How the names match, how packed weights are stored, and the name of a scheme that is not described."""
    blueprint, index, view = bare.blueprint, bare.index, bare.view
    if announced:
        packed, scheme = _packed(blueprint, index, view, announced)
        return packed.match if packed else None if scheme else match, packed, scheme
    sized = view is None and bare.weights.whole and bare.weights.sizes is not None
    match = _match(blueprint, index, view, match, sized)
    if match.unexpected:
        find = Finder(blueprint.leaves).find
        scheme = scheme_of_names(match.unexpected, lambda name: find(name) is not None)
        if scheme:
            return None, None, scheme
        if any(name.endswith(CACHE_SCALES) for name in match.unexpected):
            packed, _ = _packed(blueprint, index, view, ())
            return packed.match if packed else match, packed, None
    return match, None, None


def _reading(bare: Comparison, match: Match) -> dtypes_from_total.Reading | None:
    """The dtypes that make total_size come out exactly, if every listed tensor is known."""
    index, weights = bare.index, match.weights
    if index is None or not index.total_size or match.unexpected or bare.blueprint.unmodeled:
        return None
    copies = sum(count * leaf.size for leaf, count in match.extra("tied"))
    for counted in (weights, weights - copies) if copies else (weights,):  # writers once counted a storage once
        if reading := dtypes_from_total.exact(
            index.total_size, counted, match.buffers, bare.declared, match.flags, lambda: _wider(bare.blueprint, match)
        ):
            return reading
    return None


def _wider(blueprint: Blueprint, match: Match) -> Iterator["Float32Rows"]:
    from hfcount.verifier.float32_rows import float32_rows  # few are stored so

    return float32_rows(blueprint, match)


def _packed(
    blueprint: Blueprint,
    index: Index | None,
    view: HeaderView | None,
    announced: Sequence[Announcement],
) -> tuple["Packed[Match] | None", str | None]:
    """How packed weights are stored, or the name of a scheme that is not described."""
    from hfcount.quantization.layout import Unmodelled
    from hfcount.quantization.packing.packed import match_packed

    def matching(leaves: Collection[Leaf], listed: Collection[str], scheme: "Scheme") -> Match:
        return matched_with(blueprint, leaves, listed, further=scheme.spellings, foreign=scheme.foreign)

    listed, size = _listed(blueprint, index, view), index.total_size if index else None
    try:
        return match_packed(blueprint, listed, view.entries if view else None, announced, matching, size), None
    except Unmodelled as error:
        return None, str(error)


def _undescribed(announced: Sequence[Announcement], dtype: str | None) -> str | None:
    """The name of an announced scheme of which nothing is known; None if there is a known one."""
    from hfcount.quantization.layout import Unmodelled
    from hfcount.quantization.schemes import described  # few checkpoints are quantised

    try:
        described(announced, dtype)
    except Unmodelled as error:
        return str(error)
    return None


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
            known = known.replace(prefix="")
        return known.replace(rules=(*known.rules, *further)) if further else known

    kept = blueprint.kept_names if leaves is blueprint.leaves else {}
    match = names.match(leaves, listed, blueprint.unmodeled, spellings, files, kept)
    if match.unexpected:
        names.set_heads_apart(match, leaves, blueprint.other_heads)
    return match
