"""Reports tensors of another dtype than the config declares, grouped by what comes of them."""

from collections.abc import Sequence
from typing import Any

from hfcount.fetcher.layout import CONFIG
from hfcount.formats import dtypes
from hfcount.spec.tree.leaves import Leaf
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.findings import Outcome
from hfcount.verifier.folded_names import fold

Retyped = tuple[Leaf, str, str]
"""A leaf, the name of one of its tensors, and the dtype that it is stored in."""

_EXACT = ("F32", "F64")
"""Floats that hold indices and counts exactly; transformers 4.57 to 5.24 make integers of them again, by a run."""

_TIMES = {0.25: "a quarter of", 0.5: "half", 2: "twice", 4: "four times", 8: "eight times"}


def report_dtypes(c: Comparison, retyped: Sequence[Retyped], outcome: Outcome) -> None:
    """HF302, HF303, HF304.

    Args:
        retyped: tensors of other dtypes than the declared one; all of them where none is declared.
    """
    groups: dict[str, list[Retyped]] = {}
    for tensor in retyped:
        groups.setdefault(_kind(*tensor), []).append(tensor)
    if c.declared and any(dtype == "F32" for _, _, dtype in groups.get("other", ())):
        groups["other"] = _without_float32(c, groups["other"])
    for kind, wanted in (("no numbers", "floating-point numbers"), ("not integers", "integers")):
        if group := groups.get(kind):
            from hfcount.verifier.rules.hf303_dtype_class import DtypeClass

            outcome.report(DtypeClass(subject=c.subject, **_facts(c, group), wanted=wanted, reader=_newest(c)))
    if group := groups.get("float8"):
        from hfcount.verifier.rules.hf304_scales_unseen import ScalesUnseen

        outcome.report(ScalesUnseen(**_facts(c, group), reader=_newest(c)))
    if c.declared and (group := groups.get("other")):
        from hfcount.verifier.rules.hf302_dtype_differs import ByHeaders

        facts, width = _facts(c, group), dtypes.width(c.declared)
        outcome.report(
            ByHeaders(
                expected=c.declared,
                key="dtype",
                file=CONFIG,
                **facts,
                declared=c.blueprint.spec.dtype or "",
                times=_TIMES.get(facts["bytes"] / (facts["parameters"] * width), "") if facts["parameters"] else "",
            )
        )


def _newest(c: Comparison) -> str:
    """transformers with its version, if it reads the checkpoint: what others make of numbers was not tried."""
    from hfcount.verifier.loaders.labels import NEWEST, reader_of

    return NEWEST if reader_of(c) == NEWEST else ""


def _without_float32(c: Comparison, tensors: Sequence[Retyped]) -> list[Retyped]:
    """The tensors but those in float32 that a version of transformers keeps so, which is as saved."""
    from hfcount.verifier.float32_rows import is_float32

    kept = {id(leaf): is_float32(c.blueprint, leaf) for leaf, _, dtype in tensors if dtype == "F32"}
    return [tensor for tensor in tensors if not (tensor[2] == "F32" and kept[id(tensor[0])])]


def _kind(leaf: Leaf, _name: str, dtype: str) -> str:
    if leaf.whole:
        return "fine" if dtype in dtypes.INTEGERS or dtype in _EXACT else "not integers"
    if dtype not in dtypes.FLOATING:
        return "no numbers"
    if leaf.kind == "buffer":  # which may have a dtype of its own in any model
        return "fine"
    return "float8" if dtype in dtypes.FLOAT8 else "other"


def _facts(c: Comparison, group: Sequence[Retyped]) -> dict[str, Any]:
    names, stored = [name for _, name, _ in group], sorted({dtype for _, _, dtype in group})
    elements, size = c.headers.sizes(c.spelling.get(name, name) for name in names)
    return {
        "observed": stored[0] if len(stored) == 1 else tuple(stored),
        "tensors": tuple(fold(names)),
        "count": len(names),
        "parameters": elements,
        "bytes": size,
        "dtypes": ", ".join(stored),
    }
