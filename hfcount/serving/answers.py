"""Answers to what was asked about serving: can these ranks share the model, does it fit, how long a context is allowed.

They stand beside the verdict. A no is reported as HF601 or HF602, which says why, and what to do.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from hfcount.mapper.context_length import Length
from hfcount.report.serving import Answer, EngineMemory, Memory, RankMemory, Serving
from hfcount.serving.cost import Workload
from hfcount.serving.engines import EngineShare, engine_share
from hfcount.serving.fitting import Fit, fit
from hfcount.serving.not_divisible import undivided
from hfcount.serving.ranks import cache_of, of_ranks
from hfcount.serving.sharding.sharing import Sharing
from hfcount.text import plural
from hfcount.verifier.finding import Finding
from hfcount.verifier.policy import Policy
from hfcount.verifier.rules.hf601_not_divisible import NotDivisible
from hfcount.verifier.rules.hf602_does_not_fit import DoesNotFit

_TRIED = 12  # numbers of ranks for which it is looked whether their shares fit


class _Asked(NamedTuple):
    """A model, how ranks share it, what serving it takes, what was asked of it, what is let through, and by whom.

    `engine` is whose share of the memory it has to fit in; None for all of the memory.
    """

    sharing: Sharing
    memory: Memory
    load: Workload
    policy: Policy
    engine: EngineShare | None

    @property
    def budget(self) -> int:
        """Bytes that weights and cache may take on each device."""
        device = self.load.memory or 0
        return self.engine.of(device) if self.engine else device


def answers(
    sharing: Sharing, memory: Memory, load: Workload, policy: Policy, limit: Length | None, engines: bool = True
) -> tuple[Serving, list[Finding]]:
    """The answers, and the findings that say why one is no.

    Args:
        memory: what serving takes, with the memory of each rank that was asked for.
        limit: the tokens that the config allows; None if it has no limit.
        engines: whether the engines whose defaults are known serve it.
    """
    asked = _Asked(sharing, memory, load, policy, engine_share(load.engine) if engines else None)
    refusals = list(undivided(sharing, load.ranks))
    shared = [_shared(asked, rank, refusals) for rank in memory.ranks]
    single = of_ranks(sharing, 1, memory.weights_bytes, load)
    working = [rank for rank in memory.ranks or (single,) if rank.works] if load.memory else []
    rooms = {rank.ranks: _room(asked, rank) for rank in working}
    too_large = [_too_large(asked, rank, rooms[rank.ranks]) for rank in working if rooms[rank.ranks]["fits"] is False]
    fitting = [_fits(asked, rank, rooms[rank.ranks], too_large) for rank in working]
    serving = Serving(
        shared=_together(shared),
        fits=_together(fitting),
        answers=(*shared, *fitting),
        engine=asked.engine.engine if asked.engine and working else None,
        engines=tuple(_engine(asked, rank.ranks, rooms[rank.ranks]) for rank in working) if asked.engine else (),
        context_limit=limit.tokens if limit else None,
        context_limit_source=limit.source if limit else None,
    )
    return serving, [*refusals, *too_large]


def unanswered(load: Workload, reason: str) -> Serving:
    """The answers of something that is not served by itself, or of which not enough is known."""
    shared = [Answer(question="tp", ranks=ranks, answer="unknown", reason=reason) for ranks in load.ranks]
    fits = [Answer(question="memory", ranks=1, answer="unknown", reason=reason)] if load.memory else []
    return Serving(answers=(*shared, *fits))


def _together(several: Sequence[Answer]) -> bool | None:
    """No if any is, yes if all are."""
    if any(answer.answer == "no" for answer in several):
        return False
    return True if several and all(answer.answer == "yes" for answer in several) else None


def _shared(asked: _Asked, rank: RankMemory, refusals: Sequence[NotDivisible]) -> Answer:
    if rank.works is None:
        return Answer(question="tp", ranks=rank.ranks, answer="unknown", reason=asked.memory.ranks_why)
    return _answer(asked, "tp", rank.ranks, [finding for finding in refusals if finding.observed == rank.ranks])


def _fits(asked: _Asked, rank: RankMemory, room: Fit, too_large: Sequence[DoesNotFit]) -> Answer:
    if room["fits"] is None:
        reason = asked.memory.weights_why or asked.memory.why
        return Answer(question="memory", ranks=rank.ranks, answer="unknown", reason=reason)
    answer = _answer(asked, "memory", rank.ranks, [finding for finding in too_large if finding.ranks == rank.ranks])
    return answer.replace(largest_context=room["largest_context"])


def _answer(asked: _Asked, question: Literal["tp", "memory"], ranks: int, reported: Sequence[Finding]) -> Answer:
    """No if an error was reported, of this policy or by itself; what only one engine refuses is a note."""
    policy = asked.policy
    for finding in reported:
        if "error" in (finding.severity, policy.severity(finding)):
            code, allowed = finding.code, policy.waives(finding)
            return Answer(question=question, ranks=ranks, answer="no", finding=code, allowed=allowed)
    return Answer(question=question, ranks=ranks, answer="yes")


def _room(asked: _Asked, rank: RankMemory) -> Fit:
    """What fits on a rank, in the share of the engine."""
    cache = None if asked.sharing.cost.unknown else cache_of(asked.sharing, rank.ranks, asked.load)
    return fit(rank.weights_bytes, cache, asked.load._replace(memory=asked.budget))


def _too_large(asked: _Asked, rank: RankMemory, room: Fit) -> DoesNotFit:
    """HF602, of the whole model or of the share of a rank."""
    load, weights = asked.load, rank.weights_bytes or 0
    cache = cache_of(asked.sharing, rank.ranks, load).size(load.batch, load.context or 1)
    return DoesNotFit(
        expected=asked.budget,
        observed=weights + cache,
        device=load.memory or 0,
        engine=asked.engine.engine if asked.engine else "",
        setting=asked.engine.setting if asked.engine else "",
        ranks=rank.ranks,
        weights=weights,
        cache=cache,
        load=_tokens(load, load.context or 1),
        fix=" ".join(_ways(asked, rank, room["largest_context"])) or DoesNotFit.remedy,
    )


def _ways(asked: _Asked, rank: RankMemory, largest: int | None) -> Iterator[str]:
    """What would fit: fewer tokens, or more ranks."""
    if largest:
        yield f"Up to {_tokens(asked.load, largest)} fit."
    if asked.sharing.why:
        return
    least = max(rank.ranks + 1, -(-(asked.memory.weights_bytes or 0) // (asked.budget or 1)))
    for ranks in [number for number in asked.sharing.working if number >= least][:_TRIED]:
        if _room(asked, of_ranks(asked.sharing, ranks, asked.memory.weights_bytes, asked.load))["fits"]:
            yield f"On {ranks:,} GPUs it fits (--tp {ranks})."
            return


def _tokens(load: Workload, context: int) -> str:
    many = plural(context, "token")
    return f"{load.batch:,} sequences of {many}" if load.batch > 1 else many


def _engine(asked: _Asked, ranks: int, room: Fit) -> EngineMemory:
    assert asked.engine is not None
    return EngineMemory(
        engine=asked.engine.engine,
        setting=asked.engine.setting,
        ranks=ranks,
        bytes=asked.budget,
        fits=room["fits"],
        largest_context=room["largest_context"],
    )
