"""Rows on the files of a repo that has a model in several forms, such as GGUF files of other types."""

from hfcount.report.figures import WeightsFile
from hfcount.report.model import Report
from hfcount.report.renderers.amounts import binary, rounded
from hfcount.report.renderers.fitting import Row
from hfcount.report.serving import Memory
from hfcount.text import plural

_TYPES = 4  # of a mixture that are named


def variants(report: Report) -> list[Row]:
    """A row for each file: its bits per weight, its size, its types, whether it is sound, and whether it fits."""
    return [_row(one, report.memory) for one in report.variants or ()]


def _row(one: WeightsFile, memory: Memory | None) -> Row:
    if one.bits_per_weight is None:
        return one.file, "unknown", one.verdict
    types = [*one.bytes]
    more = " ..." if len(types) > _TYPES else ""
    facts = [f"bits per weight, {binary(sum(one.bytes.values()))}: {' + '.join(types[:_TYPES])}{more}"]
    facts += [f"{plural(one.files, 'file')}"] if one.files > 1 else []
    facts += [one.role] if one.role != "model" else []
    facts.append(one.verdict)
    if memory and memory.available_bytes is not None and one.role == "model":
        facts.append(_fits(one, memory.available_bytes))
    return one.file, f"{one.bits_per_weight:.2f}", "; ".join(facts)


def _fits(one: WeightsFile, available: int) -> str:
    if one.fits is None:
        return f"unknown whether it fits in {rounded(available)}"
    if not one.fits:
        return f"does not fit in {rounded(available)}"
    most = f"{one.largest_context:,}" if one.largest_context else "any number of"
    return f"fits in {rounded(available)} with {most} tokens"
