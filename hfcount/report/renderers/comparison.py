"""Builds the comparison table of several models, for all renderers."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, get_args

from hfcount.mapper.whatif import written
from hfcount.report.model import Report
from hfcount.report.renderers.amounts import rounded
from hfcount.report.renderers.selection import judged, sparse
from hfcount.report.renderers.text import number, outcome, share
from hfcount.report.serving import EngineMemory, Memory, RankMemory
from hfcount.spec.tree.nodes import Component
from hfcount.text import capacity, plural


class ComparisonTable(NamedTuple):
    """Column heads, and a row for each model: `sizes` columns, then shares of components."""

    head: list[str]
    rows: list[list[str]]
    sizes: int


def compared(reports: Sequence[Report]) -> ComparisonTable:
    """Compares the models that could be counted."""
    counted = [report for report in reports if report.components]
    components = {part.name for report in counted for part in report.components}
    names = [component for component in get_args(Component) if component in components]
    left_out = {name for name, kept in (("verdict", judged(reports)), ("active", sparse(counted))) if not kept}
    sizes = [{name: text for name, text in _sizes(report) if name not in left_out} for report in counted]
    heads = list(dict.fromkeys(head for columns in sizes for head in columns))
    rows = [
        [*(columns.get(head, "") for head in heads), *(_share_of(report, name) for name in names)]
        for columns, report in zip(sizes, counted, strict=True)
    ]
    return ComparisonTable([*heads, *names], rows, len(heads))


def _sizes(report: Report) -> Iterator[tuple[str, str]]:
    yield "model", f"with {written(report.overrides)}" if report.overrides else report.model
    yield "verdict", outcome(report)
    counts, memory = report.parameters, report.memory
    yield "total", number(counts.total if counts else None)
    yield "active", number(counts.active if counts else None)
    memory = memory or Memory()
    yield "weights", amount(memory.weights_bytes)
    yield "cache, per token", amount(memory.kv_bytes_per_token)
    if memory.context is not None:
        yield f"cache, {_load(memory)}", amount(memory.kv_bytes)
        yield "weights, + cache", amount(memory.total_bytes)
    if report.serving and report.serving.context_limit is not None:
        yield "tokens, by the config", number(report.serving.context_limit)
    if not memory.ranks:
        yield from _room(_answering(report, memory, 1), memory, "")
    for rank in memory.ranks:
        among = f"each of {plural(rank.ranks, 'GPU')}"
        yield f"weights, {among}", amount(rank.weights_bytes) if rank.works is not False else "impossible"
        if memory.context is not None:
            yield f"+ cache, {among}", amount(rank.total_bytes)
        yield from _room(_answering(report, rank, rank.ranks), memory, f", {among}")


def _answering(report: Report, holder: Memory | RankMemory, ranks: int) -> Memory | RankMemory | EngineMemory:
    """What answers whether it fits: the share of the engine, if one is to serve it."""
    engines = report.serving.engines if report.serving else ()
    return next((engine for engine in engines if engine.ranks == ranks), holder)


def _room(holder: Memory | RankMemory | EngineMemory, memory: Memory, among: str) -> Iterator[tuple[str, str]]:
    """The largest context that fits."""
    if memory.available_bytes is None:
        return
    each = f"{memory.batch:,} × " if memory.batch > 1 else ""
    if holder.fits is None:
        tokens = "unknown"
    elif holder.largest_context is None:
        tokens = "any"
    else:
        tokens = number(holder.largest_context) if holder.largest_context else "none"
    size, _, _ = capacity(memory.available_bytes).partition(" (")
    yield f"{each}tokens, in {size}{among}", tokens


def _load(memory: Memory) -> str:
    """`2 × 32,768`: sequences and tokens."""
    tokens = f"{memory.context:,}"
    return f"{memory.batch:,} × {tokens}" if memory.batch > 1 else f"{tokens} tokens"


def amount(size: int | None) -> str:
    """Bytes in a suitable unit, or `unknown`."""
    return "unknown" if size is None else rounded(size)


def _share_of(report: Report, name: str) -> str:
    total = sum(part.total for part in report.components)
    return next((share(part.total, total) for part in report.components if part.name == name), "")
