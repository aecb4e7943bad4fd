"""Builds the findings about packed weights."""

from collections.abc import Iterable, Sequence
from typing import TypedDict

from hfcount.quantization.layout import Layout, Unmodelled
from hfcount.quantization.packing.packed import Packed
from hfcount.quantization.packing.survey import StoredModules
from hfcount.quantization.scheme import Choice
from hfcount.quantization.schemes import read
from hfcount.spec.tree.leaves import Leaf
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.findings import Outcome, TensorFacts
from hfcount.verifier.folded_names import fold
from hfcount.verifier.match import Match


class SettingsPlace(TypedDict):
    """The place of quantisation settings: key, file, and the name in messages."""

    key: str | None
    file: str | None
    source: str


def report_modules(
    c: Comparison,
    packed: Packed[Match],
    choice: Choice,
    stored: Layout | None,
    modules: Sequence[StoredModules],
    outcome: Outcome,
) -> None:
    """HF502: modules that are stored otherwise than the settings say, in a layout of their own, or dense."""
    from hfcount.verifier.rules.hf502_packed_differently import ModulesDiffer

    wanted, why = choice.layout, choice.why
    dense = stored is None and wanted is not None
    unseen = dense and c.view is None and wanted is not None and wanted.parts(64, 64)[0].suffix == ".weight"
    outcome.report(
        ModulesDiffer(
            severity="note" if why else "error",
            expected=wanted.label if wanted else None,
            observed=stored.label if stored else None,
            fix=None if why else ModulesDiffer.remedy,
            **sums([module.leaf for module in modules]),
            **where(packed),
            reason=why,
            unseen=unseen and not why,
        )
    )


def report_stale(packed: Packed[Match], modules: Sequence[StoredModules], outcome: Outcome) -> None:
    """Nothing is packed of all that should be."""
    from hfcount.verifier.rules.hf504_quantization_config_stale import NothingPacked

    place = packed.announced and (packed.announced.key or packed.announced.file)
    outcome.report(
        NothingPacked(
            fix=f"Remove {place} if the weights were converted back." if place else NothingPacked.remedy,
            expected=packed.name,
            **sums([module.leaf for module in modules]),
            **where(packed),
        )
    )


def report_contradiction(c: Comparison, packed: Packed[Match], outcome: Outcome) -> None:
    """Two files that announce different ways of packing."""
    first = next(iter(packed.scheme.layouts), None)
    for other in c.announced[1:]:
        try:
            second = next(iter(read(other, c.blueprint.spec.dtype).layouts), None)
        except Unmodelled:
            continue
        if first and second and (type(first), first.label) != (type(second), second.label):
            from hfcount.verifier.rules.hf504_quantization_config_stale import Contradiction

            outcome.report(
                Contradiction(expected=first.label, observed=second.label, **where(packed), other=other.file)
            )


def report_numbers(packed: Packed[Match], outcome: Outcome) -> None:
    """Numbers of the settings that names beside them rule out."""
    place = where(packed)
    for contradiction in packed.scheme.contradictions:
        from hfcount.verifier.rules.hf505_quantization_settings_contradict import QuantizationSettingsContradict

        outcome.report(
            QuantizationSettingsContradict(
                expected=contradiction.wanted,
                observed=contradiction.observed,
                key=".".join(filter(None, (place["key"], contradiction.key))),
                file=place["file"],
                source=place["source"],
                place=f".{contradiction.key}" if place["key"] else f": {contradiction.key}",
                by=contradiction.name,
            )
        )


def report_lacking(packed: Packed[Match], outcome: Outcome) -> None:
    """Packed modules without what they need."""
    from hfcount.verifier.rules.hf503_scale_missing import ModulesLackScales

    lacking = [module for module in packed.packed if module.lacking]
    layout = ", ".join(dict.fromkeys(module.layout.label for module in lacking if module.layout))
    modules = sum(int(module.leaf.count) for module in lacking)
    outcome.report(ModulesLackScales(**sums(packed.lacking), modules=modules, layout=layout))


def report_uncached(packed: Packed[Match], outcome: Outcome) -> None:
    """Attention without the scales of a cache that other layers have."""
    from hfcount.verifier.rules.hf503_scale_missing import CacheLacksScales

    outcome.report(CacheLacksScales(**sums(packed.uncached), others=bool(packed.cache)))


def sums(leaves: Iterable[Leaf]) -> TensorFacts:
    """The facts of all tensors of some leaves."""
    given = list(leaves)
    names = [leaf.name for leaf in given] if len(given) > 100 else fold(name for leaf in given for name in leaf.names())
    return {
        "tensors": tuple(names),
        "count": sum(int(leaf.count) for leaf in given),
        "parameters": sum(leaf.elements for leaf in given),
        "bytes": None,
    }


def where(packed: Packed[Match]) -> SettingsPlace:
    """The settings' place, for a finding and its message."""
    if packed.announced is None:
        return {"key": None, "file": None, "source": "the config"}
    key, file = packed.announced.key, packed.announced.file
    return {"key": key or None, "file": file, "source": key or file}
