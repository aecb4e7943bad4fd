"""How quantised weights are stored: from the settings alone or from what was read."""

from collections.abc import Sequence
from dataclasses import dataclass

from hfcount.blueprints.blueprint import Blueprint
from hfcount.formats.dtypes import BITS, code
from hfcount.mapper.quantization_config import Announcement
from hfcount.quantization.layout import Unmodelled
from hfcount.quantization.packing.amounts import amount
from hfcount.quantization.packing.expected import expected
from hfcount.quantization.packing.kv_cache_scales import Heads, usual
from hfcount.quantization.schemes import described, rest_dtype
from hfcount.report.figures import Storage
from hfcount.spec.tree.leaves import Leaf
from hfcount.verifier.findings import Outcome


@dataclass(frozen=True, slots=True)
class _StoredWeights:
    """The leaves as they are stored; `modules` are packed, and have `logical` elements."""

    tensors: list[Leaf]
    modules: int
    logical: int


def storage(blueprint: Blueprint, announced: Sequence[Announcement], outcome: Outcome) -> Storage | None:
    """How the weights are stored that are announced to be quantised; None if that is not described."""
    dtype = code(blueprint.spec.dtype) or rest_dtype(announced[0].method)
    weights = _by_names(outcome) or _by_settings(blueprint, announced)
    if weights is None:
        return None
    total = amount(weights.tensors, dtype)
    packed = amount((leaf for leaf in weights.tensors if leaf.dtypes is not None), dtype)
    evidence = outcome.dtypes
    dtypes = total.dtypes if evidence is None else evidence
    size = _bytes(dtypes)
    if blueprint.unmodeled and evidence is None:  # the rest is of unknown size
        return None
    dense = amount((leaf for leaf in weights.tensors if leaf.dtypes is None), dtype)
    return Storage(
        scheme=announced[0].name,
        modules=weights.modules,
        tensors=total.tensors,
        dtypes=dtypes,
        scalars=amount((leaf for leaf in weights.tensors if not leaf.shape), dtype).dtypes,
        bytes=size,
        packed_bytes=packed.bytes,
        packed_parameters=weights.logical,
        unpacked_bytes=dense.bytes + weights.logical * BITS[dtype] // 8,
    )


def _bytes(dtypes: dict[str, int]) -> int:
    return sum(elements * BITS[name] // 8 for name, elements in dtypes.items())


def _by_names(outcome: Outcome) -> _StoredWeights | None:
    """The stored weights, by the names of the checkpoint."""
    packed = outcome.packed
    if packed is None:
        return None
    stored = [leaf.replace(count=count) for leaf, count in packed.match.listed if count]
    modules = packed.packed
    return _StoredWeights(
        stored, sum(int(module.leaf.count) for module in modules), sum(module.leaf.elements for module in modules)
    )


def _by_settings(blueprint: Blueprint, announced: Sequence[Announcement]) -> _StoredWeights | None:
    """The stored weights, by the settings alone; prediction layers that are announced are counted."""
    try:
        scheme, _ = described(announced, blueprint.spec.dtype)
    except Unmodelled:
        return None
    predicted = blueprint.spec.announces("mtp")
    leaves = [
        leaf
        for leaf in blueprint.leaves
        if leaf.stored or (predicted and leaf.label in ("auxiliary", "auxiliary buffer"))
    ]
    packed = expected(leaves, scheme)
    spec, caches = blueprint.spec, list[Leaf]()
    if scheme.caches_stored and spec.causal:
        caches = usual(leaves, Heads.of(spec, scheme.caches_heads))
    return _StoredWeights([*packed.tensors, *caches], packed.modules, packed.logical)
