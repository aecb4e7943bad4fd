"""Renders memory requirements, memory of ranks, and answers about serving."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from hfcount.report.model import Report
from hfcount.report.renderers.amounts import binary
from hfcount.report.serving import Answer, EngineMemory, Memory, RankMemory, Serving
from hfcount.text import capacity, plural

ServingRow = tuple[str, str, str]
"""(name, number, unit and origin)."""

_MORE = 1.01  # ratio to the memory of one device above which a row is shown


def answered(report: Report) -> Iterator[str]:
    """Answers about serving: each no and unknown, then the positive ones together."""
    serving, memory = report.serving, report.memory
    if serving is None or memory is None:
        return
    answers = sorted(serving.answers, key=lambda answer: ("no", "unknown", "yes").index(answer.answer))
    for answer in answers:
        if answer.answer != "yes":
            yield _refused(answer, memory, serving, report.depth)
    for question, text in (("tp", "can share it"), ("memory", f"in {capacity(memory.available_bytes or 0)}")):
        yes = [answer for answer in answers if answer.question == question and answer.answer == "yes"]
        ranks = [answer.ranks for answer in yes]
        if ranks and question == "memory":
            most = _at_most(yes, serving, memory)
            yield f"fits {text} on {_numbers(ranks)}{most}" if memory.ranks else f"fits {text}{most}"
        elif ranks and memory.available_bytes is None:  # else the next answer says so, too
            yield f"{_numbers(ranks)} {text}"


def _at_most(answers: Sequence[Answer], serving: Serving, memory: Memory) -> str:
    """`, at most 30,806 tokens`: what fits on the fewest, where the config does not allow less."""
    sizes = [answer.largest_context for answer in answers if answer.largest_context is not None]
    least = min(sizes, default=None)
    if least is None or (serving.context_limit is not None and least >= serving.context_limit):
        return ""
    each = f"{memory.batch:,} sequences of " if memory.batch > 1 else ""
    return f", at most {each}{plural(least, 'token')}"


def _refused(answer: Answer, memory: Memory, serving: Serving, depth: str | None) -> str:
    """An answer that is no or unknown."""
    who = plural(answer.ranks, "GPU")
    if answer.question == "tp":
        unknown = f"unknown whether {who} can share it ({answer.reason})"
        return f"{who} cannot share it" if answer.answer == "no" else unknown
    held = next((rank for rank in memory.ranks if rank.ranks == answer.ranks), memory)
    share, size = f"on {plural(answer.ranks, 'GPU')} it " if memory.ranks else "", capacity(memory.available_bytes or 0)
    if answer.answer == "unknown":
        return f"unknown whether {share or 'it '}fits in {size} ({answer.reason}){_instead(held, depth)}"
    cache = f" and {binary(held.kv_bytes)} cache" if held.kv_bytes else ""
    uses = [engine for engine in serving.engines if engine.ranks == answer.ranks]
    part = f", of which {uses[0].engine} uses {binary(uses[0].bytes)}" if uses else ""
    each = f"{memory.batch:,} sequences of " if memory.batch > 1 else ""
    most = f"; up to {each}{plural(answer.largest_context, 'token')} fit" if answer.largest_context else ""
    each_gpu = " on each" if answer.ranks > 1 else ""
    return f"{share}does not fit in {size}{part}: {binary(held.weights_bytes or 0)} weights{cache}{each_gpu}{most}"


def _instead(held: Memory | RankMemory, depth: str | None) -> str:
    """What is known of an unknown total, or how to learn it."""
    if held.weights_bytes is not None:
        return f"; its weights alone need {binary(held.weights_bytes)}"
    return "" if depth in ("headers", "data") else "; --depth headers shows how many bytes are stored"


def _numbers(ranks: Sequence[int]) -> str:
    """`2, 4 and 8 GPUs`."""
    *some, last = (f"{number:,}" for number in ranks)
    return f"{', '.join(some)} and {last} GPUs" if some else plural(ranks[0], "GPU")


_REFUSALS = {
    "memory": ("does not fit", "do not fit"),
    "tp": ("cannot be shared by that many", "cannot be shared by that many"),
}
"""By question, what is said of one model and of several that are refused."""


def refused(reports: Sequence[Report]) -> str:
    """`; 1 does not fit, 2 cannot be shared`: how many of several models are refused; empty for none."""
    counts = Counter(question for report in reports for question in _questions_refused(report))
    return _clause(
        f"{counts[name]:,} {alone if counts[name] == 1 else several}"
        for name, (alone, several) in _REFUSALS.items()
        if counts[name]
    )


def refusal(report: Report) -> str:
    """`; does not fit`: that a model is refused; empty if it is not."""
    questions = _questions_refused(report)
    return _clause(alone for name, (alone, _) in _REFUSALS.items() if name in questions)


def _questions_refused(report: Report) -> set[str]:
    return {answer.question for answer in report.serving.answers if answer.answer == "no"} if report.serving else set()


def _clause(parts: Iterable[str]) -> str:
    text = ", ".join(parts)
    return f"; {text}" if text else ""


def fitting(memory: Memory, serving: Serving | None) -> list[ServingRow]:
    """Rows on whether weights and cache fit, for one device or each number of ranks."""
    rows = list[ServingRow]()
    if serving and serving.context_limit is not None:
        asked = memory.context or 0
        beyond = f", less than the {asked:,} you asked for" if asked > serving.context_limit else ""
        text = f"tokens (config: {serving.context_limit_source}){beyond}"
        rows.append(("context limit", f"{serving.context_limit:,}", text))
    if memory.available_bytes is not None and not memory.ranks:
        rows += _in_memory(memory, memory, serving, "")
    for rank in memory.ranks:
        rows += _of_ranks(rank, memory, serving)
    if memory.ranks:
        numbers = ", ".join(f"{number:,}" for number in memory.tensor_parallel or ())
        sharing = f"can share it (up to 128): {numbers}" if numbers else memory.ranks_why or ""
        rows.append(("GPUs", "" if numbers else "unknown", sharing))
    if memory.available_bytes is not None:
        rows.append(("not counted", "", "activations, CUDA context and graphs, the engine's own buffers"))
    return rows


def _of_ranks(rank: RankMemory, memory: Memory, serving: Serving | None) -> list[ServingRow]:
    name = f"each of {plural(rank.ranks, 'GPU')}"
    if rank.works is None:
        return [(name, "unknown", memory.ranks_why or "")]
    if not rank.works:
        return [(name, "impossible", "they cannot share it")]
    if rank.weights_bytes is None:
        return [(name, "unknown", memory.weights_why or "")]
    cache = f", and {rank.kv_bytes_per_token:,} bytes of cache per token" if rank.kv_bytes_per_token else ""
    rows = [(name, f"{rank.weights_bytes:,}", f"bytes of weights, {binary(rank.weights_bytes)}{cache}")]
    if rank.total_bytes is not None:
        rows.append(("  with cache", f"{rank.total_bytes:,}", f"bytes, {binary(rank.total_bytes)}"))
    rows += _together(rank, memory)
    if memory.available_bytes is not None:
        rows += _in_memory(rank, memory, serving, "  ")
    return rows


def _together(rank: RankMemory, memory: Memory) -> Iterator[ServingRow]:
    """The excess of all ranks over one device, since unsplit tensors are copied."""
    excess = []
    weights = rank.ranks * (rank.weights_bytes or 0) / (memory.weights_bytes or 1)
    if weights > _MORE:
        excess.append(f"{weights:,.2f}× the weights")
    kept = (memory.kv_bytes_per_token or 0) + (memory.state_bytes or 0)
    cache = rank.ranks * ((rank.kv_bytes_per_token or 0) + (rank.state_bytes or 0)) / (kept or 1)
    if cache > _MORE:
        excess.append(f"{cache:,.2f}× the cache")
    if excess and rank.ranks > 1:
        yield (
            f"  all {rank.ranks:,}",
            "",
            f"together hold {' and '.join(excess)} (tensors that cannot be split are copied)",
        )


def _in_memory(
    holder: Memory | RankMemory, memory: Memory, serving: Serving | None, indent: str
) -> Iterator[ServingRow]:
    """Whether it fits: in the share of the engine, if one is to serve it."""
    ranks = holder.ranks if isinstance(holder, RankMemory) else 1
    engine = next((engine for engine in serving.engines if engine.ranks == ranks), None) if serving else None
    yield f"{indent}in {capacity(memory.available_bytes or 0)}", *_fits(engine or holder, memory, serving)
    if engine:
        text = f"of it ({engine.setting}), activations included; --engine raw uses all of it"
        yield f"{indent}{engine.engine} uses", binary(engine.bytes), text


def _fits(holder: Memory | RankMemory | EngineMemory, memory: Memory, serving: Serving | None) -> tuple[str, str]:
    if holder.fits is None:
        return "unknown", memory.weights_why or memory.why or ""
    if not holder.fits and not holder.largest_context:
        return "does not fit", "the weights and one token need more"
    most = _most(holder.largest_context, memory, serving)
    return ("fits", f"with {most}") if holder.fits else ("does not fit", f"but {most} do")


def _most(context: int | None, memory: Memory, serving: Serving | None) -> str:
    """The largest context that fits, and the config's limit if smaller."""
    for_all = f"{plural(memory.batch, 'sequence')} of " if memory.batch > 1 else ""
    most = f"up to {for_all}{context:,} tokens" if context is not None else f"{for_all}any number of tokens"
    limit = serving.context_limit if serving else None
    if serving is None or limit is None or (context is not None and context <= limit):
        return most
    return f"{most}; the config allows {limit:,}"
