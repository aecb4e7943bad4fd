"""Finds which numbers of ranks can share a model, and why others cannot."""

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from hfcount.blueprints.blueprint import Blueprint
from hfcount.mapper.loader_differences import SGLANG, VLLM
from hfcount.mapper.quantization_config import Announcement
from hfcount.quantization.layout import Unmodelled
from hfcount.quantization.scheme import Scheme
from hfcount.quantization.schemes import described
from hfcount.serving.cost import Cost, cost
from hfcount.serving.sharding.groups import Cut, cuts
from hfcount.serving.sharding.shares import shares, values
from hfcount.serving.sharding.sizes import ENGINES, EXPERTS, Engine, Shared, padded, sizes, unshared
from hfcount.spec.tree.leaves import Leaf
from hfcount.text import printable

MOST = 128
"""Ranks: whether more can share a model is only said where it is asked."""


class Obstacle(NamedTuple):
    """Why ranks cannot share a model: the size, its key, the tensors it is of, and the engines that refuse it.

    `experts` is whether it is one of experts alone, which may be shared whole instead.
    """

    text: str
    key: str | None
    tensor: Leaf | None = None
    engines: Sequence[Engine] = ENGINES
    experts: bool = False


class Sharing:
    """How ranks share one model.

    Args:
        asked: the libraries whose rules are asked for; engines among them all have to share it, and if there are none,
            any one that can will do.
    """

    def __init__(self, blueprint: Blueprint, announced: Sequence[Announcement], asked: Collection[str] = ()) -> None:
        self.blueprint = blueprint
        self.asked = tuple(engine for engine in ENGINES if engine.lower() in asked)
        self.why = unshared(blueprint.spec) if not blueprint.derived_with else "hfcount does not know this architecture"
        self._announced = announced
        self._obstacles: dict[int, list[Obstacle]] = {}

    @cached_property
    def cost(self) -> Cost:
        """What one token costs without sharing."""
        return cost(self.blueprint)

    @cached_property
    def sizes(self) -> list[Shared]:
        """The sizes that ranks share."""
        return sizes(self.blueprint)

    @cached_property
    def leaves(self) -> list[Leaf]:
        """What ranks share: all that a checkpoint must store."""
        return self.blueprint.stored_leaves()

    @cached_property
    def scheme(self) -> Scheme | None:
        """The quantisation of the weights; None if there is none, or it is not described."""
        if not self._announced:
            return None
        try:
            return described(self._announced, self.blueprint.spec.dtype)[0]
        except Unmodelled:
            return None

    def works(self, ranks: int) -> bool:
        """Whether the engines that are asked for can share the model among so many ranks, or else any engine can."""
        return not self.fails(self.refusing(ranks))

    def fails(self, refusing: Collection[Engine]) -> bool:
        """Whether the answer is no where these engines refuse."""
        return not set(refusing).isdisjoint(self.asked) if self.asked else set(refusing) == set(ENGINES)

    def refusing(self, ranks: int) -> tuple[Engine, ...]:
        """The engines that cannot share the model among so many ranks."""
        obstacles = self.obstacles(ranks)
        return tuple(engine for engine in ENGINES if any(engine in obstacle.engines for obstacle in obstacles))

    @cached_property
    def working(self) -> tuple[int, ...]:
        """The numbers of ranks up to `MOST` that can share the model."""
        return tuple(ranks for ranks in range(1, MOST + 1) if self.works(ranks))

    def working_in(self, engines: Collection[Engine]) -> tuple[int, ...]:
        """The numbers of ranks up to `MOST` that can share the model in each of some engines."""
        return tuple(ranks for ranks in range(1, MOST + 1) if set(self.refusing(ranks)).isdisjoint(engines))

    def obstacles(self, ranks: int) -> list[Obstacle]:
        """What keeps ranks from sharing the model: sizes, else groups of weights, and what one engine refuses."""
        if ranks == 1 or self.why:
            return []
        if ranks not in self._obstacles:
            self._obstacles[ranks] = self._of_ranks(ranks)
        return self._obstacles[ranks]

    def _of_ranks(self, ranks: int) -> list[Obstacle]:
        undivided = {
            (obstacle := _of_size(size, ranks)).text: obstacle for size in self.sizes if size.of(ranks) is None
        }
        if undivided:
            return list(undivided.values())
        of_cuts = [self._of_cut(cut, ranks) for cut in self._cuts(ranks)]
        if any(obstacle.engines == ENGINES for obstacle in of_cuts):
            return of_cuts
        return [*of_cuts, *self._of_one_engine(ranks)]

    def _of_one_engine(self, ranks: int) -> Iterator[Obstacle]:
        for size in self.sizes:
            value = int(size.value)
            if size.how == "padded" and (rows := padded(value)) % ranks:
                text = (
                    f"the vocabulary of {value:,} is padded to {rows:,} rows, and {rows:,} / {ranks:,} is not a whole"
                    f" number (VocabParallelEmbedding of {VLLM}; that of {SGLANG} pads further)"
                )
                yield Obstacle(text, size.key, engines=("vLLM",))
            elif size.how == "or single" and value == 1 and self._announced:
                text = (
                    f"the state space has one group and is quantised, so {ranks:,} ranks cannot each hold a copy"
                    f" (MambaMixer2 of {SGLANG}; that of {VLLM} makes them)"
                )
                yield Obstacle(text, size.key, engines=("SGLang",))

    def _cuts(self, ranks: int) -> list[Cut]:
        if self.scheme is None:
            return []
        return cuts(self.leaves, self.rank(ranks), self.scheme, values(self.sizes, ranks))

    def _of_cut(self, cut: Cut, ranks: int) -> Obstacle:
        engines: Sequence[Engine] = ("SGLang",) if self._is_refined(cut) else ENGINES
        return _of_cut(cut, ranks, engines)

    def _is_refined(self, cut: Cut) -> bool:
        """Whether vLLM makes smaller blocks of those of experts, which ranks can share."""
        if cut.leaf.component != "experts" or "blocks" not in cut.layout.label or self._announced[0].method != "fp8":
            return False
        from hfcount.verifier.loaders.engines.fp8_blocks import refines  # few are in blocks of FP8

        return refines(*cut.layout.grain, cut.part, int(self.blueprint.spec.hidden))

    def rank(self, ranks: int) -> list[Leaf]:
        """The leaves with the extents that one of so many ranks has."""
        return self.leaves if ranks == 1 else shares(self.blueprint, ranks, self.leaves)


def _of_size(size: Shared, ranks: int) -> Obstacle:
    value = int(size.value)
    if size.how == "or copied":
        rest = f"neither {value:,} / {ranks:,} nor {ranks:,} / {value:,} is a whole number"
    elif size.how == "or single":
        rest = f"{value:,} / {ranks:,} is not a whole number, and there are too many to copy"
    else:
        rest = f"{value:,} / {ranks:,} is not a whole number"
    named = f"{value:,} {size.what}{_in_brackets(size.key)}"
    return Obstacle(f"{named}: {rest} ({size.where} of {VLLM} and {SGLANG})", size.key, experts=size.where == EXPERTS)


_CUTTERS = {1: f"{SGLANG} cuts", 2: f"{VLLM} and {SGLANG} cut"}
"""Who cuts no group or block, by their number: SGLang alone, or both."""


def _of_cut(cut: Cut, ranks: int, engines: Sequence[Engine]) -> Obstacle:
    total, side = int(cut.whole), "inputs" if cut.inputs else "outputs"
    kind = "block" if "blocks" in cut.layout.label else "group"
    if total == cut.part * ranks:
        parts = f"{total:,} / {cut.size:,} = {total / cut.size:,.6g} {kind}s, and {total:,} / {ranks:,} = {cut.part:,}"
    else:
        parts = f"a copy of {cut.part:,} for each rank, which"
    text = (
        f"{total:,} {side} of {printable(cut.leaf.name, 120)}{_in_brackets(cut.key)}, stored as {cut.layout.label}:"
        f" {parts} is not a multiple of {cut.size:,} ({_CUTTERS[len(engines)]} no {kind})"
    )
    return Obstacle(text, cut.key, cut.leaf, engines, experts=cut.leaf.component == "experts")


def _in_brackets(key: str | None) -> str:
    return f" ({printable(key, 120)})" if key else ""
