"""Finds the tensors that transformers keeps in float32 in a model of a narrower dtype, so that they are saved so."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from hfcount.blueprints.blueprint import Blueprint
from hfcount.spec.tree.leaves import Leaf
from hfcount.verifier.loaders.facts import LIBRARY, Facts, facts, versions
from hfcount.verifier.match import Match


class Float32Rows(NamedTuple):
    """Leaves that are kept in float32.

    Args:
        who: who keeps them, as the end of a sentence.
        leaves: their folded names.
        elements: of their tensors that are listed.
    """

    who: str
    leaves: frozenset[str]
    elements: int


def float32_rows(blueprint: Blueprint, match: Match) -> Iterator[Float32Rows]:
    """Sets of listed leaves that are kept in float32 together, the newest version's first, the routers last."""
    kinds = {blueprint.spec.family, *(part.family for part in blueprint.spec.parts.values())}
    known = set[frozenset[str]]()
    for who, is_kept in (*_recorded(kinds), ("routers are stored in float32", _is_router)):
        rows = [(leaf, count) for leaf, count in match.listed if count and leaf.kind == "parameter" and is_kept(leaf)]
        leaves = frozenset(leaf.name for leaf, _ in rows)
        if leaves and leaves not in known:
            known.add(leaves)
            yield Float32Rows(who, leaves, sum(count * leaf.size for leaf, count in rows))


def is_float32(blueprint: Blueprint, leaf: Leaf) -> bool:
    """Whether a version of the library keeps a leaf in float32, or it is a router."""
    kinds = {blueprint.spec.family, *(part.family for part in blueprint.spec.parts.values())}
    return _is_router(leaf) or any(is_kept(leaf) for _, is_kept in _recorded(kinds))


def _recorded(kinds: set[str]) -> Iterator[tuple[str, Callable[[Leaf], bool]]]:
    for version in reversed(versions()):
        recorded = [known for kind in kinds if (known := facts(version, kind)) and known.float32]
        if recorded:
            yield f"{LIBRARY} {'.'.join(version.split('.')[:2])} keeps them so", partial(_is_kept, recorded)


def _is_kept(recorded: list[Facts], leaf: Leaf) -> bool:
    return any(known.keeps_float32(leaf.first) for known in recorded)


def _is_router(leaf: Leaf) -> bool:
    return leaf.component == "router"
