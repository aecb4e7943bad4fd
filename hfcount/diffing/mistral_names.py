"""A checkpoint of Mistral's own layout under the names of transformers, to compare it with one that has these.

Its rows of queries and keys turn neighbouring pairs, and those of transformers halves of a head. Source: transformers
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
from hfcount.diffing.loaded_side import Looked
from hfcount.diffing.tensors import Inventory, Logical, keyed
from hfcount.errors import HfcountError
from hfcount.fetcher.layout import PARAMS
from hfcount.mapper import Config
from hfcount.spec.tree.leaves import Leaf

_TURNED = ("q_proj.weight", "k_proj.weight")
_PLAIN = ("mistral", "mixtral")
"""Types whose queries and keys are wholly turned."""


class Native(NamedTuple):
    """A side as transformers names it, and its tensors."""

    side: Looked
    inventory: Inventory


def is_native(one: Looked) -> bool:
    """Whether a side is of that layout."""
    return one.documents is not None and one.documents.layout.config == PARAMS and one.blueprint is not None


def as_transformers(one: Looked, stored: Inventory) -> Native | None:
    """The same under the names of transformers; None where these cannot be told."""
    if one.documents is None or one.inspection is None:
        return None
    try:
        _, _, values = as_read(one.documents, dict(one.values))
        plain = build(Config(values))
    except HfcountError:
        return None
    names = _names(plain)
    if names is None:
        return None
    key, found = keyed(plain), {}
    for old, tensor in stored.tensors.items():
        if (pair := names.get(tensor.name)) is None:
            found[old] = tensor
        else:
            name, leaf = pair
            found[key(name)] = _turned(tensor._replace(name=name, leaf=leaf), values)
    inspection = one.inspection._replace(blueprint=plain)
    return Native(replace(one, inspection=inspection, values=values), replace(stored, tensors=found))


def _names(plain: Blueprint) -> dict[str, tuple[str, Leaf]] | None:
    """The names of transformers by those of the layout, whose tensors are in the same order."""
    ours = [one for one in plain.leaves if LEFT_OUT.isdisjoint(_texts(one))]
    theirs = renamed(plain).leaves
    if [one.shape for one in ours] != [one.shape for one in theirs]:
        return None
    pairs = zip(ours, theirs, strict=True)
    return {old: (new, leaf) for leaf, other in pairs for new, old in zip(leaf.names(), other.names(), strict=True)}


def _texts(leaf: Leaf) -> Iterable[str]:
    return (part for part in leaf.segments if isinstance(part, str))


def _turned(one: Logical, values: dict[str, object]) -> Logical:
    """A tensor with its rows in the order of transformers; where that is not known, without its bytes."""
    if not one.name.endswith(_TURNED) or one.bytes is None:
        return one
    rows = values.get("head_dim")
    if values.get("model_type") not in _PLAIN or not isinstance(rows, int) or rows % 2 or len(one.bytes) > 1:
        return one._replace(bytes=None)
    (whole,) = one.bytes
    return one._replace(bytes=(whole._replace(head=(rows, prod(one.shape[1:]))),))
