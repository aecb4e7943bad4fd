"""Checks the total bytes and parameters in the metadata of the index."""

from typing import Any

from hfcount.fetcher.layout import CONFIG, INDEX
from hfcount.formats import dtypes
from hfcount.formats.index import Index
from hfcount.text import plural
from hfcount.verifier import dtypes_from_total
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.finding import Severity
from hfcount.verifier.findings import Check, Outcome

METADATA, TOTAL_SIZE = "metadata", "metadata.total_size"


def check_total_parameters(c: Comparison, outcome: Outcome) -> None:
    """HF403: the parameters that the index claims."""
    claim, total = c.index.total_parameters if c.index else None, c.blueprint.total
    total -= sum(leaf.elements for leaf in c.packed.left) if c.packed else 0
    total += sum(leaf.elements for leaf in c.blueprint.leaves if leaf.name in outcome.untied) if claim != total else 0
    if claim is None or c.blueprint.unmodeled:
        return
    outcome.checks.append(Check("total_parameters", total, claim))
    if claim == total or _stored_says(c, claim, outcome):
        return
    _report_parameters(c, claim, total, outcome)


def _report_parameters(c: Comparison, claim: int, total: int, outcome: Outcome) -> None:
    from hfcount.verifier.rules.hf403_total_parameters_differs import Reason, TotalParametersDiffers

    leaves = c.blueprint.leaves
    tied = sum(leaf.elements for leaf in leaves if leaf.label == "tied")
    buffers = sum(leaf.elements for leaf in leaves if leaf.label == "buffer")
    vectors = sum(leaf.elements for leaf in leaves if leaf.counted and len(leaf.shape) == 1)
    # The simplest reason last, so that it wins if two have the same value.
    reasons: dict[int, Reason] = {
        vectors: "vectors",
        total + tied + buffers: "both",
        total + buffers: "buffers",
        total + tied: "tied",
    }
    outcome.report(
        TotalParametersDiffers(
            expected=total,
            observed=claim,
            key="metadata.total_parameters",
            file=INDEX,
            parameters=abs(claim - total),
            fix=f"Set it to {total:,}, or remove it.",
            reason=reasons.get(claim),
        )
    )


def _stored_says(c: Comparison, claim: int, outcome: Outcome) -> bool:
    """Whether the claim fits what is stored, where that is not what the config says: then it is no finding of its own.

    Of an index alone, the elements of unexpected tensors are unknown, and so is what it should claim.
    """
    if outcome.has("HF213", "HF112") and (copies := c.match.extra("tied")):
        return claim == c.blueprint.total + sum(leaf.elements for leaf, _ in copies)
    if not outcome.has("HF201", "HF202", "HF301"):
        return False
    if c.view is None:
        return bool(c.match.unexpected) or claim == c.match.weights
    stored = c.view.elements
    constants = sum(count * leaf.size for leaf, count in c.match.listed if leaf.kind == "buffer" or leaf.tied_to)
    unexpected, _ = c.view.sizes(c.match.unexpected)  # some of which may be constants, too
    return sum(stored.values()) - constants - unexpected <= claim <= sum(stored.values())


def check_total_size(c: Comparison, outcome: Outcome) -> None:
    """HF302, HF401, HF402 at depth index: the bytes that the index claims, against the blueprint's."""
    match, claim = c.match, c.index.total_size if c.index else None
    if not claim:
        report_no_total_size(c.index, outcome)
        return
    if c.blueprint.unmodeled:
        return  # the claim includes parts of unknown size
    if c.reading is not None:
        _accept(c, c.reading, claim, outcome)
        return
    width, buffers = dtypes.width(c.declared) if c.declared else 2, match.buffers + match.flags
    elements, expected = match.weights + buffers, match.weights * width + buffers * 4
    listed = f"{elements:,} listed elements"
    outcome.proven = not match.unexpected  # the bytes were compared, and differ
    if match.missing_count and dtypes_from_total.exact(
        claim, match.weights + match.missing_elements, match.buffers, c.declared, match.flags
    ):
        listed += f", and the {match.missing_elements:,} missing ones are the rest"
    elif claim == c.weights.bytes:
        listed += ", and total_size is the sum of the file sizes, headers included"
        report_total_size(claim, expected, outcome, files=True)
    elif match.unexpected and claim >= expected:
        listed += f", and {plural(len(match.unexpected), 'tensor')} of unknown size"
    else:  # either the index or the config is wrong, so there is no fix to suggest
        report_total_size(claim, expected, outcome, fix=None, elements=elements, width=width)
    outcome.checks.append(Check("total_size", expected, claim, listed))


def report_total_size(claim: int, expected: int, outcome: Outcome, **values: Any) -> None:
    """HF401; `values` are further arguments of its finding."""
    from hfcount.verifier.rules.hf401_total_size_differs import TotalSizeDiffers

    values = {"key": TOTAL_SIZE, "file": INDEX, "bytes": abs(claim - expected), **values}
    outcome.report(TotalSizeDiffers(expected=expected, observed=claim, **values))


def report_no_total_size(index: Index | None, outcome: Outcome) -> None:
    """HF402."""
    from hfcount.verifier.rules.hf402_total_size_missing import TotalSizeMissing

    bare, claim = index is not None and index.bare, index.total_size if index else None
    level: Severity = "error" if bare else "note"
    key = METADATA if bare else TOTAL_SIZE
    outcome.report(TotalSizeMissing(severity=level, observed=claim, bare=bare, key=key, file=INDEX))


def _accept(c: Comparison, reading: dtypes_from_total.Reading, claim: int, outcome: Outcome) -> None:
    text = str(reading)
    if c.declared is None:
        text += " (the width at which it is exact; the config names no dtype)"
    outcome.checks.append(Check("total_size", claim, claim, text))
    declared_width = dtypes.width(c.declared) if c.declared else reading.width
    outcome.proven = reading.width == declared_width  # else the claim may be as wrong as the dtype
    outcome.settled = outcome.proven and c.match.complete
    outcome.stored, outcome.dtypes = reading.elements, reading.by_dtype
    if reading.width != declared_width:
        from hfcount.verifier.rules.hf302_dtype_differs import ByClaim

        outcome.report(
            ByClaim(
                expected=c.declared or "",
                observed=reading.dtype,
                key="dtype",
                file=CONFIG,
                parameters=reading.weights,
                bytes=reading.weights * reading.width,
                fix=None,
                declared=c.blueprint.spec.dtype or "",
                element_bytes=declared_width,
                claim=claim,
                width=reading.width,
            )
        )
