"""Reports numbers of ranks that cannot share a model (HF601)."""

from collections.abc import Iterable, Iterator, Sequence

from hfcount.fetcher.layout import CONFIG
from hfcount.serving.sharding.sharing import MOST, Obstacle, Sharing
from hfcount.serving.sharding.sizes import Engine
from hfcount.spec import MoE
from hfcount.verifier.rules.hf601_not_divisible import NotDivisible

_SAID = 4  # reasons that a message gives


def undivided(sharing: Sharing, numbers: Iterable[int]) -> Iterator[NotDivisible]:
    """HF601 of each number of ranks.

    An error if no engine can share the model among so many, or none of those asked for; a note if one can.
    """
    for ranks in dict.fromkeys(numbers):
        if obstacles := sharing.obstacles(ranks):
            yield _finding(sharing, ranks, obstacles)


def _finding(sharing: Sharing, ranks: int, obstacles: list[Obstacle]) -> NotDivisible:
    refusing = sharing.refusing(ranks)
    tensors = [obstacle.tensor for obstacle in obstacles if obstacle.tensor]
    reasons = "; ".join(obstacle.text for obstacle in obstacles[:_SAID])
    return NotDivisible(
        severity="error" if sharing.fails(refusing) else "note",
        expected=_numbers(sharing, refusing),
        observed=ranks,
        key=next((obstacle.key for obstacle in obstacles if obstacle.key), None),
        file=CONFIG,
        tensors=tuple(leaf.name for leaf in tensors),
        count=sum(int(leaf.count) for leaf in tensors),
        parameters=sum(leaf.elements for leaf in tensors),
        fix=_cure(sharing, ranks, obstacles, refusing),
        reasons=reasons + (f"; and {len(obstacles) - _SAID} more" if len(obstacles) > _SAID else ""),
        engine=refusing[0] if len(refusing) == 1 else "",
    )


def _numbers(sharing: Sharing, refusing: Sequence[Engine]) -> tuple[int, ...]:
    """The numbers of ranks that work: where one engine alone refuses, those that work in it."""
    return sharing.working_in(refusing) if len(refusing) == 1 else sharing.working


def _cure(sharing: Sharing, ranks: int, obstacles: list[Obstacle], refusing: Sequence[Engine]) -> str:
    numbers = ", ".join(f"{number:,}" for number in _numbers(sharing, refusing))
    where = f" in {refusing[0]}" if len(refusing) == 1 else ""
    text = f"These numbers of GPUs can share it{where} (up to {MOST}): {numbers}."
    experts = {
        int(layer.layer.ffn.experts) for layer in sharing.blueprint.spec.layers if isinstance(layer.layer.ffn, MoE)
    }
    if all(obstacle.experts for obstacle in obstacles) and experts and all(number % ranks == 0 for number in experts):
        text += (
            f" {ranks:,} can if each holds {max(experts) // ranks:,} whole experts"
            " (--enable-expert-parallel of vLLM, --ep-size of SGLang)."
        )
    return text
