"""Renames a checkpoint in Mistral's own layout to transformers' names, for comparison.

Mistral rotates neighbouring rows of queries and keys, transformers the halves of a head. Source: transformers
5.23, models/mistral/convert_mistral_weights_to_hf.py (`permute_for_rope`), and the names of
hfcount.blueprints.libraries.mistral.
"""

from collections.abc import Iterable
from dataclasses import replace
from math import prod
from typing import NamedTuple

from hfcount.blueprints.blueprint import Blueprint
from hfcount.blueprints.build import build
from hfcount.blueprints.libraries import as_read
from hfcount.blueprints.libraries.mistral import LEFT_OUT, renamed
from hfcount.diffing.loaded_side import LoadedSide
from hfcount.diffing.tensors import Inventory, Logical, keyed
from hfcount.errors import HfcountError
from hfcount.fetcher.layout import PARAMS
from hfcount.mapper import Config
from hfcount.spec.tree.leaves import Leaf

_TURNED = ("q_proj.weight", "k_proj.weight")
_PLAIN = ("mistral", "mixtral")
"""Types whose queries and keys are rotated in full."""


class Translated(NamedTuple):
    """A side under transformers' names, and its tensors."""

    side: LoadedSide
    inventory: Inventory


def is_native(side: LoadedSide) -> bool:
    """Whether a side is in Mistral's layout."""
    return side.documents is not None and side.documents.layout.config == PARAMS and side.blueprint is not None


def as_transformers(side: LoadedSide, stored: Inventory) -> Translated | None:
    """Renames a side to transformers' names; None if they are unknown."""
    if side.documents is None or side.inspection is None:
        return None
    try:
        _, _, values = as_read(side.documents, dict(side.values))
        plain = build(Config(values))
    except HfcountError:
        return None
    names = _names(plain)
    if names is None:
        return None
    key, tensors = keyed(plain), {}
    for old, tensor in stored.tensors.items():
        if (pair := names.get(tensor.name)) is None:
            tensors[old] = tensor
        else:
            name, leaf = pair
            tensors[key(name)] = _turned(tensor._replace(name=name, leaf=leaf), values)
    inspection = side.inspection._replace(blueprint=plain)
    return Translated(replace(side, inspection=inspection, values=values), replace(stored, tensors=tensors))


def _names(plain: Blueprint) -> dict[str, tuple[str, Leaf]] | None:
    """transformers' names and leaves by Mistral's names; both list tensors in the same order."""
    ours = [leaf for leaf in plain.leaves if LEFT_OUT.isdisjoint(_texts(leaf))]
    theirs = renamed(plain).leaves
    if [leaf.shape for leaf in ours] != [leaf.shape for leaf in theirs]:
        return None
    pairs = zip(ours, theirs, strict=True)
    return {old: (new, leaf) for leaf, other in pairs for new, old in zip(leaf.names(), other.names(), strict=True)}


def _texts(leaf: Leaf) -> Iterable[str]:
    return (part for part in leaf.segments if isinstance(part, str))


def _turned(tensor: Logical, values: dict[str, object]) -> Logical:
    """A tensor with rows in transformers' order, or without bytes if that order is unknown."""
    if not tensor.name.endswith(_TURNED) or tensor.bytes is None:
        return tensor
    rows = values.get("head_dim")
    if values.get("model_type") not in _PLAIN or not isinstance(rows, int) or rows % 2 or len(tensor.bytes) > 1:
        return tensor._replace(bytes=None)
    (bytes_,) = tensor.bytes
    return tensor._replace(bytes=(bytes_._replace(head=(rows, prod(tensor.shape[1:]))),))
