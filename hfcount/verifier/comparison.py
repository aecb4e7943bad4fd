"""The input of the checks: what a checkpoint must hold, what it holds, and how the two match."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from hfcount.fetcher.weights import Weights
from hfcount.formats.index import Index
from hfcount.formats.safetensors import Shard
from hfcount.plan import Blueprint
from hfcount.storage import dtypes
from hfcount.storage.schemes import scheme_of_names
from hfcount.tree.leaves import Finder, Leaf
from hfcount.verifier import names, sizes
from hfcount.verifier.header_view import HeaderView
from hfcount.verifier.names import Match

Evidence = Literal["listing", "index alone", "files", "headers", "names", "scheme"]
"""What a check needs: the weight files that are there; an index without headers; files that were read; headers of all
files or with an index; names that were compared with the blueprint's; or a scheme that makes that impossible."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The input of the checks.

    Args:
        index: None for a single file, or at depth config.
        view: the merged headers; None if they were not read.
        evidence: what is available to checks.
        names: how the stored names match the blueprint's; None if they were not compared.
        scheme: the quantisation scheme of the weights; None if there is none, or names were not read.
        declared: the config's dtype by the format's name; None if it declares none.
        reading: dtypes that make the index's total_size come out exactly; None if there are none.
        spelling: stored names that differ from the blueprint's in prefix or spelling, by the blueprint's name.
        weights: which weight files are there, and the index as it was read; of an index that names none of them
            `index` above is None.
        beside: files that were read, and that the index does not name.
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
    weights: Weights = field(default_factory=Weights)
    beside: Mapping[str, Shard] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        blueprint: Blueprint,
        index: Index | None,
        view: HeaderView | None,
        scheme: str | None,
        match: Match | None,
        weights: Weights | None = None,
        beside: Mapping[str, Shard] = MappingProxyType({}),
    ) -> "Comparison":
        """Matches the names unless the weights are packed, and explains total_size if every listed tensor is known."""
        evidence: set[Evidence] = set() if view is None else {"files"}
        if weights is not None:
            evidence.add("listing")
        files = (weights or Weights(), beside)
        sized = view is None and weights is not None and weights.whole and weights.sizes is not None
        declared, reading = dtypes.code(blueprint.spec.dtype), None
        if index is None and (view is None or not view.complete):
            return cls(blueprint, index, view, frozenset(evidence), None, None, declared, None, {}, *files)
        match = None if scheme else _match(blueprint, index, view, match, sized)
        if match and match.unexpected:
            find = Finder(blueprint.leaves).find
            scheme = scheme_of_names(match.unexpected, lambda name: find(name) is not None)
        evidence |= {"scheme" if scheme else "names", "headers" if view else "index alone"}
        match = None if scheme else match
        if match and index and index.total_size and not match.unexpected and not blueprint.asides:
            reading = sizes.exact(index.total_size, match.weights, match.buffers, declared)
        spelling = {expected: found for found, expected in match.renamed} if match else {}
        return cls(blueprint, index, view, frozenset(evidence), match, scheme, declared, reading, spelling, *files)

    @property
    def match(self) -> Match:
        """`names`, for checks that need them."""
        assert self.names is not None
        return self.names

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
        return _matched(self.blueprint, listed)

    def bytes(self, leaf: Leaf, count: int) -> int | None:
        """Bytes of `count` tensors of a leaf; None if their dtype is unknown."""
        if self.view is not None:
            stored = [self.view.entries.get(self.spelling.get(name, name)) for name in self.match.names(leaf)]
            return sum(entry.end - entry.begin for entry in stored if entry)
        elements, buffer = count * leaf.size, leaf.kind == "buffer"
        if self.reading is not None:
            return elements * (self.reading.buffer_width if buffer else self.reading.width)
        return elements * dtypes.width(self.declared) if self.declared and not buffer else None


def _match(
    blueprint: Blueprint, index: Index | None, view: HeaderView | None, match: Match | None, sized: bool
) -> Match:
    listed: Mapping[str, object] = index.weight_map if index else view.entries if view else {}
    if index and view and view.omitted:
        find = Finder(blueprint.leaves).find
        listed, match = dict(listed) | {name: None for name, _ in view.omitted if find(name)}, None
    if match is None:
        match = _matched(blueprint, listed, index.weight_map if index and sized else None)
    return match


def _matched(blueprint: Blueprint, listed: Collection[str], files: Mapping[str, str] | None = None) -> Match:
    match = names.match(blueprint.leaves, listed, blueprint.asides, files)
    if match.unexpected:
        names.set_heads_apart(match, blueprint.head, blueprint.other_heads)
    return match
