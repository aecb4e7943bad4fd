"""Renders rows for several files of one model, such as GGUF files of other types."""

from hfcount.report.figures import WeightsFile
from hfcount.report.model import Report
from hfcount.report.renderers.amounts import binary, rounded
from hfcount.report.renderers.fitting import ServingRow
from hfcount.report.serving import Memory
from hfcount.text import plural

_TYPES = 4  # of a mixture that are named


def variants(report: Report) -> list[ServingRow]:
    """A row for each file: its bits per weight, its size, its types, whether it is sound, and whether it fits."""
    return [_row(file, report.memory) for file in report.variants or ()]


def _row(file: WeightsFile, memory: Memory | None) -> ServingRow:
    if file.bits_per_weight is None:
        return file.file, "unknown", file.verdict
    types = [*file.bytes]
    more = " ..." if len(types) > _TYPES else ""
    facts = [f"bits per weight, {binary(sum(file.bytes.values()))}: {' + '.join(types[:_TYPES])}{more}"]
    facts += [f"{plural(file.files, 'file')}"] if file.files > 1 else []
    facts += [file.role] if file.role != "model" else []
    facts.append(file.verdict)
    if memory and memory.available_bytes is not None and file.role == "model":
        facts.append(_fits(file, memory.available_bytes))
    return file.file, f"{file.bits_per_weight:.2f}", "; ".join(facts)


def _fits(file: WeightsFile, available: int) -> str:
    if file.fits is None:
        return f"unknown whether it fits in {rounded(available)}"
    if not file.fits:
        return f"does not fit in {rounded(available)}"
    most = f"{file.largest_context:,}" if file.largest_context else "any number of"
    return f"fits in {rounded(available)} with {most} tokens"
