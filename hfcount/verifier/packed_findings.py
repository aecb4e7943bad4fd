"""What findings about packed weights say: which modules, what the settings say, and what is stored."""

from collections.abc import Iterable, Sequence
from typing import Any

from hfcount.quantization.layout import Layout, Unmodelled
from hfcount.quantization.scheme import Choice
from hfcount.quantization.schemes import read
from hfcount.quantization.stored.packed import Packed
from hfcount.quantization.stored.survey import Found
from hfcount.tree.leaves import Leaf
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.findings import Outcome
from hfcount.verifier.folding import fold
from hfcount.verifier.names import Match


def report_modules(
    c: Comparison, packed: Packed[Match], choice: Choice, own: Layout | None, some: Sequence[Found], outcome: Outcome
) -> None:
    """HF502: modules that are stored otherwise than the settings say, in a layout of their own, or dense."""
    said, why = choice.layout, choice.why
    facts: dict[str, Any] = {"wanted": said.label if said else None, "own": own.label if own else None}
    kind = "unlisted" if said == own else "dense" if own is None else "other" if said else "packed"
    unseen = kind == "dense" and c.view is None and said is not None and said.parts(64, 64)[0].suffix == ".weight"
    facts |= {kind: True, "error": not why, "why": why or None, "unseen": unseen and not why}
    outcome.report(
        "HF502",
        severity="note" if why else "error",
        expected=facts["wanted"],
        observed=facts["own"],
        fix=None if why else "",
        **sums([found.leaf for found in some]),
        **where(packed),
        **facts,
    )


def report_stale(packed: Packed[Match], wanted: Sequence[Found], outcome: Outcome) -> None:
    """Nothing is packed of all that should be."""
    outcome.report(
        "HF504",
        fix=f"Remove {packed.announced.key or packed.announced.file} if the weights were converted back."
        if packed.announced
        else "",
        expected=packed.name,
        **sums([found.leaf for found in wanted]),
        **where(packed),
        nothing=True,
        scheme=packed.name,
    )


def report_contradiction(c: Comparison, packed: Packed[Match], outcome: Outcome) -> None:
    """Two files that announce different ways of packing."""
    own = next(iter(packed.scheme.layouts), None)
    for other in c.announced[1:]:
        try:
            second = next(iter(read(other, c.blueprint.spec.dtype).layouts), None)
        except Unmodelled:
            continue
        if own and second and (type(own), own.label) != (type(second), second.label):
            outcome.report(
                "HF504",
                expected=own.label,
                observed=second.label,
                **where(packed),
                contradiction=True,
                other=other.file,
                first=own.label,
                second=second.label,
            )


def report_numbers(packed: Packed[Match], outcome: Outcome) -> None:
    """Numbers of the settings that names beside them rule out."""
    there = where(packed)
    for one in packed.scheme.contradictions:
        outcome.report(
            "HF505",
            expected=one.wanted,
            observed=one.found,
            key=".".join(filter(None, (there.get("key"), one.key))),
            file=there.get("file"),
            source=there["source"],
            place=f".{one.key}" if there.get("key") else f": {one.key}",
            by=one.name,
            found=str(one.found),
            wanted=str(one.wanted),
        )


def report_lacking(packed: Packed[Match], outcome: Outcome) -> None:
    """Packed modules without what they need."""
    some = [found for found in packed.packed if found.lacking]
    labels = dict.fromkeys(found.layout.label for found in some if found.layout)
    outcome.report(
        "HF503",
        **sums(packed.lacking),
        modules=sum(int(found.leaf.count) for found in some),
        layout=", ".join(labels),
    )


def report_uncached(packed: Packed[Match], outcome: Outcome) -> None:
    """Attention without the scales of a cache that other layers have."""
    outcome.report("HF503", **sums(packed.uncached), cached=True, others=bool(packed.cache))


def sums(leaves: Iterable[Leaf]) -> dict[str, Any]:
    """The arguments of `report` for all tensors of some leaves."""
    some = list(leaves)
    names = [leaf.name for leaf in some] if len(some) > 100 else fold(name for leaf in some for name in leaf.names())
    return {
        "tensors": names,
        "count": sum(int(leaf.count) for leaf in some),
        "parameters": sum(leaf.elements for leaf in some),
        "bytes": None,
    }


def where(packed: Packed[Match]) -> dict[str, Any]:
    """The settings' place, for a finding and its message."""
    if packed.announced is None:
        return {"source": "the config"}
    key, file = packed.announced.key, packed.announced.file
    return {"key": key or None, "file": file, "source": key or file}
