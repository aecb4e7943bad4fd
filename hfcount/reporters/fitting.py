"""Rows on what fits into a memory, and on what each rank holds."""

from hfcount.figures import Memory, RankMemory
from hfcount.reporters.amounts import binary, rounded
from hfcount.text import plural

Row = tuple[str, str, str]
"""A name, a number, and its unit and origin."""


def fitting(memory: Memory) -> list[Row]:
    """Whether weights and cache fit, then the same for a rank of each number that was asked for."""
    rows = []
    if memory.available_bytes is not None:
        rows.append((f"in {rounded(memory.available_bytes)}", *_fits(memory, memory)))
    for one in memory.ranks:
        rows += _of_ranks(one, memory)
    if memory.ranks:
        numbers = ", ".join(f"{number:,}" for number in memory.tensor_parallel or ())
        said = f"can share it, of up to 128: {numbers}" if numbers else memory.ranks_why or ""
        rows.append(("ranks", "" if numbers else "unknown", said))
    return rows


def _of_ranks(one: RankMemory, memory: Memory) -> list[Row]:
    name = f"1 of {plural(one.ranks, 'rank')}"
    if one.works is None:
        return [(name, "unknown", memory.ranks_why or "")]
    if not one.works:
        return [(name, "impossible", "they cannot share it")]
    if one.weights_bytes is None:
        return [(name, "unknown", memory.weights_why or "")]
    cache = f", and {one.kv_bytes_per_token:,} bytes of cache per token" if one.kv_bytes_per_token else ""
    rows = [(name, f"{one.weights_bytes:,}", f"bytes of weights, {binary(one.weights_bytes)}{cache}")]
    if one.total_bytes is not None:
        rows.append(("  with cache", f"{one.total_bytes:,}", f"bytes, {binary(one.total_bytes)}"))
    if memory.available_bytes is not None:
        rows.append((f"  in {rounded(memory.available_bytes)}", *_fits(one, memory)))
    return rows


def _fits(one: Memory | RankMemory, memory: Memory) -> tuple[str, str]:
    if one.fits is None:
        return "unknown", memory.weights_why or memory.why or ""
    for_all = f"{plural(memory.batch, 'sequence')} of " if memory.batch > 1 else ""
    if one.fits and one.largest_context is None:
        return "fits", f"with {for_all}any number of tokens"
    if not one.largest_context:
        return "does not fit", "the weights and one token take more"
    most = f"up to {for_all}{one.largest_context:,} tokens"
    return ("fits", f"with {most}") if one.fits else ("does not fit", f"but {most} do")
